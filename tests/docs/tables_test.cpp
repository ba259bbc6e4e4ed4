// tables_test: every statement of the tables in docs/language.md, for every element type, against the oracle.
#include "dsl/text.hpp"
#include "lowering/lower.hpp"
#include "lowering/print.hpp"
#include "runtime/run.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"
#include "tests/docs/page.hpp"
#include "tests/kernels/covering.hpp"
#include "tests/kernels/device_under_test.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace {

using namespace ricci::tests;
using ricci::lowering::scalar_type;

struct entry {
    int line;
    std::string statement, operands, form;
};

/// The rows of all tables that have a column `statement`.
std::vector<entry> entries() {
    std::vector<entry> out;
    for (const auto& t : read_page(RICCI_LANGUAGE_PAGE).tables) {
        const auto column = [&](const char* name) {
            const auto at = std::find(t.head.cells.begin(), t.head.cells.end(), name);
            return static_cast<std::size_t>(at - t.head.cells.begin());
        };
        if (column("statement") == t.head.cells.size()) continue;
        for (const auto& row : t.rows)
            out.push_back({row.line, row.cells.at(column("statement")), row.cells.at(column("tensors")),
                           row.cells.at(column("form"))});
    }
    return out;
}

/// "C[4,6] A[4,5]" as "C=f64[4,6] A=f64[4,5]".
std::string with_type(std::string operands, scalar_type type) {
    for (auto at = operands.find('['); at != std::string::npos; at = operands.find('[', at + 1)) {
        const auto name = fmt::format("={}", name_of(type));
        operands.insert(at, name);
        at += name.size();
    }
    return operands;
}

/// Whether a statement takes the order of its operands, which complex numbers have not.
bool compares(const std::string& statement) {
    return statement.find("relu(") != std::string::npos || statement.find("max(") != std::string::npos ||
           statement.find("min(") != std::string::npos;
}

/// Random numbers in place of covering's small integers, where the statement rounds.
void fill_with_random_numbers(random_case& c, scalar_type type) {
    std::mt19937_64 random(c.seed);
    for (auto& buffer : c.memory) fill_random({buffer.data(), buffer.size()}, type, random);
}

} // namespace

TEST_CASE("the statements of the tables agree with the oracle") {
    const auto device = device_under_test();
    const auto all = entries();
    REQUIRE(all.size() > 40);
    std::uint64_t seed = 0;
    for (const auto& e : all)
        for (int t = 0; t < ricci::lowering::scalar_type_count; ++t) {
            const auto type = static_cast<scalar_type>(t);
            if (is_emulated() && type != scalar_type::f32 && type != scalar_type::c128) continue; // slow
            INFO("docs/language.md:" << e.line << ": " << e.statement << " in " << name_of(type));
            auto c = make_case({e.statement, with_type(e.operands, type)}, ++seed);
            if (is_complex(type) && compares(e.statement)) {
                CHECK_THROWS_WITH(ricci::runtime::run(c.s), Catch::Contains("of a complex value"));
                continue;
            }
            const auto report = run_and_compare(c, device);
            INFO(report);
            CHECK(report.empty());
            fill_with_random_numbers(c, type);
            const auto second = run_and_compare(c, device);
            INFO(second);
            CHECK(second.empty());
        }
}

TEST_CASE("the tables name a form of each statement") {
    if (device_code() != 0) return;
    for (const auto& e : entries()) {
        INFO("docs/language.md:" << e.line << ": " << e.statement);
        const auto s = bound_text(e.statement, with_type(e.operands, scalar_type::f64));
        std::vector<std::string> forms;
        for (const auto& step : ricci::lowering::lower(s, some_gpu()).steps) forms.emplace_back(name_of(step.shape));
        CHECK_THAT(fmt::format("{}", fmt::join(forms, ", ")), Catch::Contains(e.form));
    }
}
