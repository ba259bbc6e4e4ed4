// expected_seconds: how long the model expects statements to take where they would run.
#include "lowering/expected_seconds.hpp"

#include "runtime/lower_for.hpp"
#include "runtime/program_cache.hpp"
#include "runtime/run.hpp"

namespace ricci::runtime {

double expected_seconds(const std::vector<lowering::statement>& statements) {
    if (placed_program program; program.take(statements)) {
        const auto p = plan_of(program, nullptr);
        const auto& chip = backend_of(device(statements[0].accesses[0].device)).machine();
        if (is_better_as_one(p, chip)) return lowering::expected_seconds(p, chip);
    }
    double sum = 0;
    for (const auto& s : statements) {
        auto& b = backend_of(device(s.accesses.empty() ? 0 : s.accesses[0].device));
        sum += lowering::expected_seconds(lower_for(s, b, nullptr, occasion::look), b.machine());
    }
    return sum;
}

} // namespace ricci::runtime
