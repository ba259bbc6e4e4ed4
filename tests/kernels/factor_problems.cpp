// factor_problems: many problems at once, on one device.
#include "tests/kernels/factor_problems.hpp"

#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/seeds.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>

namespace ricci::tests {
namespace {

constexpr std::int64_t batches[] = {1, 3, 37};

} // namespace

void check_problems(std::vector<matrix_problem> problems, std::int32_t device,
                    const std::function<void(const lowering::statement&)>& how) {
    std::stable_sort(problems.begin(), problems.end(), [](const auto& a, const auto& b) { return a.kind < b.kind; });
    std::vector<matrix_outcome> out(problems.size());
    std::atomic<std::size_t> next = 0;
    const auto run = [&] {
        for (std::size_t n; (n = next++) < problems.size();) try {
                out[n] = run_matrix_problem(problems[n], device, how);
            } catch (const std::exception& e) {
                out[n].mistake = e.what();
            }
    };
    std::vector<std::jthread> threads(device > 0 ? std::thread::hardware_concurrency() : 0);
    for (auto& t : threads) t = std::jthread(run);
    run();
    threads.clear();
    for (std::size_t n = 0; n < problems.size(); ++n) {
        INFO(to_string(problems[n]));
        CHECK(out[n].mistake == "");
    }
}

bool is_left_out() {
    static part_of_run kernels;
    return !kernels.takes_next();
}

void add_kinds(std::vector<matrix_problem>& problems, matrix_problem p) {
    if (is_left_out()) return;
    std::size_t n = static_cast<std::size_t>(p.m + p.n), turn = n;
    constexpr std::int64_t large = 40000;
    for (const auto kind : matrix_kinds) {
        if (!is_wanted(kind, p) || (p.m * p.n > large && turn++ % 3 != 0)) continue;
        p.kind = kind;
        p.batch = p.m * p.n > large ? 1 : p.m * p.n > 2000 ? 2 : batches[n++ % std::size(batches)];
        p.seed = n;
        problems.push_back(p);
    }
}

} // namespace ricci::tests
