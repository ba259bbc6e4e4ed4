// bench_factor_test: `ricci bench factor` on the CPU, from end to end, and the clock and the meter that it can have.
#include "tests/catch.hpp"
#include "tests/tools/bench.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

using namespace ricci::tests;
using nlohmann::json;

TEST_CASE("bench factor: a row for each routine, type and size, ricci's results and LAPACK's checked") {
    const folder f;
    const std::vector<std::string> words{"factor",
                                         "--routines",
                                         "solve,lu,least_squares,inverse,qr",
                                         "--sizes",
                                         "3,9",
                                         "--types",
                                         "c64,f64",
                                         "--bytes",
                                         "100KB",
                                         "--warm-cache",
                                         "--repeat",
                                         "2",
                                         "--processor-time",
                                         "--json",
                                         "-",
                                         "--csv",
                                         "out.csv"};
    const auto o = bench(words, f, {"RICCI_NUM_THREADS=1"});
    INFO(o.err);
    REQUIRE(o.code == 0);
    CHECK_THAT(o.err, Catch::Contains("times are the processor's, of the fastest round\n") &&
                          Catch::Contains("all kernels were made in ") && Catch::Contains("x factor.") &&
                          Catch::Contains("20 checked, 0 wrong"));
    const json report = json::parse(o.out);
    CHECK((report["header"]["times"] == "processor, fastest round" && report["header"]["compile_seconds"] > 0));
    REQUIRE(report["rows"].size() == 20);
    const json& first = report["rows"][0];
    CHECK((first["kind"] == "lu" && first["types"] == "f64" && first["m"] == 3 && first["batch"] == 694));
    for (const json& row : report["rows"]) {
        CAPTURE(row["kind"], row["types"], row["n"]);
        const bool is_solve = row["kind"] != "lu" && row["kind"] != "qr";
        CHECK(row.contains("times_factorization") == is_solve);
        if (is_solve) CHECK(row["times_factorization"]["ricci"] > 0);
        CHECK(row.contains("times_f64") == (row["types"] != "f64"));
        for (const json& result : row["results"]) {
            CHECK((result["seconds"] > 0 && result["percent"] > 0 && result["percent_of_triad"] > 0));
            CHECK(result["seconds"] == result["fastest_seconds"]);
            CHECK((result["check"]["wrong"] == 0 && result["check"]["elements"] > 1));
            CHECK_FALSE(result.contains("joules_each")); // nobody asked
        }
    }
    const std::string csv = read_bytes(f / "out.csv");
    CHECK_THAT(csv, Catch::Contains(",percent_of_triad,times_factorization,times_f64,joules_each"));
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 21);
}

TEST_CASE("bench: the processor's time is of one thread; energy is what a meter tells, or none") {
    const folder f;
    for (const char* what : {"batched", "factor"}) {
        const auto o = bench({what, "--sizes", "3", "--processor-time"}, f, {"RICCI_NUM_THREADS=2"});
        CHECK((o.code == 1 && o.out.empty()));
        CHECK(o.err == "ricci: --processor-time: of 2 threads it is no time of a call; set RICCI_NUM_THREADS=1\n");
    }
    const auto o = bench({"factor", "--routines", "lu", "--sizes", "4", "--bytes", "1MB", "--peers", "none",
                          "--warm-cache", "--repeat", "1", "--energy", "--json", "-"},
                         f);
    if (std::ifstream("/sys/class/powercap/intel-rapl:0/energy_uj").good()) {
        INFO(o.err);
        REQUIRE(o.code == 0);
        const json report = json::parse(o.out);
        const json& ours = report["rows"][0]["results"][0];
        if (ours.contains("joules_each")) CHECK(ours["joules_each"] > 0);
    } else {
        CHECK((o.code == 2 && o.out.empty()));
        CHECK_THAT(o.err, Catch::Matchers::StartsWith("ricci: --energy: no counter /sys/class/powercap/"));
    }
}
