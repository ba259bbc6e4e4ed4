// bench_command_test: `ricci bench` on the CPU, from end to end.
#include "tests/catch.hpp"
#include "tests/tools/bench.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ricci::tests;
using nlohmann::json;

TEST_CASE("bench batched on the CPU: table to stderr, valid JSON to stdout, CSV to a file") {
    const folder f;
    const auto o = bench({"batched", "--device", "cpu", "--peers", "plain,ijk", "--sizes", "2..4", "--bytes", "1MB",
                          "--repeat", "2", "--json", "-", "--csv", "out.csv"},
                         f);
    INFO(o.err);
    REQUIRE(o.code == 0);
    const json report = json::parse(o.out);
    CHECK(report["header"]["command"] ==
          "ricci bench batched --device cpu --peers plain,ijk --sizes 2..4 --bytes 1MB --repeat 2 --json - --csv "
          "out.csv");
    CHECK(report["header"]["complete"] == true);
    CHECK(report["header"]["bandwidth"]["triad_gb_per_s"] > 0);
    REQUIRE(report["rows"].size() == 3);
    const json& row = report["rows"][1];
    CHECK((row["m"] == 3 && row["batch"] == 1'000'000 / (4 * 72) && row["types"] == "f64" &&
           row["operations"] == "NN"));
    CHECK(row["statement"] == "C(i, j, e) += A(i, k, e)*B(k, j, e)");
    CHECK(row["kernel"] == "batched_small");
    CHECK(row["operand_sets"] > 1);
    const json& ours = row["results"][0];
    CHECK((ours["peer"] == "ricci" && ours["seconds"] > 0 && ours["rounds"] == 2));
    CHECK((ours["check"]["wrong"] == 0 && ours["check"]["elements"] == row["batch"].get<int>() * 9));
    CHECK((row["ratio"]["plain"] > 0 && row["ratio"]["ijk"] > 0));
    CHECK(report["summary"].back()["percent"]["rows"] == 3);
    CHECK_THAT(o.err, Catch::Contains("m x n x k") && Catch::Contains("3 checked, 0 wrong"));
    const std::string csv = read_bytes(f / "out.csv");
    CHECK(csv.starts_with("kind,m,n,k,batch,"));
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 4);
}

TEST_CASE("bench in the caches: one set of operands, % of the measured peak, and what does not fit is refused") {
    const folder f;
    const auto o = bench({"batched", "--sizes", "3,8", "--types", "f64,f32", "--in-cache", "--peers", "none",
                          "--counters", "--repeat", "2", "--json", "-"},
                         f);
    INFO(o.err);
    REQUIRE(o.code == 0);
    CHECK_THAT(o.err, Catch::Contains("% is of the peak, operands stay in L2"));
    const json report = json::parse(o.out);
    const json& header = report["header"];
    CHECK((header["peak"]["f64_gf_per_s"] > 0 && header["peak"]["f32_gf_per_s"] > 0));
    REQUIRE(report["rows"].size() == 4);
    for (const json& row : report["rows"]) {
        CHECK((row["operand_sets"] == 1 && row["percent_of"] == "peak"));
        const double size = row["types"] == "f64" ? 8 : 4, n = row["n"];
        CHECK(row["batch"].get<double>() * 3 * n * n * size <= header["in_cache_bytes"].get<double>());
        const json& ours = row["results"][0];
        CHECK((ours["check"]["wrong"] == 0 && ours["percent"] > 0));
        CHECK(ours.contains("per_product") != header.contains("no_counters"));
        // Short calls are timed for a millisecond together, about.
        CHECK(ours["seconds"].get<double>() * ours["calls_a_round"].get<double>() > 0.3e-3);
    }
    const auto large =
        bench({"tall-skinny", "--height", "2^22", "--widths", "8", "--in-cache", "--peers", "none"}, f);
    CHECK(large.code == 2);
    CHECK_THAT(large.out, Catch::Contains(" bytes, and --in-cache allows "));
    const auto statement = bench({"statement", "C(i,j,e) += A(i,k,e)*B(k,j,e)", "A=f64[4,4,50]", "B=f64[4,4,50]",
                                  "C=f64[4,4,50]", "--in-cache", "--peers", "none", "--repeat", "2"},
                                 f);
    CHECK(statement.code == 0);
}

TEST_CASE("bench measures every type, layout and kind, and finds its results right") {
    const folder f;
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"batched", "--sizes", "3", "--types", "f64,f32,c128,c64,f16,bf16,f16:f32",
                                   "--batch", "50", "--beta", "0,1"},
          {"batched", "--shape", "3x5x4", "--transpose", "NT,TN,TT,CC", "--types", "c64", "--batch", "50", "--ld",
           "+1", "--offset", "1"},
          {"batched", "--sizes", "4", "--layout", "interleaved,shared,shared-a", "--batch", "33"},
          {"batched", "--sizes", "4,5", "--layout", "gathered,pointers", "--types", "f64,f16", "--transpose", "NT",
           "--batch", "33"},
          {"batched", "--sample", "8", "--seed", "3", "--sizes", "1..12", "--bytes", "100KB", "--types", "f64,f16"},
          {"tall-skinny", "--height", "1000", "--widths", "1,4x3", "--types", "f64,f16:f32", "--order", "column,row",
           "--beta", "0,1"},
          {"statement", "C(i,j,e) += A(i,k,e)*B(k,j,e); s(i) = exp(A(i,0,0)); C(i,j,e) -= A(i,k,e)*B(k,j,e)",
           "A=f64[3,4,50]", "B=f64[4,5,50]", "C=f64[3,5,50]"},
          {"statement", "C(i,j,distinct(p)(e)) += A(i,k,p(e))*B(k,j,q(e))", "A=f64[3,4,70]", "B=f64[4,5,20]",
           "C=f64[3,5,60]", "p=i32[50]", "q=i64[50]"}}) {
        CAPTURE(fmt::format("{}", fmt::join(arguments, " ")));
        auto all = arguments;
        all.insert(all.end(), {"--peers", "plain", "--repeat", "1", "--warm-cache", "--json", "-"});
        const auto o = bench(all, f);
        INFO(o.err);
        REQUIRE(o.code == 0);
        const json report = json::parse(o.out);
        CHECK_FALSE(report["rows"].empty());
        for (const json& row : report["rows"])
            for (const json& result : row["results"]) {
                CAPTURE(row["types"], row["operations"], result["peer"]);
                CHECK(result["seconds"] > 0);
                if (result.contains("check"))
                    CHECK(result["check"]["wrong"] == 0);
                else
                    CHECK(arguments[0] == "statement");
            }
    }
    const auto none = bench(
        {"batched", "--sizes", "2", "--batch", "9", "--peers", "none", "--no-check", "--repeat", "1", "--json", "-"},
        f);
    const json report = json::parse(none.out);
    CHECK(report["header"]["peers"].empty());
    CHECK(report["rows"][0]["results"].size() == 1);
    CHECK_FALSE(report["rows"][0]["results"][0].contains("check"));
    const auto triad =
        bench({"batched", "--sizes", "2", "--batch", "9", "--peers", "triad", "--repeat", "1", "--json", "-"}, f);
    const json against = json::parse(triad.out);
    CHECK(against["rows"][0]["ratio"]["triad"] > 0);
    CHECK_FALSE(against["rows"][0]["results"][1].contains("check")); // it computes no product
}

TEST_CASE("bench fem: a row for each problem, form and order, ricci's results and the loops' checked") {
    const folder f;
    const auto o = bench({"fem", "--bp", "1,6", "--orders", "2", "--types", "f64,f32", "--bytes", "300KB", "--peers",
                          "unfused,loops", "--warm-cache", "--repeat", "2", "--json", "-", "--csv", "out.csv"},
                         f);
    INFO(o.err);
    REQUIRE(o.code == 0);
    CHECK_THAT(o.err,
               Catch::Contains("MDOF/s") && Catch::Contains("BP6 p=2 L") && Catch::Contains("8 checked, 0 wrong"));
    const json report = json::parse(o.out);
    REQUIRE(report["rows"].size() == 8);
    const json& row = report["rows"][1];
    CHECK((row["kind"] == "fem" && row["operator"] == "BP1" && row["order"] == 2 && row["form"] == "L" &&
           row["scatter"] == "ordered" && row["types"] == "f64"));
    CHECK(row["bytes"].get<double>() == Catch::Detail::Approx(300e3).epsilon(0.2));
    CHECK_THAT(row["kernel"].get<std::string>(), Catch::Contains("chain"));
    for (const json& each : report["rows"]) {
        CAPTURE(each["operator"], each["form"], each["types"]);
        REQUIRE(each["results"].size() == 4); // the loops have two ways
        for (const json& result : each["results"]) {
            CAPTURE(result["peer"], result["variant"]);
            CHECK((result["seconds"] > 0 && result["dof_per_s"] > 0 && result["percent"] > 0));
            CHECK((result["check"]["wrong"] == 0 && result["check"]["elements"] > 100));
        }
    }
    CHECK(read_bytes(f / "out.csv").starts_with("kind,m,n,k,batch,"));
}

TEST_CASE("bench conv: a row for each layer, batch and algorithm, ricci's results and the peers' checked") {
    const folder f;
    const auto o = bench({"conv", "--layers", "4x5x9,3x2x7x4", "--batch", "2", "--types", "f32,f16", "--algorithms",
                          "direct,f2,f4", "--peers", "direct", "--warm-cache", "--repeat", "1", "--json", "-",
                          "--csv", "out.csv"},
                         f);
    INFO(o.err);
    REQUIRE(o.code == 0);
    CHECK_THAT(o.err, Catch::Contains("4x5@9 ") && Catch::Contains("3x2@7x4 ") && Catch::Contains("vs direct") &&
                          Catch::Contains("f32 best of f2, f4 (2 rows)") && Catch::Contains("12 checked, 0 wrong"));
    const json report = json::parse(o.out);
    REQUIRE(report["rows"].size() == 12);
    const json& row = report["rows"][2];
    CHECK((row["kind"] == "conv" && row["layer"] == "4x5@9" && row["algorithm"] == "f4" && row["batch"] == 2 &&
           row["channels"] == 4 && row["filters"] == 5 && row["width"] == 9 && row["height"] == 9));
    CHECK((row["bytes"] == 4 * (81 * 2 * 9 + 180) && row["flops"] == 2 * 9 * 20 * 81 * 2));
    for (const json& each : report["rows"]) {
        CAPTURE(each["layer"], each["algorithm"], each["types"]);
        REQUIRE(each["results"].size() == (each["algorithm"] == "direct" ? 1 : 2));
        for (const json& result : each["results"]) {
            CAPTURE(result["peer"]);
            CHECK((result["seconds"] > 0 && result["percent"] > 0));
            CHECK((result["check"]["wrong"] == 0 &&
                   result["check"]["elements"] == (each["layer"] == "4x5@9" ? 81 * 10 : 28 * 4)));
        }
    }
    REQUIRE(report["summary"].size() == 2 * 4);
    CHECK((report["summary"][7]["algorithm"] == "best of f2, f4" && report["summary"][7]["types"] == "f16"));
    CHECK_THAT(read_bytes(f / "out.csv"),
               Catch::Contains(",layer,channels,filters,width,height,algorithm,direct_us"));
}

TEST_CASE("a mistake in the options of bench has one message, and nothing is measured") {
    const folder f;
    const std::pair<std::vector<std::string>, const char*> wrong[] = {
        {{}, "ricci: a subcommand is missing; there are batched, tall-skinny, fem, conv, factor, statement\n"},
        {{"everything"},
         "ricci: 'everything' is no subcommand; there are batched, tall-skinny, fem, conv, factor, statement\n"},
        {{"batched", "--sizes", "4..2"}, "ricci: --sizes: '4..2' is no size, no shape and no range of sizes; "},
        {{"batched", "--shape", "3x3"}, "ricci: --shape: '3x3' is no shape; write MxNxK, as 16x8x24\n"},
        {{"batched", "--types", "f65"}, "ricci: --types: 'f65' is no type; "},
        {{"batched", "--transpose", "TX"}, "ricci: --transpose: 'TX' is no pair of transpositions; "},
        {{"batched", "--beta", "2"}, "ricci: --beta: '2' is no beta; "},
        {{"batched", "--layout", "heap"}, "ricci: --layout: there is no 'heap'; "},
        {{"batched", "--bytes", "2 GB"}, "ricci: --bytes: '2 GB' is no number of bytes; "},
        {{"batched", "--batch", "0"}, "ricci: --batch: '0' is no size and no range of sizes; "},
        {{"batched", "--batch", "3", "--bytes", "1MB"},
         "ricci: --batch and --bytes both say how many products there are: leave one out\n"},
        {{"batched", "--in-cache", "--bytes", "1MB"},
         "ricci: --in-cache and --bytes both say how much a point takes: leave one out\n"},
        {{"batched", "--sample", "3", "--batch", "3"}, "ricci: --sample draws the batch counts: leave --batch out\n"},
        {{"batched", "--peers", "mkl"},
         "ricci: --peers: there is no 'mkl'; there are cublas, plain, cutensor, blas, libxsmm, eigen, ijk, ikj, "
         "triad\n"},
        {{"batched", "--json", "-", "--csv", "-"},
         "ricci: --json and --csv cannot both go to the standard output: give one of them a file\n"},
        {{"batched", "--json", "x", "--csv", "./x"},
         "ricci: --json and --csv are both ./x: give each a file of its own\n"},
        {{"batched", "--json", "none/x.json"}, "ricci: none/x.json: there is no folder "},
        {{"batched", "--csv", "none/x.csv"}, "ricci: none/x.csv: there is no folder "},
        {{"batched", "--json", "x.json", "--peers", "mkl"}, "ricci: --peers: there is no 'mkl'; "},
        {{"batched", "--peers", "none,plain"}, "ricci: --peers: none goes with no other peer: none,plain\n"},
        {{"batched", "--seed", "2"}, "ricci: --seed requires --sample\n"},
        {{"batched", "--rectangular"}, "ricci: --rectangular requires --sample\n"},
        {{"batched", "--full"}, "ricci: --full requires --sample\n"},
        {{"batched", "--sizes", ""}, "ricci: --sizes: it is empty\n"},
        {{"batched", "--sizes", "4", "--peers", ""}, "ricci: --peers: it is empty\n"},
        {{"batched", "--batch", ""}, "ricci: --batch: it is empty\n"},
        {{"tall-skinny", "--widths", ""}, "ricci: --widths: it is empty\n"},
        {{"fem", "--orders", ""}, "ricci: --orders: it is empty\n"},
        {{"batched", "--repeat", "0"}, "--repeat"},
        {{"batched", "--ld", "-1"}, "--ld"},
        {{"batched", "--device", "toaster"}, "toaster"},
        {{"tall-skinny", "--widths", "3x"}, "ricci: --widths: '3x' is no width and no pair of widths; "},
        {{"tall-skinny", "--height", "tall"}, "ricci: --height: 'tall' is no size"},
        {{"tall-skinny", "--kind", "abt"}, "ricci: --kind: there is no 'abt'; there are atb, ab\n"},
        {{"tall-skinny", "--order", "rows"}, "ricci: --order: there is no 'rows'; there are column, row\n"},
        {{"fem", "--bp", "7"}, "ricci: --bp: there is no 7; there are 1 to 6\n"},
        {{"fem", "--orders", "1..9"}, "ricci: --orders: there is no 9; there are 1 to 8\n"},
        {{"fem", "--form", "T"}, "ricci: --form: there is no 'T'; there are E, L\n"},
        {{"fem", "--scatter", "fast"}, "ricci: --scatter: there is no 'fast'; there are ordered, atomic\n"},
        {{"fem", "--types", "c64"}, "ricci: --types: operators are not measured in c64; there are f64, f32\n"},
        {{"fem", "--peers", "eigen"},
         "ricci: --peers: there is no 'eigen'; there are unfused, cublas, loops, blas\n"},
        {{"factor", "--sizes", ""}, "ricci: --sizes: it is empty\n"},
        {{"factor", "--routines", "svd"},
         "ricci: --routines: there is no 'svd'; there are cholesky, lu, qr, solve, solve_positive, least_squares, "
         "inverse, triangular_solve, cholesky_solve, lu_solve, qr_solve\n"},
        {{"factor", "--shape", "3x4"},
         "ricci: --shape: cholesky takes square matrices, not 3x4; lu, qr, least_squares and qr_solve take others\n"},
        {{"factor", "--routines", "solve_positive", "--shape", "4x3"},
         "ricci: --shape: solve_positive takes square matrices, not 4x3; "},
        {{"factor", "--routines", "qr_solve", "--shape", "4x3,3x4"},
         "ricci: --shape: qr_solve takes no fewer rows than columns, not 3x4; least_squares does\n"},
        {{"factor", "--rhs", "0"}, "ricci: --rhs: '0' is no size and no range of sizes; "},
        {{"factor", "--rhs", ""}, "ricci: --rhs: it is empty\n"},
        {{"factor", "--types", "f16"},
         "ricci: --types: factorizations are not measured in f16; there are f64, f32, c128, c64\n"},
        {{"factor", "--batch", "3", "--bytes", "4MB"},
         "ricci: --batch and --bytes both say how many matrices there are: leave one out\n"},
        {{"factor", "--peers", "blas"}, "ricci: --peers: there is no 'blas'; there are lapack, cusolver\n"},
        {{"factor", "--in-cache"},
         "ricci: --in-cache: matrices are put back before each call, which empties the caches\n"},
        {{"conv", "--layers", ""}, "ricci: --layers: it is empty\n"},
        {{"conv", "--layers", "alexnet"}, "ricci: --layers: 'alexnet' is no layer; there are vgg16, resnet50, "},
        {{"conv", "--layers", "4x5x2^30"}, "ricci: --layers: 4x5@1073741824 with a batch of 1 is too large\n"},
        {{"conv", "--algorithms", "f8"}, "ricci: --algorithms: there is no 'f8'; there are direct, f2, f4, f6\n"},
        {{"conv", "--batch", "none"}, "ricci: --batch: 'none' is no size and no range of sizes; "},
        {{"conv", "--types", "bf16"}, "ricci: --types: layers are not measured in bf16; there are f32, f16\n"},
        {{"conv", "--peers", "blas"},
         "ricci: --peers: there is no 'blas'; there are direct, im2col, cudnn, "
         "cudnn-gemm\n"},
        {{"statement"}, "ricci: statements is required\n"},
        {{"statement", "C(i) = A(i)"}, "ricci: statement 1, column 8: 'A' is not given: add A=f64[64]"},
        {{"statement", "C(i) = A(i)", "A=f64"}, "the extents stand in brackets behind the type"},
        {{"statement", "C(i) = A(i) + B(i)", "A=f64[3]", "B=f64[4]"}, "index i has extent 3"},
    };
    for (const auto& [words, message] : wrong) {
        CAPTURE(fmt::format("{}", fmt::join(words, " ")));
        const auto o = bench(words, f);
        CHECK(o.code == 1);
        CHECK_THAT(o.err, Catch::Matchers::StartsWith("ricci: ") && Catch::Contains(message));
        CHECK(o.out.empty());
        CHECK(f.contents().empty());
    }
}

TEST_CASE("what the machine lacks is the environment's mistake, before anything is measured") {
    const folder f;
    const std::pair<std::vector<std::string>, const char*> wrong[] = {
        {{"batched", "--energy"}, ""},
        {{"batched", "--peers", "cublas"}, "ricci: cublas is a peer on a GPU\n"},
        {{"fem", "--peers", "cublas"}, "ricci: cublas is a peer on a GPU\n"},
        {{"conv", "--peers", "cudnn"}, "ricci: cudnn is a peer on a GPU\n"},
        {{"batched", "--device", "cuda:63"}, ""},
        {{"factor", "--peers", "cusolver"}, "ricci: cusolver is a peer on a GPU\n"},
    };
    for (const auto& [words, message] : wrong) {
        CAPTURE(fmt::format("{}", fmt::join(words, " ")));
        const auto o = bench(words, f);
        CHECK(o.code == 2);
        CHECK_THAT(o.err, Catch::Matchers::StartsWith("ricci: ") && Catch::Contains(message));
        CHECK(o.out.empty());
    }
}

TEST_CASE("peers of a CPU that are not there are named, and the bench goes on without them") {
    const folder f;
    const auto o =
        bench({"batched", "--sizes", "3", "--batch", "9", "--repeat", "1", "--json", "-"}, f, {"RICCI_CXX=/none"});
    INFO(o.err);
    REQUIRE(o.code == 0);
    const json report = json::parse(o.out);
    CHECK_FALSE(report["header"].contains("peak"));
    int missing = 0;
    for (const json& peer : report["header"]["peers"])
        if (const auto name = peer["name"].get<std::string>(); name == "eigen" || name == "ijk" || name == "ikj") {
            CHECK_THAT(peer["missing"].get<std::string>(),
                       Catch::Contains("no C++ compiler") || Catch::Contains("no Eigen"));
            CHECK_THAT(o.err, Catch::Contains(name + ": not there: "));
            ++missing;
        }
    CHECK(missing == 3);
    CHECK(report["rows"][0]["ratio"]["plain"] > 0);
    const auto asked = bench({"batched", "--sizes", "3", "--peers", "ikj"}, f, {"RICCI_CXX=/none"});
    CHECK((asked.code == 2 && asked.out.empty()));
    const auto cached = bench({"batched", "--sizes", "3", "--in-cache"}, f, {"RICCI_CXX=/none"});
    CHECK(cached.code == 2);
    CHECK_THAT(cached.err, Catch::Contains("there is no C++ compiler"));
}

TEST_CASE("Ctrl-C stops a bench, and what was measured is written") {
    const folder f;
    const std::string json_file = f / "out.json", table = f / "table";
    const std::string cache = "RICCI_CACHE_DIR=" + (f / "cache").string();
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        putenv(const_cast<char*>("RICCI_DEVICE=cpu"));
        putenv(const_cast<char*>(cache.c_str()));
        dup2(open(table.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), STDOUT_FILENO);
        execl(RICCI_COMMAND, RICCI_COMMAND, "bench", "batched", "--sizes", "2..128", "--bytes", "100KB", "--peers",
              "none", "--json", json_file.c_str(), nullptr);
        _exit(127);
    }
    for (int n = 0; n < 600 && read_bytes(table).find("3x3x3") == std::string::npos; ++n)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 130);
    const json report = json::parse(read_bytes(json_file));
    CHECK(report["header"]["complete"] == false);
    CHECK(report["rows"].size() >= 2);
    CHECK(report["rows"].size() < 127);
    CHECK_THAT(read_bytes(table), Catch::Matchers::EndsWith("stopped before the end\n"));
}
