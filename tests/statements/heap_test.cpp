// heap_test: a warm statement takes nothing from the heap.
#include "ricci.h"
#include "ricci.hpp"
#include "tests/catch.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

namespace {
std::atomic<long> allocations = 0;

void* counted(std::size_t bytes) {
    ++allocations;
    if (void* p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
    throw std::bad_alloc();
}
} // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace {

using namespace ricci::indices;

template <class F> long allocations_when_warm(F statement) {
    for (int n = 0; n < 3; ++n) statement();
    const long before = allocations;
    for (int n = 0; n < 100; ++n) statement();
    return allocations - before;
}

} // namespace

TEST_CASE("the counter counts") {
    const long before = allocations;
    delete new int(1);
    CHECK(allocations > before);
}

TEST_CASE("warm statements allocate nothing") {
    ricci::tensor<double, 6, 6, ricci::dyn> A(20, ricci::cpu()), B(20, ricci::cpu()), C(20, ricci::cpu());
    ricci::tensor<double, 6, 6> D(ricci::cpu());
    double alpha = 1;
    CHECK(allocations_when_warm([&] { C(i, j, e) += alpha * A(i, k, e) * B(k, j, e), alpha += 1; }) == 0);
    CHECK(allocations_when_warm([&] { D(i, j) = relu(A(i, k, 3) * B(k, j, 4) + C(j, i, 5)); }) == 0);
    CHECK(allocations_when_warm([&] { D(i(1, 5), j) -= D(j, i); }) == 0); // through a temporary
    CHECK(allocations_when_warm([&] { C(i, j, e) = A(i, l, e) * D(l, k) * B(k, j, e); }) == 0);
    ricci::tensor<int, ricci::dyn> p(20, ricci::cpu());
    double* const pointers[] = {A.data(), B.data()};
    const ricci::pointer_view<double, 3> P(pointers, {6, 6, 2}, ricci::cpu());
    CHECK(allocations_when_warm([&] { C(i, j, e) += A(i, k, p(e)) * B(k, j, e); }) == 0);
    ricci::tensor<int, 6, ricci::dyn> l(20, ricci::cpu());
    const std::vector<int> entries(20, 3);
    const ricci::view<const int, 1> q(entries.data(), {20}, ricci::cpu()); // whose entries are looked at each time
    CHECK(allocations_when_warm([&] { D(l(i, e), j) += A(i, j, e); }) == 0);
    CHECK(allocations_when_warm([&] { D(i, q(e)) -= A(i, k, e) * D(k, 0); }) == 0);
    CHECK(allocations_when_warm([&] { P(i, j, e) = 0.5 * P(j, i, e) + D(i, j); }) == 0);
    ricci::view<double, 2> diagonal(A.data(), {6, 20}, {7, 36}, ricci::cpu());
    CHECK(allocations_when_warm([&] { diagonal(i, e) = 2.0; }) == 0);
}

TEST_CASE("warm calls of the C interface allocate nothing") {
    ricci::tensor<double, 6, 6, ricci::dyn> A(20, ricci::cpu()), B(20, ricci::cpu()), C(20, ricci::cpu());
    const std::int64_t extents[] = {6, 6, 20};
    double alpha = 1, beta = 0.5;
    const ricci_operand operands[] = {{"A", RICCI_F64, 3, extents, nullptr, A.data(), RICCI_CPU},
                                      {"B", RICCI_F64, 3, extents, nullptr, B.data(), RICCI_CPU},
                                      {"C", RICCI_F64, 3, extents, nullptr, C.data(), RICCI_CPU},
                                      {"alpha", RICCI_F64, 0, nullptr, nullptr, &alpha, RICCI_NUMBER}};
    ricci_program* program = nullptr;
    REQUIRE(ricci_prepare("C(i,j,e) = alpha*A(i,k,e)*B(k,j,e) + C(j,i,e)", 4, operands, &program) == RICCI_SUCCESS);
    void* const data[] = {A.data(), B.data(), C.data(), &alpha};
    int failed = 0;
    CHECK(allocations_when_warm([&] { failed += ricci_run(program, 4, data) != RICCI_SUCCESS, alpha += 1; }) == 0);
    CHECK(allocations_when_warm([&] {
              failed += ricci_gemm_strided_batched(RICCI_CPU, 'N', 'T', 6, 6, 6, &alpha, A.data(), RICCI_F64, 6, 36,
                                                   B.data(), RICCI_F64, 6, 36, &beta, C.data(), RICCI_F64, 6, 36,
                                                   20) != RICCI_SUCCESS;
          }) == 0);
    const double* const a[] = {A.data(), B.data()};
    double* const c[] = {C.data(), C.data() + 36};
    CHECK(allocations_when_warm([&] {
              failed += ricci_gemm_batched(RICCI_CPU, 'N', 'N', 6, 6, 6, &alpha,
                                           reinterpret_cast<const void* const*>(a), RICCI_F64, 6,
                                           reinterpret_cast<const void* const*>(a), RICCI_F64, 6, &beta,
                                           reinterpret_cast<void* const*>(c), RICCI_F64, 6, 2) != RICCI_SUCCESS;
          }) == 0);
    CHECK(failed == 0);
    ricci_release(program);
}
