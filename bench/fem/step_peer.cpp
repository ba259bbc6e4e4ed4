// step_peer: a contraction at a time with every intermediate in memory, by ricci, or by a library as GEMMs.
#include "bench/fem/contraction.hpp"
#include "bench/fem/notation.hpp"
#include "bench/fem/operator_peer.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>
#include <ricci/runtime/math_mode.hpp>
#include <ricci/runtime/run.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace ricci::bench::fem {

namespace {

using step = std::function<void(std::size_t set)>;

/// The operands of a product on each set.
std::vector<operand_set> operands_of(const contraction& found, std::size_t number,
                                     const std::vector<std::vector<lowering::statement>>& programs) {
    std::vector<operand_set> all;
    for (const auto& program : programs) {
        const auto data = [&](std::size_t n) { return program[number].accesses[found.access[n]].data; };
        all.push_back({data(0), data(1), data(2), nullptr, nullptr});
    }
    return all;
}

/// The fastest of a library's ways, one that fails left out. The result stands where the next step finds it.
step fastest(const std::vector<contender>& ways, runtime::backend& b) {
    constexpr int tries = 2;
    const contender* best = nullptr;
    double least = std::numeric_limits<double>::infinity();
    std::string problem = "has no call for it";
    for (const contender& way : ways) try {
            way.run(0); // to warm up
            for (int n = 0; n < tries; ++n)
                if (const double seconds = b.seconds_of([&] { way.run(0); }); seconds < least)
                    least = seconds, best = &way;
        } catch (const error& e) {
            problem = e.what();
        }
    if (!best) throw error(problem, blame::environment);
    return best->run;
}

class step_peer : public operator_peer {
  public:
    step_peer(std::string name, std::unique_ptr<peer> library, device where)
        : name_(std::move(name)), library_(std::move(library)), where_(where) {}

    std::string version() const override {
        if (!library_) return "ricci, every contraction a statement of its own, with its result in memory";
        return fmt::format("{}, every contraction as GEMMs; the rest by ricci, every result in memory",
                           library_->version());
    }

    std::vector<contender> contenders(const problem& p, const std::vector<operand_addresses>& sets) override {
        const text_program steps = step_by_step(p);
        auto memory = std::make_shared<intermediate_memory>(steps, where_);
        std::vector<std::vector<lowering::statement>> programs;
        for (const auto& set : sets) programs.push_back(bind_program(steps, set, memory->addresses(), where_));
        std::vector<step> all;
        for (std::size_t n = 0; n < programs.front().size(); ++n) all.push_back(step_of(programs, n));
        return {{name_, "", [all = std::move(all), memory](std::size_t set) {
                     for (const step& each : all) each(set);
                 }}};
    }

  private:
    step step_of(const std::vector<std::vector<lowering::statement>>& programs, std::size_t number) {
        if (const auto found = library_ ? contraction_of(programs.front()[number]) : std::nullopt) {
            product p = found->p;
            p.math = runtime::chosen_math();
            return fastest(library_->contenders(p, operands_of(*found, number, programs)),
                           runtime::backend_of(where_));
        }
        std::vector<lowering::statement> same;
        for (const auto& program : programs) same.push_back(program[number]);
        step by_ricci = [same = std::move(same)](std::size_t set) { runtime::run(same[set]); };
        if (library_) by_ricci(0); // the next step's operands, by which its ways are compared
        return by_ricci;
    }

    std::string name_;
    std::unique_ptr<peer> library_;
    device where_;
};

} // namespace

std::unique_ptr<operator_peer> make_step_peer(const std::string& name, std::unique_ptr<peer> library, device where) {
    return std::make_unique<step_peer>(name, std::move(library), where);
}

} // namespace ricci::bench::fem
