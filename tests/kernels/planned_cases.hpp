// planned_cases: statements whose plan a test looks at before they are compared with the oracle.
#pragma once

#include "lowering/lower.hpp"
#include "lowering/passes.hpp"
#include "runtime/backend.hpp"
#include "runtime/executable.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/covering.hpp"

#include <cstddef>
#include <cstdint>

namespace ricci::tests {

/// Runs each case on a device; look(plan) first.
template <std::size_t Count, class Look>
void check_planned(const covering_case (&cases)[Count], device where, const Look& look) {
    const auto& chip = runtime::backend_of(where).machine();
    std::uint64_t seed = 0;
    for (const auto& c : cases) {
        auto made = make_case(c, ++seed);
        INFO(c.statement << " with " << c.operands);
        look(lowering::lower(made.s, chip));
        const auto report = run_and_compare(made, where.code());
        INFO(report);
        CHECK(report.empty());
    }
}

/// The plan of a statement none of whose steps are fused.
inline lowering::plan apart(const lowering::statement& s, const lowering::machine& chip) {
    const lowering::pass_observer pass = [](std::string_view, lowering::plan p) { return p; };
    return lowering::choose_kernels(lowering::split_into_steps(s, chip, false, pass), chip, {}, false, pass);
}

/// The same with plans of steps that are not fused.
template <std::size_t Count, class Look>
void check_apart(const covering_case (&cases)[Count], device where, const Look& look) {
    const auto& chip = runtime::backend_of(where).machine();
    std::uint64_t seed = 0;
    for (const auto& c : cases) {
        auto made = make_case(c, ++seed);
        INFO(c.statement << " with " << c.operands);
        look(apart(made.s, chip));
        const auto report = run_and_compare(made, where.code(), [&](const lowering::statement& s) {
            runtime::executable(where, apart(s, chip)).launch(s);
        });
        INFO(report);
        CHECK(report.empty());
    }
}

} // namespace ricci::tests
