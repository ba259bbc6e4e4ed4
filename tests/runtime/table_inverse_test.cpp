// table_inverse_test: the rows of an index table's inverse, in both forms.
#include "lowering/gathers.hpp"
#include "lowering/lower.hpp"
#include "lowering/scatter_shape.hpp"
#include "runtime/table_inverse.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

using namespace ricci;

namespace {

/// Of a table that names element `r` so many times, one element after another and back again.
runtime::table_inverse inverse_of(const std::vector<int>& counts, std::vector<std::int32_t>& table) {
    table.clear();
    for (int turn = 0, added = 1; added > 0; ++turn) {
        added = 0;
        for (std::size_t r = 0; r < counts.size(); ++r)
            if (turn < counts[r]) table.push_back(static_cast<std::int32_t>(r)), ++added;
    }
    auto s = tests::bound_text("v(l(e)) += w(e)",
                               fmt::format("v=f64[{0}] w=f64[{1}] l=i32[{1}]", counts.size(), table.size()));
    for (auto& a : s.accesses)
        if (a.name == "l") a.data = table.data();
    auto& host = runtime::backend_of(cpu());
    const auto p = lowering::lower(s, host.machine());
    for (const auto& st : p.steps)
        if (lowering::collision_of(st) == lowering::collision::ordered)
            return {lowering::scatter_shape_of(st), s, cpu(), host};
    FAIL("nothing is added in order");
    return {lowering::scatter_shape{}, s, cpu(), host};
}

/// As kernels read them.
std::int64_t begin_of_row(const runtime::row_lists& lists, std::int64_t row) {
    const auto* const begins = static_cast<const std::int32_t*>(lists.begins);
    if (lists.behind == nullptr) return begins[row];
    return begins[row / runtime::row_lists::rows_together] + static_cast<const std::uint8_t*>(lists.behind)[row];
}

void check_rows(const std::vector<int>& counts, bool is_short) {
    std::vector<std::int32_t> table;
    const auto inverse = inverse_of(counts, table);
    const auto& lists = inverse.lists();
    CHECK((lists.behind != nullptr) == is_short);
    REQUIRE(lists.rows == static_cast<std::int64_t>(counts.size()));
    for (std::int64_t r = 0; r < lists.rows; ++r) {
        const auto begin = begin_of_row(lists, r), end = begin_of_row(lists, r + 1);
        REQUIRE(end - begin == counts[static_cast<std::size_t>(r)]);
        std::int64_t last = -1;
        for (auto n = begin; n < end; ++n) {
            const auto entry = static_cast<const std::int32_t*>(lists.entries)[n];
            CHECK(entry > last);
            CHECK(table[static_cast<std::size_t>(entry)] == r);
            last = entry;
        }
    }
}

} // namespace

TEST_CASE("where rows begin takes a byte each, as long as sixteen of them have few entries") {
    check_rows({1, 2, 3}, true);
    check_rows(std::vector<int>(16, 2), true); // the end is the first of another sixteen
    check_rows(std::vector<int>(100, 8), true);
    check_rows(std::vector<int>(100, 17), true); // 15 rows of 17 are 255
    check_rows(std::vector<int>(100, 18), false);
    auto one_long = std::vector<int>(40, 1);
    one_long[15] = 3000; // behind the last that counts from the first sixteen's begin
    check_rows(one_long, true);
    one_long[15] = 1, one_long[16] = 255;
    check_rows(one_long, false);
}
