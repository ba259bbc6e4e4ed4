// record: statements kept as a program instead of being run one by one.
#pragma once

#include "lowering/statement.hpp"
#include "runtime/device.hpp"
#include "runtime/run.hpp"

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace ricci {

/// What record() returns. Calling it runs the statements as one program; the callable is called again each time, so
/// that scalars, extents and pointers are the current ones. Tensors that it refers to must outlive it; those that it
/// creates live until the statements have run.
template <std::invocable Body>
class program {
  public:
    explicit program(Body body) : body_(std::move(body)) {
        const runtime::kept_memory until_collected;
        collect();
    }

    /// Throws ricci::error as the statements would. Called while another program is recorded, it becomes part of it.
    void operator()() {
        if (runtime::is_collecting()) {
            body_();
            return;
        }
        const runtime::kept_memory until_run; // tensors that the callable creates
        collect();
        runtime::run_program(statements_);
    }

  private:
    /// Overwrites the statements of last time, so that their memory is used again.
    void collect() {
        std::size_t count = 0;
        {
            const runtime::collecting scope([&](const lowering::statement& s) {
                if (count < statements_.size())
                    statements_[count] = s;
                else
                    statements_.push_back(s);
                ++count;
            });
            body_();
        }
        statements_.resize(count);
    }

    Body body_;
    std::vector<lowering::statement> statements_;
};

/// `auto p = record([&]{ ...statements... }); p();` Runs nothing itself; mistakes that the capture sees are thrown
/// here.
template <std::invocable Body>
program<Body> record(Body body) {
    return program<Body>(std::move(body));
}

} // namespace ricci
