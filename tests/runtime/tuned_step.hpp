// tuned_step: a statement's first step, and the effort that measures all of its candidates; for tests of the tuner.
#pragma once

#include "lowering/lower.hpp"
#include "runtime/tuner.hpp"
#include "tests/bound_text.hpp"

#include <limits>

namespace ricci::test {

struct bound_step {
    lowering::statement s;
    lowering::step step;
};

inline bound_step first_step_of(const lowering::machine& chip, const char* text, const char* operands) {
    bound_step out{tests::bound_text(text, operands), {}};
    out.step = lowering::lower(out.s, chip).steps.at(0);
    return out;
}

inline runtime::tuning_effort everything() {
    runtime::tuning_effort out;
    out.prune = std::numeric_limits<double>::infinity();
    out.most = std::numeric_limits<std::size_t>::max();
    out.threads = 2;
    out.memory_bytes = 1 << 20;
    return out;
}

} // namespace ricci::test
