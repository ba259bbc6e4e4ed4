// batch_extents_test: a new mesh or batch count never recompiles: the sources of a statement's kernels on a GPU do
// not depend on it.
#include "lowering/families.hpp"
#include "lowering/lower.hpp"
#include "runtime/executable.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace {

using namespace ricci::lowering;
using namespace ricci::tests;

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

/// How often, over all counts, a statement has kernels that it had not before; not of those with the library. In the
/// operands $t is the type, $n the size and $e the count.
int new_kernels(const char* text, const char* operands, const char* type, int n, std::initializer_list<int> counts) {
    const auto chip = some_gpu();
    std::set<std::string> known;
    int out = 0;
    for (const int count : counts) {
        std::string bound = operands;
        replace_all(bound, "$t", type), replace_all(bound, "$n", fmt::format("{}", n)),
            replace_all(bound, "$e", fmt::format("{}", count));
        const auto p = lower(bound_text(text, bound), chip);
        if (std::any_of(p.steps.begin(), p.steps.end(), [](const step& st) { return st.kernel == family::library; }))
            continue;
        bool any = false;
        for (auto& request : ricci::runtime::executable::requests(p, chip))
            any = known.insert(std::move(request.source)).second || any;
        out += any ? 1 : 0;
    }
    return out;
}

struct pattern {
    const char *text, *operands;
};

constexpr const char* types[] = {"f64", "f32", "f16", "c64"};

} // namespace

TEST_CASE("batched products of any layout have one kernel for all counts", "[sweep]") {
    constexpr pattern forms[] = {
        {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=$t[$n,$n,$e] A=$t[$n,$n,$e] B=$t[$n,$n,$e]"},
        {"C(j,i,e) = A(k,i,e)*conj(B(j,k,e))", "C=$t[$n,$n,$e] A=$t[$n,$n,$e] B=$t[$n,$n,$e]"},
        {"C(i,e,j) = A(i,e,k)*B(k,e,j)", "C=$t[$n,$e,$n] A=$t[$n,$e,$n] B=$t[$n,$e,$n]"},
        {"C(i,j,e) = A(i,k,e)*B(k,j)", "C=$t[$n,$n,$e] A=$t[$n,$n,$e] B=$t[$n,$n]"},
        {"C(i,j,e,f) += A(i,k,e,f)*B(k,j,f)", "C=$t[$n,$n,3,$e] A=$t[$n,$n,3,$e] B=$t[$n,$n,$e]"},
        {"C(i,j,e,f) += A(i,k,f,e)*B(k,j,e)", "C=$t[$n,$n,$e,3] A=$t[$n,$n,3,$e] B=$t[$n,$n,$e]"},
        {"C(e,i,j,f) += A(e,i,k,f)*B(e,k,j,f)", "C=$t[20,$n,$n,$e] A=$t[20,$n,$n,$e] B=$t[20,$n,$n,$e]"},
        {"C(i,j,e) += A(i,k,p(e))*B(k,j,e)", "C=$t[$n,$n,$e] A=$t[$n,$n,9] B=$t[$n,$n,$e] p=i32[$e]"},
        {"C(i,j,e) -= 2*A(i,k,p(e))*B(k,j,q(e))", "C=$t[$n,$n,$e] A=$t[$n,$n,$e] B=$t[$n,$n,$e] p=i32[$e] q=i64[$e]"},
    };
    for (const auto& [text, operands] : forms)
        for (const char* type : types)
            for (const int n : {3, 8, 17, 33, 48, 80, 96}) {
                INFO(text << " with " << operands << " of " << type << ", n = " << n);
                CHECK(new_kernels(text, operands, type, n, {1, 2, 7, 15, 16, 100, 1000, 1024, 30000}) <= 1);
            }
}

TEST_CASE("interleaved products have one kernel for lines that start at multiples of 16 bytes, and one for others",
          "[sweep]") {
    constexpr pattern forms[] = {
        {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=$t[$e,$n,$n] A=$t[$e,$n,$n] B=$t[$e,$n,$n]"},
        {"C(e,j,i) = A(e,k,i)*B(e,j,k)", "C=$t[$e,$n,$n] A=$t[$e,$n,$n] B=$t[$e,$n,$n]"},
    };
    for (const auto& [text, operands] : forms)
        for (const char* type : types)
            for (const int n : {3, 6, 8, 10, 17, 20, 33, 48, 80}) {
                INFO(text << " with " << operands << " of " << type << ", n = " << n);
                CHECK(new_kernels(text, operands, type, n, {16, 1024, 30000}) <= 1);
                CHECK(new_kernels(text, operands, type, n, {1, 7, 15, 1001, 1003, 1005, 1007}) <= 1);
                CHECK(new_kernels(text, operands, type, n, {1, 2, 7, 15, 16, 100, 1000, 1024, 30000}) <= 2);
            }
}

TEST_CASE(
    "tall-skinny products, also batches that share the left operand, have one kernel for low, one for taller and one "
    "for the tallest ones, another of each where columns start anywhere, and of the tallest one where they start "
    "within sectors",
    "[sweep]") {
    constexpr pattern forms[] = {
        {"C(i,j) = A(i,k)*B(k,j)", "C=$t[$e,$n] A=$t[$e,$n] B=$t[$n,$n]"},
        {"C(j,i) += A(k,i)*B(k,j)", "C=$t[$n,$e] A=$t[$n,$e] B=$t[$n,$n]"},
        {"C(i,j,e) = A(i,k)*B(k,j,e)", "C=$t[$n,$n,$e] A=$t[$n,$n] B=$t[$n,$n,$e]"},
        {"C(e,j,i) = A(e,i,k)*B(k,j)", "C=$t[$e,$n,$n] A=$t[$e,$n,$n] B=$t[$n,$n]"},
        {"C(i,j) = A(k,i)*B(k,j)", "C=$t[$n,$n] A=$t[$e,$n] B=$t[$e,$n]"},
        {"C(i,j) += A(i,k)*B(j,k)", "C=$t[$n,$n] A=$t[$n,$e] B=$t[$n,$e]"},
    };
    for (const auto& [text, operands] : forms)
        for (const char* type : types)
            for (const int n : {3, 8, 17, 33, 64}) {
                INFO(text << " with " << operands << " of " << type << ", n = " << n);
                CHECK(new_kernels(text, operands, type, n, {1024, 1032, 5000, 30000, 100000, 4000000}) <= 3);
                CHECK(new_kernels(text, operands, type, n, {1025, 5001, 30001, 100001, 100033, 4000001}) <= 3);
                // Multiples of 2 and 4 are off for some types only; then their kernels are those of odd ones.
                CHECK(new_kernels(
                          text, operands, type, n,
                          {1024, 1026, 5004, 5001, 30002, 30004, 100001, 4000000, 4000001, 4000002, 4000004}) <= 7);
                // At multiples of 16 bytes, every other one of 32.
                const auto of_16_bytes = [&](int count) {
                    return count * (type == types[1] ? 4 : type == types[2] ? 8 : 2);
                };
                CHECK(new_kernels(text, operands, type, n,
                                  {of_16_bytes(512), of_16_bytes(513), of_16_bytes(5001), of_16_bytes(5002),
                                   of_16_bytes(12500), of_16_bytes(12501), of_16_bytes(50000), of_16_bytes(50001),
                                   of_16_bytes(2000000), of_16_bytes(2000001), of_16_bytes(2000003)}) <= 4);
            }
}

TEST_CASE("a tall product cut into products of its rows has all of them, however few they are") {
    for (const int rows : {1, 2, 63, 64, 65, 127, 128, 129, 130, 257}) {
        const auto operands = fmt::format("C=f64[1,{0},5] A=f64[1,{0},7] B=f64[7,5]", rows);
        const auto p = lower(bound_text("C(i,e,j) = A(i,e,k)*B(k,j)", operands), some_cpu());
        std::int64_t covered = 0;
        for (const auto& st : p.steps) {
            for (const auto& a : st.axes) CHECK(a.extent >= 0);
            covered += extent_of(st, axis_class::m) * extent_of(st, axis_class::batch);
        }
        INFO(operands);
        CHECK(covered == rows);
    }
}
