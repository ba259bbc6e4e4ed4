// scatter_test: += and -= through tables with equal entries, on each device: every layout of tables and output,
// types, entries of all kinds, what is refused, and the same bits on every run.
#include "lowering/error.hpp"
#include "runtime/inverse_cache.hpp"
#include "runtime/run.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/covering.hpp"
#include "tests/kernels/device_under_test.hpp"

#include <algorithm>
#include <cstring>

using namespace ricci;
using namespace ricci::tests;

namespace {

constexpr const char* statements[][2] = {
    // one table, the output's only position, in and out of the table's order
    {"v(l(i,e)) += w(i,e)", "v=f64[40] w=f64[8,30] l=i32[8,30]"},
    {"v(l(i,e)) -= w(e,i)", "v=f64[40] w=f64[30,8] l=i64[8,30]"},
    {"v(l(e,i)) += w(i,e)", "v=f64[40:-3] w=f64[8:40,30:1] l=i32[30:9,8:-1]"},
    // other positions, nearer and farther than the gathered one, short and long
    {"v(c,l(i,e)) += w(c,i,e)", "v=f64[3,40] w=f64[3,8,30] l=i32[8,30]"},
    {"v(c,l(i,e)) += w(i,e,c)", "v=f64[37,40] w=f64[8,30,37] l=i32[8,30]"},
    {"v(l(i,e),c) -= w(i,e,c)", "v=f64[40,5] w=f64[8,30,5] l=i32[8,30]"},
    {"v(b,l(i,e),c,d) += w(b,i,c,e,d)", "v=f64[2,9,3,4] w=f64[2,8,3,5,4] l=i64[8,5]"},
    {"v(c,l(e)) += w(e)", "v=f64[5,7] w=f64[60] l=i32[60]"}, // broadcast
    // ranges, fixed and affine positions, a table's part, a view with gaps
    {"v(l(i,e(1,9))) += w(i,2,e)", "v=f64[40] w=f64[8,3,11] l=i32[8,30]"},
    {"v(l(2*i+1,9-e),1) -= w(i(0,4),e(0,10))", "v=f64[40,2] w=f64[5,10] l=i32[8:31,10:3]"},
    {"v(l(i+j)) += w(i,j)", "v=f64[9] w=f64[8,5] l=i32[12]"},
    {"v(l(3,e)) += w(e)", "v=f64[9] w=f64[20] l=i32[4,20]"},
    // several tables; one table twice; an index of the table elsewhere too
    {"v(l(i),m(j)) += w(i,j)", "v=f64[4,5] w=f64[10,11] l=i32[10] m=i64[11]"},
    {"v(l(i,e),l(j,e)) += w(i,j,e)", "v=f64[7,7] w=f64[3,3,20] l=i32[3,20]"},
    {"v(l(i,e),e) += w(i,e)", "v=f64[5,6] w=f64[20,6] l=i32[20,6]"},
    {"v(distinct(p)(e),l(i)) -= w(i,e)", "v=f64[9,5] w=f64[20,6] p=i32[6] l=i32[20]"},
    {"v(distinct(p)(e),l(i,e)) += w(i,e)", "v=f64[9,5] w=f64[20,6] p=i32[6] l=i64[20,6]"},
    // few of many elements
    {"v(l(e)) += w(e)", "v=f64[100000] w=f64[30] l=i64[30]"},
    {"v(l(e),m(e)) += w(e)", "v=f64[3000,3000] w=f64[30] l=i64[30] m=i32[30]"},
    // all to one or two elements
    {"v(l(e)) += w(e)", "v=f32[1] w=f32[9000] l=i32[9000]"},
    {"v(l(e),c) -= w(c,e)", "v=f32[2,3] w=f32[3,9000] l=i32[9000]"},
    // right sides: functions, products, sums, what is gathered, types
    {"v(l(i,e)) += 2*w(i,e)*x(e) - relu(w(i,e)) + 1", "v=f64[40] w=f64[8,30] x=f64[30] l=i32[8,30]"},
    {"v(l(i,e)) -= w(i,k,e)*x(k,e)", "v=f64[40] w=f64[8,9,30] x=f64[9,30] l=i32[8,30]"},
    {"v(l(i,e),c) += b(q,i)*x(q,e)*y(c)", "v=f32[40,3] b=f32[6,8] x=f32[6,30] y=f32[3] l=i32[8,30]"},
    {"v(l(e)) += w(e,k)", "v=f64[4] w=f64[20,100] l=i32[20]"},
    {"v(l(i,e)) += w(l(i,e)) + x(m(e))", "v=f64[40] w=f64[40] x=f64[7] l=i32[8,30] m=i64[30]"},
    {"v(l(e)) += 3*w(e) - 2i*x(e)", "v=c128[7] w=c64[30] x=f32[30] l=i32[30]"},
    {"v(c,l(e)) -= conj(w(c,e))", "v=c64[3,7] w=c64[3,30] l=i32[30]"},
    {"v(l(e)) += w(e)", "v=f16[7] w=bf16[300] l=i32[300]"},
    {"v(l(e)) += w(e)", "v=bf16[7] w=f64[30] l=i32[30]"},
    {"v(l(e)) += w(e,k)*x(k)", "v=f16[7] w=f16[60,20] x=f16[20] l=i32[60]"},
    // the output itself on the right
    {"v(l(e)) += v(l(e))", "v=f64[7] l=i32[30]"},
    {"v(l(e)) -= v(m(e)) + w(e)", "v=f64[7] w=f64[30] l=i32[30] m=i32[30]"},
    {"v(l(e),i) += v(e,j)*b(j,i)", "v=f64[7,3] b=f64[3,3] l=i32[7]"},
    // nothing to do
    {"v(l(i,e)) += w(i,e)", "v=f64[40] w=f64[8,0] l=i32[8,0]"},
    {"v(l(i,e(3,3))) += w(i,e)", "v=f64[40] w=f64[8,30] l=i32[8,30]"},
    {"v(c,l(e)) += w(c,e)", "v=f64[0,7] w=f64[0,30] l=i32[30]"},
};

std::string atomic(std::string statement) {
    for (auto at = statement.find("l("); at != std::string::npos && at < statement.find('=');
         at = statement.find("l(", at + 10))
        statement.replace(at, 2, "atomic(l)(");
    return statement;
}

/// What `s` leaves in the left side's memory, which begins as it is now; and puts that back.
std::vector<std::byte> bits(random_case& c, std::int32_t device_code) {
    const auto whole = c.memory.front().whole();
    const std::vector<std::byte> before(whole.begin(), whole.end());
    CHECK(run_and_compare(c, device_code).empty());
    std::vector<std::byte> after(whole.begin(), whole.end());
    std::copy(before.begin(), before.end(), whole.begin());
    return after;
}

} // namespace

TEST_CASE("what equal entries get is added up") {
    const auto where = device_under_test();
    std::uint64_t seed = 0;
    for (const auto& [statement, operands] : statements)
        for (const bool by_atomics : {false, true}) {
            auto c = make_case({by_atomics ? atomic(statement) : statement, operands}, ++seed);
            const auto report = run_and_compare(c, where);
            INFO(report);
            CHECK(report.empty());
        }
}

TEST_CASE("numbers that are no integers come out the same on every run") {
    const auto where = device_under_test();
    for (const char* operands :
         {"v=f32[3,11] w=f32[3,8,900] l=i32[8,900]", "v=f16[3,11] w=f32[3,8,900] l=i64[8,900]"}) {
        auto c = make_case({"v(c,l(i,e)) += 0.1*w(c,i,e)", operands}, 7);
        const auto first = bits(c, where);
        for (int run = 0; run < 3; ++run) CHECK(bits(c, where) == first);
    }
}

TEST_CASE("the inverse of a table that others may write follows its entries") {
    const device where(device_under_test());
    auto c = make_case({"v(l(i,e)) += w(i,e)", "v=f64[9] w=f64[4,5] l=i32[4:2,5:11]"}, 3);
    const auto report = run_and_compare(c, where.code(), [&](const lowering::statement& s) {
        const auto table =
            std::find_if(s.accesses.begin(), s.accesses.end(), [](const auto& a) { return a.name == "l"; });
        auto* const entry = static_cast<std::int32_t*>(table->data) + 3 * 2 + 4 * 11; // l(3, 4)
        std::int32_t good = 0;
        runtime::copy(cpu(), &good, where, entry, sizeof good);
        const auto built = runtime::inverses_built();
        auto minus = s;
        minus.op = lowering::assignment::subtract;
        // There and back by other entries; then with those that count.
        for (const std::int32_t other : {(good + 1) % 9, (good + 5) % 9}) {
            runtime::copy(where, entry, cpu(), &other, sizeof other);
            runtime::run(s);
            runtime::run(minus);
        }
        CHECK(runtime::inverses_built() == built + 2);
        const std::int32_t bad = 9;
        runtime::copy(where, entry, cpu(), &bad, sizeof bad);
        CHECK_THROWS_WITH(runtime::run(s),
                          Catch::Contains("l(i, e) at i = 3, e = 4 is 9, no value for position 1 of v, "
                                          "whose extent is 9"));
        runtime::copy(where, entry, cpu(), &good, sizeof good);
        runtime::run(s);
        CHECK(runtime::inverses_built() == built + 3);
    });
    INFO(report);
    CHECK(report.empty());
}
