// factor_test: `ricci bench factor`: points, costs, results of ricci and of LAPACK, what finds a wrong one, and that
// every call starts from the original matrices.
#include "bench/factor/factor_bench.hpp"
#include "bench/factor/factor_peer.hpp"
#include "bench/factor/factor_report.hpp"
#include "bench/factor/operands.hpp"
#include "bench/factor/reference.hpp"
#include "bench/factor/timing.hpp"
#include "lowering/error.hpp"
#include "runtime/run.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <utility>

using namespace ricci;
using namespace ricci::bench;
using namespace ricci::bench::factor;
using enum lowering::scalar_type;

namespace {

problem problem_of(const std::string& what, lowering::scalar_type type, std::int64_t m, std::int64_t n,
                   std::int64_t batch, std::int64_t sides = 2) {
    const routine r = routine_of(what);
    return {r, type, m, n, solves(r) ? sides : 0, batch};
}

/// Null where it is not there, which is said.
std::unique_ptr<factor_peer> lapack_if_there() {
    try {
        return make_factor_peer("lapack", cpu());
    } catch (const error& e) {
        CHECK(e.blame() == blame::environment);
        WARN("lapack: " << e.what());
        return nullptr;
    }
}

double flops_of(const char* what, std::int64_t m, std::int64_t n, lowering::scalar_type type = f64) {
    return problem_of(what, type, m, n, 1, 1).flops();
}

measured result(const char* peer, double seconds) {
    measured m;
    m.peer = peer, m.seconds = m.fastest = seconds, m.rounds = 15, m.calls_a_round = 1;
    return m;
}

} // namespace

TEST_CASE("factor: costs as LAPACK Working Note 41 counts them") {
    CHECK(flops_of("cholesky", 1, 1) == Approx(1));
    CHECK(flops_of("cholesky", 2, 2) == Approx(5));
    CHECK(flops_of("cholesky", 2, 2, c128) == Approx(6 * 4 + 2 * 1));
    CHECK(flops_of("lu", 2, 2) == Approx(5));
    CHECK(flops_of("lu", 100, 100) == Approx(2e6 / 3 - 5e3 + 500.0 / 6));
    CHECK(flops_of("lu", 7, 30) == Approx(flops_of("lu", 30, 7)));
    CHECK(flops_of("qr", 100, 100) == Approx(4e6 / 3 + 2e4 + 1400.0 / 3));
    CHECK(flops_of("lu_solve", 10, 10) == Approx(190));
    CHECK(flops_of("cholesky_solve", 10, 10) == Approx(200));
    CHECK(flops_of("solve", 10, 10) == Approx(flops_of("lu", 10, 10) + 190));
    CHECK(problem_of("lu", f32, 3, 5, 7).bytes() == 2 * 3 * 5 * 7 * 4);
    CHECK(problem_of("solve", f64, 4, 4, 3).bytes() == (16 + 2 * 8) * 3 * 8);
    const problem c = problem_of("cholesky", c128, 4, 4, 3);
    CHECK((c.bytes() == 2 * 16 * 3 * 16 && c.element_bytes() == 2 * 10 * 3 * 16));
}

TEST_CASE("points of bench factor: every routine, type, size, right-hand side and batch; mistakes in the options") {
    factor::options o;
    CHECK(points_of(o, 1'000'000).size() == 3 * 35);
    CHECK(points_of(o, 1'000'000).front().batch == 15625);
    o.routines = "lu,solve", o.types = "f64,c64", o.sizes = "4,8", o.sides = "1,3", o.batch = "10,20";
    const auto points = points_of(o, 1);
    REQUIRE(points.size() == 2 * 2 * 2 + 2 * 2 * 2 * 2);
    CHECK((points[0].what == routine::lu && points[0].sides == 0 && points[1].batch == 20 && points[4].type == c64));
    CHECK((points[8].what == routine::solve && points[8].sides == 1 && points[10].sides == 3));
    o = {}, o.routines = "qr", o.shapes = "64x16,5x9";
    CHECK((points_of(o, 1).size() == 2 && points_of(o, 1)[1].n == 9));
    const std::pair<std::string factor::options::*, std::pair<const char*, const char*>> wrong[] = {
        {&factor::options::routines, {"svd", "--routines: there is no 'svd'; there are cholesky, lu, qr, solve, "}},
        {&factor::options::shapes, {"3x4x5", "--shape: '3x4x5' is no shape; write MxN, as 64x16"}},
        {&factor::options::shapes, {"3x4", "--shape: cholesky takes square matrices, not 3x4; "}},
        {&factor::options::types, {"f16", "--types: factorizations are not measured in f16; there are f64, f32, "}},
        {&factor::options::sizes, {"0", "--sizes: '0' is no size and no range of sizes; "}},
        {&factor::options::batch, {"2^50", "a batch of 1125899906842624 matrices of 2x2 is too large"}}};
    for (const auto& [option, text] : wrong) {
        factor::options bad;
        bad.*option = text.first;
        CHECK_THROWS_WITH(points_of(bad, 1), Catch::Contains(text.second));
    }
}

TEST_CASE("factor: ricci and LAPACK pass LAPACK's ratios, each from the originals; a wrong number is found") {
    const auto tools = make_device_tools(cpu());
    const auto lapack = lapack_if_there();
    device_memory memory;
    for (const std::string& what : routine_names())
        for (const auto type : {f64, c64})
            for (const auto& [m, n] : {std::pair(1, 1), std::pair(20, 20), std::pair(9, 4), std::pair(4, 9)}) {
                const problem p = problem_of(what, type, m, n, 5);
                if (m != n && p.what != routine::lu && p.what != routine::qr) continue;
                CAPTURE(what, lowering::name_of(type), m, n);
                const operands on(p, cpu(), *tools, true, memory);
                const auto& set = on.sets().front();
                const auto restore = [&] {
                    if (!takes_factors(p.what)) on.restore_matrices(0);
                    if (solves(p.what)) on.restore_sides(0);
                };
                restore();
                runtime::run(on.statement(0));
                const findings ours = check(p, set, 0, cpu());
                CHECK((ours.wrong == 0 && ours.looked_at == 5 && ours.worst < largest_ratio));
                if (lapack)
                    for (const way& w : lapack->ways(p, on.sets())) {
                        restore();
                        w.run(0);
                        CHECK(check(p, set, w.first_pivot, cpu()).wrong == 0);
                        if (p.what == routine::lu && n > 1) CHECK(check(p, set, 1 - w.first_pivot, cpu()).wrong > 0);
                    }
                auto* const bytes = static_cast<char*>(set[solves(p.what) ? at_X : at_A]);
                std::fill_n(bytes, lowering::size_of(type), '\x41'); // the first number
                const findings found =
                    check(p, set, solves(p.what) || p.what != routine::lu || !lapack ? 0 : 1, cpu());
                CHECK((found.wrong > 0 && found.first == 0));
                std::fill_n(bytes, lowering::size_of(type), '\xff'); // NaN
                CHECK(check(p, set, 0, cpu()).wrong > 0);
            }
}

TEST_CASE("factor: every call that is timed finds its set as it was") {
    const auto tools = make_device_tools(cpu());
    std::vector<bool> original(3, false);
    int spoiled = 0, calls = 0;
    const entrant once{"ricci", "", [&](std::size_t set) { original[set] = true; },
                       [&](std::size_t set) {
                           ++calls;
                           if (!original[set]) ++spoiled;
                           original[set] = false;
                       },
                       [] {
                           return findings{1, 0, -1, 1};
                       }};
    entrant fails = once;
    fails.peer = "other", fails.run = [](std::size_t) { throw error("it does not", blame::environment); };
    const auto results = time_in_turn({once, fails}, 3, cpu(), *tools, nullptr, {5, true, false});
    REQUIRE(results.size() == 2);
    CHECK((results[0].rounds == 5 && results[0].seconds > 0 && results[0].calls_a_round == 3 && results[0].checked));
    CHECK((calls > 15 && spoiled == 0));
    CHECK((results[1].failure == "it does not" && results[1].seconds == 0));
}

TEST_CASE("factor: table, JSON and CSV have what is said of factorizations") {
    report r;
    r.command = "ricci bench factor", r.chip = "chip", r.processors = 1, r.energy = true;
    r.at_start = {1e12, 1e12}, r.peak_at_start = {1e12, 2e12};
    r.peers = {{"lapack", "OpenBLAS", ""}};
    row each;
    each.kind = "solve", each.size = {8, 8, 2}, each.types = "f64", each.batch = 1000, each.layout = "contiguous";
    each.bytes = 1e6, each.flops = 4e6, each.against_peak = true, each.yardstick = 1e12;
    each.results = {result("ricci", 8e-6), result("lapack", 2e-5)};
    each.results[0].joules = 3e-3;
    r.rows.push_back(each);
    CHECK(factor::table_head(r).find("% triad  % bound    vs lapack") != std::string::npos);
    const std::string line = factor::table_line(r, r.rows[0]);
    for (const char* text : {"solve           8x8       f64      2       1000", "  12.5    50.0p        2.50x",
                             "           3            -\n"}) {
        CAPTURE(line, text);
        CHECK(line.find(text) != std::string::npos);
    }
    CHECK(factor::to_json(r).find("\"percent_of_triad\": 12.5") != std::string::npos);
    CHECK(factor::to_json(r).find("\"right_hand_sides\": 2") != std::string::npos);
    CHECK(factor::to_csv(r).find(",percent_of_triad,joules_each\n") != std::string::npos);
    CHECK(factor::to_csv(r).ends_with(",12.5,3e-06\n"));
    CHECK(factor::table_foot(r).find("solve f64 (1 row): of the bound geometric mean 50 %") != std::string::npos);
}
