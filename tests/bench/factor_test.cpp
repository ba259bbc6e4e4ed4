// factor_test: `ricci bench factor`: points, costs, results of ricci and of LAPACK, what finds a wrong one, and that
// every call starts from the original matrices.
#include "bench/factor/factor_bench.hpp"
#include "bench/factor/factor_peer.hpp"
#include "bench/factor/factor_report.hpp"
#include "bench/factor/operands.hpp"
#include "bench/factor/ratios.hpp"
#include "bench/factor/reference.hpp"
#include "bench/factor/timing.hpp"
#include "lowering/error.hpp"
#include "runtime/run.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

using namespace ricci;
using namespace ricci::bench;
using namespace ricci::bench::factor;
using enum lowering::scalar_type;

namespace {

problem problem_of(const std::string& what, lowering::scalar_type type, std::int64_t m, std::int64_t n,
                   std::int64_t batch, std::int64_t sides = 2) {
    const routine r = routine_of(what);
    return {r, type, m, n, facts_of(r).has_sides ? sides : 0, batch};
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
    CHECK(flops_of("solve_positive", 10, 10) == Approx(flops_of("cholesky", 10, 10) + 200));
    CHECK(flops_of("triangular_solve", 10, 10) == Approx(100));
    // getrf and getri
    CHECK(flops_of("inverse", 100, 100) == Approx((2e6 / 3 - 5e3 + 500.0 / 6) + (4e6 / 3 - 1e4 + 500.0 / 3)));
    CHECK(flops_of("qr_solve", 100, 10) == Approx(4 * 1000 - 2 * 100 + 3 * 10 + 100));
    CHECK(flops_of("least_squares", 100, 10) == Approx(flops_of("qr", 100, 10) + flops_of("qr_solve", 100, 10)));
    CHECK(flops_of("least_squares", 10, 100) == Approx(flops_of("least_squares", 100, 10)));
    CHECK(problem_of("lu", f32, 3, 5, 7).bytes() == 2 * 3 * 5 * 7 * 4);
    CHECK(problem_of("solve", f64, 4, 4, 3).bytes() == (16 + 2 * 8) * 3 * 8);
    const problem c = problem_of("cholesky", c128, 4, 4, 3);
    CHECK((c.bytes() == 2 * 16 * 3 * 16 && c.element_bytes() == 2 * 10 * 3 * 16));
    CHECK(problem_of("inverse", f32, 5, 5, 2).bytes() == 2 * 25 * 2 * 4);
    CHECK(problem_of("least_squares", f64, 7, 4, 3).bytes() == (28 + 2 * (7 + 4)) * 3 * 8);
    CHECK(problem_of("triangular_solve", f64, 4, 4, 3).element_bytes() == (10 + 2 * 8) * 3 * 8);
}

TEST_CASE("points of bench factor: every routine, type, size, right-hand side and batch; mistakes in the options") {
    factor::options o;
    CHECK(points_of(o, 1'000'000).size() == 3 * 36);
    CHECK(points_of(o, 1'000'000).front().batch == 15625);
    o.routines = "lu,solve", o.types = "f64,c64", o.sizes = "4,8", o.sides = "1,3", o.batch = "10,20";
    const auto points = points_of(o, 1);
    REQUIRE(points.size() == 2 * 2 * 2 + 2 * 2 * 2 * 2);
    CHECK((points[0].what == routine::lu && points[0].sides == 0 && points[1].batch == 20 && points[4].type == c64));
    CHECK((points[8].what == routine::solve && points[8].sides == 1 && points[10].sides == 3));
    o = {}, o.routines = "solve,inverse,qr,lu", o.types = "f32,f64", o.sizes = "8", o.sides = "1,20";
    std::string order;
    for (const problem& p : points_of(o, 1'000'000))
        order += fmt::format("{} {} {} {}; ", name_of(p.what), lowering::name_of(p.type), p.sides, p.batch);
    // Factorizations and f64 first; a solve's batch is its factorization's, as long as its sides leave room.
    CHECK(order == "qr f64 0 976; qr f32 0 1953; lu f64 0 976; lu f32 0 1953; "
                   "solve f64 1 976; solve f64 20 325; solve f32 1 1953; solve f32 20 651; "
                   "inverse f64 0 976; inverse f32 0 1953; ");
    o = {}, o.routines = "qr", o.shapes = "64x16,5x9";
    CHECK((points_of(o, 1).size() == 2 && points_of(o, 1)[1].n == 9));
    const std::pair<std::string factor::options::*, std::pair<const char*, const char*>> wrong[] = {
        {&factor::options::routines,
         {"svd", "--routines: there is no 'svd'; there are cholesky, lu, qr, solve, solve_positive, "}},
        {&factor::options::shapes, {"3x4x5", "--shape: '3x4x5' is no shape; write MxN, as 64x16"}},
        {&factor::options::shapes, {"3x4", "--shape: cholesky takes square matrices, not 3x4; lu, qr, "}},
        {&factor::options::types, {"f16", "--types: factorizations are not measured in f16; there are f64, f32, "}},
        {&factor::options::sizes, {"0", "--sizes: '0' is no size and no range of sizes; "}},
        {&factor::options::batch, {"2^50", "a batch of 1125899906842624 matrices of 2x2 is too large"}}};
    o = {}, o.routines = "qr_solve", o.shapes = "9x9,3x4";
    CHECK_THROWS_WITH(points_of(o, 1),
                      "--shape: qr_solve takes no fewer rows than columns, not 3x4; least_squares does");
    for (const auto& [option, text] : wrong) {
        factor::options bad;
        bad.*option = text.first;
        CHECK_THROWS_WITH(points_of(bad, 1), Catch::Contains(text.second));
    }
}

TEST_CASE(
    "factor: ricci and LAPACK pass LAPACK's ratios, each from the originals, by the same pivots; a wrong number is "
    "found") {
    const auto tools = make_device_tools(cpu());
    const auto lapack = lapack_if_there();
    device_memory memory;
    const std::string what = GENERATE(from_range(routine_names()));
    const auto type = GENERATE(f64, f32, c64, c128);
    for (const auto& [m, n] : {std::pair(1, 1), std::pair(20, 20), std::pair(9, 4), std::pair(4, 9)}) {
        const problem p = problem_of(what, type, m, n, 5);
        if ((m != n && !facts_of(p.what).rectangular) || (m < n && p.what == routine::qr_solve)) continue;
        CAPTURE(what, lowering::name_of(type), m, n);
        const operands on(p, cpu(), *tools, true, memory);
        const auto& set = on.sets().front();
        on.restore(0, spoiled_by(p.what));
        runtime::run(on.statement(0));
        const findings ours = check(p, set, {}, cpu());
        CHECK((ours.wrong == 0 && ours.looked_at == 5 && ours.worst < largest_ratio));
        const auto pivots = [&](std::int32_t first) {
            const auto* const rows = static_cast<const std::int32_t*>(set[at_vector]);
            std::vector<std::int32_t> from_0;
            for (std::int64_t k = 0; p.what == routine::lu && k < 5 * p.least(); ++k)
                from_0.push_back(rows[k] - first);
            return from_0;
        };
        const auto our_pivots = pivots(0);
        // A wrong first number, then NaN, in what is written.
        const auto is_found = [&](const answer& where) {
            auto* const bytes = static_cast<char*>(set[factors_in_place(p.what) ? at_A : where.solutions]);
            std::fill_n(bytes, lowering::size_of(type), '\x41');
            const findings found = check(p, set, where, cpu());
            CHECK((found.wrong > 0 && found.first == 0));
            std::fill_n(bytes, lowering::size_of(type), '\xff');
            CHECK(check(p, set, where, cpu()).wrong > 0);
        };
        is_found({});
        if (!lapack) continue;
        for (const way& w : lapack->ways(p, on.sets())) {
            on.restore(0, w.spoils);
            w.run(0);
            CHECK(check(p, set, w.leaves, cpu()).wrong == 0);
            CHECK(pivots(1) == our_pivots); // no two candidates of these matrices are as large
            answer other = w.leaves;
            other.first_pivot = 1 - other.first_pivot;
            if (p.what == routine::lu && n > 1) CHECK(check(p, set, other, cpu()).wrong > 0);
            is_found(w.leaves);
            on.restore(0, w.spoils); // which is enough for it to be right again
            w.run(0);
            CHECK(check(p, set, w.leaves, cpu()).wrong == 0);
        }
    }
}

TEST_CASE("factor: of a wide system the shortest solution alone is right") {
    if (const auto lapack = lapack_if_there()) {
        const auto tools = make_device_tools(cpu());
        device_memory memory;
        const problem p = problem_of("least_squares", f64, 1, 2, 1, 1);
        const operands on(p, cpu(), *tools, true, memory);
        const auto& set = on.sets().front();
        auto* const a = static_cast<double*>(set[at_original]);
        auto* const x = static_cast<double*>(set[at_X]);
        a[0] = 1, a[1] = 0.5, static_cast<double*>(set[at_given])[0] = 2.5;
        x[0] = 2, x[1] = 1;
        CHECK(check(p, set, {}, cpu()).wrong == 0);
        x[0] = 2.5, x[1] = 0; // solves it, but is longer
        CHECK(check(p, set, {}, cpu()).wrong == 1);
        x[0] = 1, x[1] = 0.5; // has the direction, but is no solution
        CHECK(check(p, set, {}, cpu()).wrong == 1);
    }
}

TEST_CASE("factor: every call that is timed finds its set as it was, by either clock") {
    const auto tools = make_device_tools(cpu());
    const auto by = GENERATE(timed_by::wall, timed_by::processor);
    std::vector<bool> original(3, false);
    int spoiled = 0, calls = 0;
    const entrant once{"ricci",
                       "",
                       [&](std::size_t set) { original[set] = true; },
                       [&](std::size_t set) {
                           ++calls;
                           if (!original[set]) ++spoiled;
                           original[set] = false;
                       },
                       [] {
                           return findings{1, 0, -1, 1};
                       },
                       1};
    entrant fails = once;
    fails.peer = "other", fails.run = [](std::size_t) { throw error("it does not", blame::environment); };
    int spoils_nothing = 0;
    const entrant constant{"third", "", {}, [&](std::size_t) { ++spoils_nothing; }, {}, 0};
    const auto results = time_in_turn({once, fails, constant}, 3, cpu(), *tools, nullptr, {5, true, false, by});
    REQUIRE(results.size() == 3);
    CHECK((results[0].rounds == 5 && results[0].seconds > 0 && results[0].calls_a_round == 3 && results[0].checked));
    CHECK((results[0].seconds == results[0].fastest || by == timed_by::wall));
    CHECK((calls > 15 && spoiled == 0));
    CHECK((results[1].failure == "it does not" && results[1].seconds == 0));
    CHECK((results[2].rounds == 5 && results[2].calls_a_round == 3 && spoils_nothing > 15 && !results[2].checked));
}

TEST_CASE("factor: the processor's clock stands still while the process sleeps") {
    const double asleep = processor_seconds_of([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); });
    CHECK((asleep >= 0 && asleep < 0.02));
}

TEST_CASE("factor: joules are a call's, without those of what puts its operands back") {
    struct counting_meter : energy_meter {
        double total = 0;
        double joules() override { return total; }
    } meter;
    const auto tools = make_device_tools(cpu());
    const auto by = [&](const char* peer, double joules, double copies, int spoils) {
        entrant e{peer, "", {}, [&meter, joules](std::size_t) { meter.total += joules; }, {}, spoils};
        if (spoils) e.restore = [&meter, copies](std::size_t) { meter.total += copies; };
        return e;
    };
    measure_options quick{3, false, false};
    quick.metered_seconds = 0.01;
    const auto results = time_in_turn({by("ricci", 3, 2, 1), by("second", 5, 2, 1), by("third", 7, 4, 3),
                                       by("constant", 1.5, 0, 0), by("nothing", 0, 2, 1)},
                                      2, cpu(), *tools, &meter, quick);
    REQUIRE(results.size() == 5);
    const double expected[] = {3, 5, 7, 1.5};
    for (std::size_t n = 0; n < 4; ++n) {
        REQUIRE(results[n].joules);
        CHECK(*results[n].joules == Approx(expected[n]));
    }
    CHECK_FALSE(results[4].joules); // not a number that the meter did not tell
}

TEST_CASE("factor: table, JSON and CSV have what is said of factorizations") {
    report r;
    r.command = "ricci bench factor", r.chip = "chip", r.processors = 1, r.energy = true, r.compile_seconds = 2;
    r.at_start = {1e12, 1e12}, r.peak_at_start = {1e12, 2e12};
    r.peers = {{"lapack", "OpenBLAS", ""}};
    row each;
    each.kind = "solve", each.size = {8, 8, 2}, each.types = "f64", each.batch = 1000, each.layout = "contiguous";
    each.bytes = 1e6, each.flops = 4e6, each.against_peak = true, each.yardstick = 1e12, each.of_elements = true;
    each.results = {result("ricci", 8e-6), result("lapack", 2e-5)};
    each.results[0].joules = 3e-3, each.results[1].joules = 8e-3;
    row lu = each, far = each, f32_solve = each;
    lu.kind = "lu", lu.size.k = 0, lu.results = {result("ricci", 1e-5), result("lapack", 1e-5)};
    lu.batch = 2000, lu.against_peak = false, lu.bytes = 3e6, lu.element_bytes = 2e6; // as a triangle's would be
    far = lu, far.batch = 10, far.results[0].seconds = 1;
    f32_solve.types = "f32", f32_solve.results[0].seconds = 4e-6;
    r.rows = {far, lu, each, f32_solve};

    // 8 ns each, and 5 ns of the factorization whose batch is nearest
    CHECK(times_factorization(r, each, "ricci") == Approx(1.6));
    CHECK(times_factorization(r, each, "lapack") == Approx(4));
    CHECK((times_factorization(r, lu, "ricci") == 0 && times_factorization(r, f32_solve, "ricci") == 0));
    CHECK(times_f64(r, f32_solve, "ricci") == Approx(2));
    CHECK((times_f64(r, each, "ricci") == 0 && times_f64(r, f32_solve, "cusolver") == 0));
    CHECK((percent_of_triad(r, lu, lu.results[0]) == Approx(30) && percent_of(lu, lu.results[0]) == Approx(20)));

    const std::string head = factor::table_head(r);
    for (const char* text : {"% triad  % bound x factor.   x f64    vs lapack     uJ ricci    uJ lapack\n",
                             "all kernels were made in 2.0 s", ", and in no energy; "}) {
        CAPTURE(head, text);
        CHECK(head.find(text) != std::string::npos);
    }
    const std::string line = factor::table_line(r, each);
    for (const char* text : {"solve            8x8       f64      2       1000",
                             "  12.5    50.0p       1.6       -        2.50x", "           3            8\n"}) {
        CAPTURE(line, text);
        CHECK(line.find(text) != std::string::npos);
    }
    CHECK(factor::table_line(r, f32_solve).find("         -       2        5.00x") != std::string::npos);
    const auto json = nlohmann::json::parse(factor::to_json(r));
    const auto& in_json = json["rows"][2];
    CHECK((in_json["right_hand_sides"] == 2 && in_json["times_factorization"]["lapack"].get<double>() == Approx(4)));
    CHECK((in_json["results"][0]["percent_of_triad"] == 12.5 &&
           in_json["results"][1]["joules_each"].get<double>() == Approx(8e-6)));
    CHECK(json["rows"][3]["times_f64"]["ricci"].get<double>() == Approx(2));
    CHECK((json["header"]["compile_seconds"] == 2 && !json["rows"][1].contains("times_factorization")));
    const std::string csv = factor::to_csv(r);
    CHECK(csv.find(",percent_of_triad,times_factorization,times_f64,joules_each,lapack_gf_per_s,lapack_percent,"
                   "lapack_percent_of_triad,lapack_times_factorization,lapack_times_f64,lapack_joules_each\n") !=
          std::string::npos);
    CHECK(csv.find(",12.5,1.6,,3e-06,200,20,5,4,,8e-06\n") != std::string::npos);
    CHECK(csv.ends_with(",25,,2,3e-06,200,20,5,,1,8e-06\n"));
    const auto commas = [](const std::string& text) { return std::count(text.begin(), text.end(), ','); };
    CHECK(commas(csv.substr(0, csv.find('\n'))) == commas(csv.substr(csv.rfind('\n', csv.size() - 2))));
    CHECK(factor::table_foot(r).find("solve f64 (1 row): of the bound geometric mean 50 %, least 50 % at solve "
                                     "8x8x2 f64") != std::string::npos);
}

TEST_CASE("factor: what is compiled ahead is not compiled again, and a point that cannot be is left to its row") {
    std::vector<problem> all;
    for (const std::string& what : routine_names()) all.push_back(problem_of(what, f32, 3, 3, 6, 1));
    all.push_back(problem_of("lu", lowering::scalar_type::f16, 3, 3, 6)); // there is no such thing
    CHECK_NOTHROW(compile_ahead(all, cpu()));
    const auto tools = make_device_tools(cpu());
    device_memory memory;
    for (std::size_t n = 0; n + 1 < all.size(); ++n) {
        CAPTURE(name_of(all[n].what));
        const operands on(all[n], cpu(), *tools, true, memory);
        CHECK_THAT(runtime::explain(on.statement(0)), Catch::Contains("cache hit (memory)"));
    }
}
