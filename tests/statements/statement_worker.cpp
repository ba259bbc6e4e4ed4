// statement_worker: a program of a few statements, for tests that watch its compiles from outside. Prints how many
// kernels it compiled and a number that shows it computed.
#include "ricci.hpp"
#include "runtime/kernel_cache.hpp"

#include <cstdio>

int main() try {
    using namespace ricci::indices;
    ricci::tensor<double, 4, 5, ricci::dyn> A(30, ricci::cpu());
    ricci::tensor<double, 5, 6, ricci::dyn> B(30, ricci::cpu());
    ricci::tensor<double, 4, 6, ricci::dyn> C(30, ricci::cpu());
    A.fill(1);
    B(i, j, e) = 0.5;
    C(i, j, e) = A(i, k, e) * B(k, j, e);
    const double sum = C(i, j, e);
    std::printf("%lld %g\n", static_cast<long long>(ricci::runtime::compile_count()), sum);
    return sum == 4 * 6 * 30 * 2.5 ? 0 : 1;
} catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
}
