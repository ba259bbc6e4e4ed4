// statement_bench: what a statement costs the host: warm, at its first run, and in a second process.
//
// Warm: from the operator to the return of the launch, median of 10^5. On a CPU the smallest statement's kernel (a
// few nanoseconds) is included; on a GPU a stream is drained between batches, outside of the time.
#include <ricci/ricci.hpp>

#include <ricci/runtime/backend.hpp>
#include <ricci/runtime/kernel_cache.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

namespace {

using namespace ricci::indices;
using clock_type = std::chrono::steady_clock;

double microseconds(clock_type::time_point from, clock_type::time_point to) {
    return std::chrono::duration<double, std::micro>(to - from).count();
}

/// Median and 99th percentile of 10^5 runs.
template <class F> void warm(const char* what, ricci::device where, F statement) {
    constexpr int runs = 100'000, drain = 500;
    for (int n = 0; n < 100; ++n) statement();
    ricci::synchronize(where);
    std::vector<double> times(runs);
    for (int n = 0; n < runs; ++n) {
        if (n % drain == 0) ricci::synchronize(where);
        const auto start = clock_type::now();
        statement();
        times[static_cast<std::size_t>(n)] = microseconds(start, clock_type::now());
    }
    std::sort(times.begin(), times.end());
    fmt::print("  {:<58} {:8.2f} us median {:8.2f} us at 99 %\n", what, times[runs / 2], times[runs / 100 * 99]);
}

/// What the driver takes of each figure on a GPU: the launch of a kernel that does nothing, with as many words as a
/// product has.
void launch_alone(ricci::device where) {
    auto& backend = ricci::runtime::backend_of(where);
    const auto kernel = backend.load(
        backend.jit().compile(
            "struct arguments { long long words[12]; };\nextern \"C\" __global__ void nothing(arguments) {}\n"),
        "nothing");
    const std::array<std::uint64_t, 12> words{};
    warm("the launch alone, of a kernel that does nothing", where, [&] { backend.launch(kernel, {1, 32}, words); });
}

template <class F> void first(const char* what, F statement) {
    const auto compiled = ricci::runtime::compile_count();
    const auto start = clock_type::now();
    statement();
    fmt::print("  {:<58} {:8.2f} ms, {} compiled\n", what, microseconds(start, clock_type::now()) / 1e3,
               ricci::runtime::compile_count() - compiled);
}

} // namespace

int main(int argc, char** argv) try {
    const auto where = argc > 1 ? ricci::parse_device(argv[1]) : ricci::default_device();
    fmt::print("on {}\n", where.name());
    ricci::tensor<double, 2, 2, ricci::dyn> A(2, where), B(2, where), C(2, where);
    ricci::tensor<float, 4> x(where), y(where), z(where);
    ricci::tensor<double, 8, 9, 3, 2> T(where);
    A.fill(1), B.fill(1);

    fmt::print("first run; run the program again with the same cache for a second process\n");
    first("pointwise", [&] { z(i) = x(i) + y(i); });
    first("batched product", [&] { C(i, j, e) = A(i, k, e) * B(k, j, e); });
    first("block update", [&] { T(i(0, 8), j(0, 8), m(1, 3), n(1, 2)) -= T(i, k(0, 8), m, 0) * T(k, j, 0, n); });

    fmt::print("warm\n");
    if (where != ricci::cpu()) launch_alone(where);
    warm("z(i) = x(i) + y(i)", where, [&] { z(i) = x(i) + y(i); });
    warm("C(i,j,e) += A(i,k,e)*B(k,j,e)", where, [&] { C(i, j, e) += A(i, k, e) * B(k, j, e); });
    warm("T(i,j,m(1,3),n(1,2)) -= T(i,k,m,0)*T(k,j,0,n)", where,
         [&] { T(i(0, 2), j(0, 2), m(1, 3), n(1, 2)) -= T(i, k(0, 2), m, 0) * T(k, j, 0, n); });
    warm("A = A^T, through a temporary", where, [&] { A(i, j, e) = A(j, i, e); });
    return 0;
} catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
}
