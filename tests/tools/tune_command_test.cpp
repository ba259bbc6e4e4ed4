// tune_command_test: `ricci tune` as it is called, on a machine without a GPU.
#include "tests/catch.hpp"
#include "tests/tools/command.hpp"
#include "tests/tools/folder.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

using namespace ricci::tests;

namespace {

outcome tune(const folder& where, std::vector<std::string> words, const std::string& environment = {}) {
    words.insert(words.begin(), "tune");
    if (environment.empty()) return ricci_command(words, {where.path(), {}});
    return ricci_command(words, {where.path(), {environment}});
}

/// The quickest sweep that measures.
outcome tune_sizes(const folder& where, const char* sizes, const std::vector<std::string>& more,
                   const std::string& environment) {
    std::vector<std::string> words{"--sizes", sizes, "--device", "cpu", "--bytes", "10KB", "--most", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return tune(where, words, environment);
}

/// Where what is measured is kept: not in the user's own database.
std::string cache_in(const folder& where, const char* name = "cache") {
    return "RICCI_CACHE_DIR=" + (where / name).string();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("a dry run shows the candidates of a chip that is not there") {
    const folder here;
    const auto all = tune(here, {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "A=f64[8,8,50000]", "B=f64[8,8,50000]",
                                 "C=f64[8,8,50000]", "--dry-run", "--chip", "h100"});
    CHECK(all.err.empty());
    CHECK(all.code == 0);
    CHECK(all.out.starts_with("on NVIDIA H100 80GB HBM3 (sm_90), by the model:\nC(i, j, e) += A(i, k, e)*B(k, j, e) "
                              "in f64: m=8 n=8 k=8 batch=50000\n  "));
    CHECK(contains(all.out, " candidates; "));
    CHECK(contains(all.out, "; 64 left\n"));
    CHECK(contains(all.out, "  (the model's choice)\n"));
    CHECK(contains(all.out, "  and 54 more\n"));
    const auto few = tune(here, {"--sizes", "8", "--dry-run", "--chip", "a100", "--most", "3"});
    CHECK(contains(few.out, "; 3 left\n"));
    const auto every = tune(here, {"--sizes", "2", "--dry-run", "--chip", "h200", "--all"});
    CHECK_FALSE(contains(every.out, "more\n"));
    CHECK(here.contents().empty());
}

TEST_CASE("TF32 is asked for by an option or by RICCI_MATH, and has a key of its own") {
    const folder here;
    const std::vector<std::string> words{"--sizes", "32", "--types", "f32", "--dry-run", "--chip", "h100"};
    auto asked = words;
    asked.insert(asked.end(), {"--math", "tf32"});
    const auto full = tune(here, words), by_option = tune(here, asked);
    CHECK(contains(full.out, " in f32: "));
    CHECK(contains(by_option.out, " in f32 as tf32: "));
    CHECK(tune(here, words, "RICCI_MATH=tf32").out == by_option.out);
    asked.back() = "full";
    CHECK(tune(here, asked, "RICCI_MATH=tf32").out == full.out);
    const auto wrong = tune(here, words, "RICCI_MATH=fast");
    CHECK(wrong.code == 2);
    CHECK(wrong.err == "ricci: RICCI_MATH is \"fast\": expected full or tf32\n");
}

TEST_CASE("a CPU's products are tuned like a GPU's; what has no parameters is said") {
    const folder here;
    const std::vector<std::string> sweep{"--sizes", "3,6", "--types", "f64", "--device", "cpu", "--bytes", "100KB"};
    auto dry = sweep;
    dry.push_back("--dry-run");
    const auto listed = tune(here, dry).out;
    CHECK_THAT(listed, Catch::Contains("m=3 n=3 k=3 batch=463") && Catch::Contains("(the model's choice)"));
    CHECK_THAT(listed, Catch::Contains("sum unrolled"));
    CHECK_THAT(tune(here, {"--sizes", "30", "--device", "cpu", "--bytes", "100KB", "--dry-run"}).out,
               Catch::Contains(", 1 product ahead"));                   // of smaller ones not on every CPU
    CHECK_FALSE(contains(listed.substr(listed.find('\n')), "threads")); // a GPU's word
    auto exported = sweep;
    exported.insert(exported.end(), {"--export", "table.json"});
    const auto found = tune(here, exported, cache_in(here));
    CHECK(found.code == 0);
    CHECK_THAT(found.out, Catch::Contains("m=6 n=6 k=6 batch=116") && Catch::Contains("2 entries for CPU"));
    const auto atb = tune(here, {"--sizes", "4", "--form", "atb", "--device", "cpu"});
    CHECK_THAT(atb.out, Catch::StartsWith("nothing to tune: none of the kernels has parameters to choose\n"
                                          "1 statement: "));
    const auto direct = tune(here, {"C(i) = A(i)", "A=f64[9]", "--dry-run", "--chip", "h100"});
    CHECK(direct.out == "nothing to tune: none of the kernels has parameters to choose\n");
}

TEST_CASE("factorizations and solves are tuned as products are, by themselves or in a list") {
    const folder here;
    const auto dry = tune(here, {"piv(k,e), info(e) = lu(A(i,j,e), i, j)", "A=f64[16,16,9000]", "piv=i32[16,9000]",
                                 "info=i32[9000]", "--dry-run", "--chip", "h100"});
    CHECK(dry.err.empty());
    CHECK(dry.code == 0);
    CHECK_THAT(dry.out, Catch::Contains("piv(k, e), info(e) = lu(A(i, j, e), i, j) in f64: m=16 n=16 batch=9000\n") &&
                            Catch::Contains(" a matrix, ") && Catch::Contains("  (the model's choice)\n"));
    write_bytes(here / "list", "\"tau(k,e) = qr(A(i,j,e), i, j)\" A=f64[40,37,9] tau=f64[37,9]\n"
                               "cholesky_solve(A(e,i,j), i, j, X(e,j,r)) A=f32[200,5,5] X=f32[200,5,3]\n"
                               "info(e) = cholesky(A(i,j,e), i, j) A=f64[5,5,40] info=i32[40]\n");
    const auto cache = cache_in(here);
    const auto found = tune(here, {"--file", "list", "--device", "cpu", "--all", "--export", "table.json"}, cache);
    INFO(found.out);
    CHECK(found.code == 0);
    CHECK_THAT(found.out, Catch::Contains("in f64: m=40 n=37 batch=9\n") &&
                              Catch::Contains("in f32: m=5 n=5 r=3 batch=200\n") &&
                              Catch::Contains("3 statements: ") && Catch::Contains("2 entries for CPU"));
    CHECK_FALSE(contains(found.out, "refused"));
    const auto table = nlohmann::json::parse(here.contents().at("table.json"));
    CHECK(table.at("entries").at(0).at("layout") == "factor_block QR in f64 in place, A m");
    const auto explained = ricci_command(
        {"explain", "tau(k,e) = qr(A(i,j,e), i, j)", "A=f64[40,37,9]", "tau=f64[37,9]", "--device", "cpu"},
        {here.path(), {cache}});
    CHECK_THAT(explained.out, Catch::Contains("by measurements, cache hit (disk)"));
    const auto wrong =
        tune(here, {"tau(k,e) = qr(A(i,j,e), i, i)", "A=f64[4,4,9]", "tau=f64[4,9]", "--dry-run", "--chip", "h100"});
    CHECK(wrong.code == 1);
    CHECK_THAT(wrong.err, Catch::Contains("qr wants two different indices"));
}

TEST_CASE("after a list was tuned, a program of its statements compiles nothing") {
    const folder here;
    write_bytes(here / "list", // what statement_worker runs
                "A(i,j,e) = 1 A=f64[4,5,30]\n"
                "B(i,j,e) = 0.5 B=f64[5,6,30]\n"
                "C(i,j,e) = A(i,k,e)*B(k,j,e) A=f64[4,5,30] B=f64[5,6,30] C=f64[4,6,30]\n"
                "s() = C(i,j,e) C=f64[4,6,30] s=f64[]\n");
    const auto cache = cache_in(here);
    const auto first = tune(here, {"--file", "list", "--most", "3"}, cache);
    INFO(first.out);
    CHECK(first.code == 0);
    CHECK_THAT(first.out, Catch::Contains("4 statements: ") && Catch::Contains("m=4 n=6 k=5 batch=30"));
    const auto again = tune(here, {"--file", "list", "--dry-run"}, cache);
    CHECK_FALSE(contains(again.out, "statements: "));
    const auto worker = run_command({RICCI_STATEMENT_WORKER}, {here.path(), {cache}});
    CHECK(worker.err.empty());
    CHECK(worker.out == "0 1800\n");
}

TEST_CASE("the database can be exported, also an empty one") {
    const folder here;
    const auto found = tune(here, {"--export", "table.json"});
    CHECK(found.code == 0);
    CHECK(found.out.starts_with("0 entries for CPU"));
    CHECK(here.contents().at("table.json").starts_with("{\"ricci_tuning\": 1, "));
}

TEST_CASE("an export adds to the table that stands there, and refuses what is none of this chip's") {
    const folder here;
    const auto cache = cache_in(here);
    const auto sweep = [&](const char* sizes, const std::string& environment) {
        return tune_sizes(here, sizes, {"--export", "table.json"}, environment);
    };
    const auto first = sweep("3,5", cache);
    CHECK(first.code == 0);
    auto table = nlohmann::json::parse(read_bytes(here / "table.json"));
    REQUIRE(table.at("entries").size() == 2);
    table["entries"][0]["us"] = 123456.0; // 3 is measured again, 5 is not
    table["entries"][1]["us"] = 123456.0;
    write_bytes(here / "table.json", table.dump());
    const auto second = sweep("3,4", cache_in(here, "other"));
    CHECK(second.code == 0);
    CHECK_THAT(second.out, Catch::Contains("3 entries for ") &&
                               Catch::EndsWith(" in table.json: 1 that stood there, 2 measured\n"));
    std::map<int, bool> is_new;
    const auto now = nlohmann::json::parse(read_bytes(here / "table.json"));
    for (const auto& entry : now.at("entries")) is_new[entry.at("m")] = entry.at("us") != 123456.0;
    CHECK(is_new == std::map<int, bool>{{3, true}, {4, true}, {5, false}});

    const auto refused = [&](const std::string& text, const std::string& message) {
        write_bytes(here / "table.json", text);
        const auto found = sweep("3,5", cache);
        CHECK(found.code == 1);
        CHECK(found.out.empty());
        CHECK_THAT(found.err, Catch::StartsWith("ricci: --export table.json: ") && Catch::Contains(message));
        CHECK(read_bytes(here / "table.json") == text);
    };
    const std::string no_table = "what stands there is no tuning table to add to: ";
    refused("", no_table);
    refused(now.dump().substr(0, 200), no_table);
    refused("{\"ricci_tuning\": 99}", no_table + "it is of version 99");
    auto foreign = now;
    foreign["chip"] = "some other";
    refused(foreign.dump(), "that table is of some other (");
    foreign = now, foreign["architecture"] = "sm_90";
    refused(foreign.dump(), " (sm_90), and this chip is ");
}

TEST_CASE("where the database takes nothing, tuning needs a file for what it finds") {
    const folder here;
    for (const std::string& lacking :
         {std::string("RICCI_CACHE_SIZE=0"), std::string("RICCI_CACHE_DIR=/proc/nope")}) {
        CAPTURE(lacking);
        const auto with = [&](const std::vector<std::string>& more) { return tune_sizes(here, "5", more, lacking); };
        const auto refused = with({});
        CHECK(refused.code == 1);
        CHECK(refused.out.empty());
        CHECK_THAT(refused.err,
                   Catch::StartsWith("ricci: what is measured could not be kept (") &&
                       Catch::EndsWith("): mend that, or give --export or --json to have it in a file\n"));
        CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
        CHECK(with({"--dry-run"}).code == 0);
        const auto exported = with({"--export", "table.json"});
        CHECK(exported.code == 0);
        CHECK_THAT(exported.out, Catch::Contains("1 entry for "));
        const std::string warning =
            "ricci: what is measured is in --export's file alone, and no later run takes it (";
        CHECK(contains(exported.err, warning));
        CHECK(exported.err.find(warning) == exported.err.rfind("ricci: what is measured"));
        CHECK(contains(with({"--json", "timings"}).err, "is in --json's file alone"));
        std::filesystem::remove(here / "table.json");
    }
}

TEST_CASE("what programs read goes to the standard output, and the rest to the other") {
    const folder here;
    const auto with = [&](const char* option) {
        return tune_sizes(here, "5", {"--tolerance", "5%", option, "-"}, cache_in(here));
    };
    const auto timings = with("--json");
    CHECK(timings.code == 0);
    std::istringstream lines(timings.out);
    for (std::string line; std::getline(lines, line);) CHECK(nlohmann::json::accept(line));
    CHECK_THAT(timings.err, Catch::Contains("m=5 n=5 k=5 batch=17") && Catch::Contains("tolerance  kernels"));
    const auto exported = with("--export");
    CHECK(nlohmann::json::parse(exported.out).at("entries").size() == 1);
    CHECK(contains(exported.err, "1 entry for "));
    CHECK_FALSE(std::filesystem::exists(here / "-"));
}

TEST_CASE("mistakes in calling it have one message each") {
    const folder here;
    write_bytes(here / "list",
                "\"C(i,j,e) = A(i,k,e)*B(k,j,e)\" A=f64[8,8,9] B=f64[8,8,9]\n\"C(i) = A(i\" A=f64[8]\n");
    const auto refused = [&](const std::vector<std::string>& words, const std::string& message) {
        const auto found = tune(here, words);
        CHECK(found.out.empty());
        CHECK(contains(found.err, message));
        CHECK(found.err.starts_with("ricci: "));
        CHECK(found.code == 1);
    };
    refused({}, "nothing to tune: give a statement with its operands, --file or --sizes");
    refused({"C(i) = A(i)", "A=f64[9]", "--sizes", "8"},
            "a statement, --file and --sizes are three ways to say what to tune: give one");
    refused({"--types", "f32"}, "--types requires --sizes");
    refused({"--sizes", "0"}, "'0' is no size");
    refused({"--sizes", "8", "--most", "0"}, "'0' is no number from 1 to");
    refused({"--sizes", "8", "--tolerance", "x"}, "--tolerance x: expected a percentage");
    refused({"--sizes", "8", "--chip", "h100"}, "--chip says what the model is to think of: it goes with --dry-run");
    refused({"--sizes", "8", "--chip", "mi300", "--dry-run"}, "--chip mi300: known are a100, h100, h200");
    refused({"--sizes", "8", "--device", "gpu"}, "no device is named \"gpu\"");
    refused({"--sizes", "8", "--math", "half"}, "--math: no math is named \"half\": expected full or tf32");
    refused({"--sizes", "8", "--json", "x", "--dry-run"}, "--dry-run excludes --json");
    refused({"--sizes", "8", "--tolerance", "5%", "--dry-run"}, "--dry-run excludes --tolerance");
    refused({"--file", "nothing"}, "--file nothing: cannot be read");
    refused({"--file", "list", "--dry-run", "--chip", "h100"}, "ricci: list, line 2: ");
    refused({"--sizes", "", "--types", "f32"}, "--sizes: it is empty");
    refused({"--sizes", "8", "--json", "x", "--export", "./x"}, "--json and --export are both ./x: give each a file");
    refused({"--sizes", "8", "--json", "-", "--export", "-"},
            "--json and --export cannot both go to the standard output");
    refused({"C(i) = A(j)", "A=f64[9]", "--dry-run", "--chip", "h100"}, "C(i) = A(j)");
    refused({"C(i) = A(i)"}, "'A' is not given: add A=");
    refused({"--sizes", "8", "--json", "/nowhere/at/all"}, "/nowhere/at");
    refused({"--sizes", "8", "--export", "/nowhere/at/all"}, "/nowhere/at");
}

TEST_CASE("its help has examples, and says what Ctrl-C does") {
    const folder here;
    const auto help = tune(here, {"--help"});
    CHECK(help.code == 0);
    CHECK(contains(help.out, "ricci tune --sizes 1..32 --types f64,f32"));
    CHECK(contains(help.out, "130"));
}
