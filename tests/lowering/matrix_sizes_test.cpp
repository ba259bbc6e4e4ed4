// matrix_sizes_test: which matrices of a batch are one span, also where they are single rows, columns or elements.
#include "lowering/matrix_sizes.hpp"

#include "lowering/lower.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cstdint>

namespace {

using namespace ricci::lowering;
using namespace ricci::tests;

struct layout {
    const char* matrices;
    std::int64_t distance; ///< 0: no span
    bool dense;
};

constexpr layout layouts[] = {
    {"A=f64[3:1,5:3,40:15]", 15, true},   // by columns
    {"A=f64[3:5,5:1,40:15]", 15, true},   // by rows
    {"A=f64[3:1,5:4,40:20]", 20, false},  // columns apart
    {"A=f64[3:1,5:3,40:16]", 0, false},   // matrices apart
    {"A=f64[3:40,5:120,40:1]", 0, false}, // interleaved
    {"A=f64[3:-1,5:3,40:15]", 0, false},  // reversed
    {"A=f64[1:1000,5:1,40:5]", 5, true},  // a row
    {"A=f64[1:-7,5:1,40:5]", 5, true},    {"A=f64[1:1,5:2,40:10]", 10, false},
    {"A=f64[5:1,1:1000,40:5]", 5, true}, // a column
    {"A=f64[5:1,1:0,40:5]", 5, true},     {"A=f64[5:2,1:10,40:10]", 10, false},
    {"A=f64[1:9,1:-3,40:1]", 1, true},                                        // an element
    {"A=f64[1:9,1:-3,40:2]", 0, false},   {"A=f64[3:1,5:3,1:999]", 15, true}, // one matrix
};

} // namespace

TEST_CASE("matrices that are one span") {
    for (const auto& l : layouts) {
        INFO(l.matrices);
        const auto s = bound_text("lu(A(i,j,e), i, j)", l.matrices);
        for (const auto& chip : {some_cpu(), some_gpu()}) {
            const auto p = lower(s, chip);
            REQUIRE(p.steps.size() == 1);
            CHECK(distance_in_span(p.steps[0]) == l.distance);
            CHECK(matrices_are_dense(p.steps[0]) == l.dense);
            // kernels compute with the strides alone
            const auto z = matrix_sizes_of(p.steps[0]);
            const auto& stride = operand_in(p.steps[0], matrix_role::matrix)->stride;
            const auto along = stride[static_cast<std::size_t>(p.steps[0].matrices.row)],
                       across = stride[static_cast<std::size_t>(p.steps[0].matrices.column)];
            if (l.distance != 0) CHECK(std::max(along * z.m, across * z.n) == l.distance);
        }
    }
}
