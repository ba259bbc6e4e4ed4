// command_test: the subcommands that need no data, and help.
#include "tests/catch.hpp"
#include "tests/tools/command.hpp"
#include "tests/tools/folder.hpp"
#include "tests/tools/npy_files.hpp"

#include <fmt/format.h>

using namespace ricci::tests;

namespace {

outcome command(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {}) {
    static const folder f;
    return ricci_command(arguments, {f.path(), environment});
}

} // namespace

TEST_CASE("every help shows an example") {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"},
                                                  {"run", "--help"},
                                                  {"explain", "-h"},
                                                  {"bench", "--help"},
                                                  {"bench", "batched", "--help"},
                                                  {"bench", "tall-skinny", "--help"},
                                                  {"bench", "statement", "--help"},
                                                  {"tune", "--help"},
                                                  {"cache", "--help"},
                                                  {"cache", "path", "--help"},
                                                  {"cache", "list", "--help"},
                                                  {"cache", "clear", "--help"},
                                                  {"doctor", "--help"}}) {
        CAPTURE(fmt::format("{}", fmt::join(words, " ")));
        const auto o = command(words);
        CHECK(o.code == 0);
        CHECK_THAT(o.out,
                   (Catch::Contains("Example") && Catch::Contains("  ricci")) || Catch::Contains("Example: ricci"));
    }
    CHECK_THAT(command({"--version"}).out, Catch::Contains("ricci 0."));
}

TEST_CASE("wrong usage ends with 1") {
    for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                  {"frobnicate"},
                                                  {"run"},
                                                  {"explain"},
                                                  {"cache"},
                                                  {"cache", "burn"},
                                                  {"doctor", "now"}}) {
        CAPTURE(fmt::format("{}", fmt::join(words, " ")));
        const auto o = command(words);
        CHECK(o.code == 1);
        CHECK_FALSE(o.err.empty());
        CHECK(o.out.empty());
    }
}

TEST_CASE("wrong usage is named, behind the program's name") {
    const std::pair<std::vector<std::string>, const char*> wrong[] = {
        {{}, "ricci: a subcommand is missing; there are run, explain, bench, tune, cache, doctor\n"},
        {{"bogus"}, "ricci: 'bogus' is no subcommand; there are run, explain, bench, tune, cache, doctor\n"},
        {{"cache", "frob"}, "ricci: 'frob' is no subcommand; there are path, list, clear\n"},
        {{"cache"}, "ricci: a subcommand is missing; there are path, list, clear\n"},
        {{"run", "c = 1", "--time", "x"}, "ricci: --time: 'x' is no number from 1 to 1000000\n"},
        {{"run", "c = 1", "--time", "0"}, "ricci: --time: '0' is no number from 1 to 1000000\n"},
        {{"run", "c = 1", "--time", "3x"}, "'3x' is no number"},
        {{"run"}, "ricci: statements is required\n"},
        {{"doctor", "now"}, "now\n"},
    };
    for (const auto& [words, message] : wrong) {
        CAPTURE(fmt::format("{}", fmt::join(words, " ")));
        const auto o = command(words);
        CHECK(o.code == 1);
        CHECK_THAT(o.err, Catch::Matchers::StartsWith("ricci: ") && Catch::Contains(message) &&
                              Catch::Matchers::EndsWith("\nRun with --help for more information.\n"));
    }
}

TEST_CASE("output that does not arrive is the environment's mistake") {
    if (!std::filesystem::exists("/dev/full")) return;
    const folder f;
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"run", "c(i(0,5)) = 2", "c=c.npy"}, {"cache", "path"}, {"--help"}}) {
        CAPTURE(words[0]);
        const auto o = ricci_command(words, {f.path(), {}, 0, "/dev/full"});
        CHECK(o.code == 2);
        CHECK_THAT(o.err, Catch::Contains("ricci: the standard output cannot be written: No space left on device\n"));
    }
    CHECK(ricci_command({"run", "c(i) = 2", "c=d.npy"}, {f.path(), {}, 0, "/dev/full"}).code == 1);
}

TEST_CASE("explain takes types and extents from files too") {
    const folder f;
    write_array(f / "a.npy", {7, 5}, counting(35));
    const auto o =
        ricci_command({"explain", "C(i,j) = A(i,k)*B(k,j)", "A=a.npy", "B=f64[5,3]", "C=none.npy"}, {f.path(), {}});
    INFO(o.err);
    CHECK(o.code == 0);
    CHECK_THAT(o.out, Catch::Contains("statement: C(i, j) = A(i, k)*B(k, j)"));
    CHECK(f.contents().size() == 1);
    const auto none = ricci_command({"explain", "C(i,j) = A(i,j)", "A=none.npy"}, {f.path(), {}});
    CHECK(none.code == 1);
    CHECK_THAT(none.err, Catch::Contains("'A' is read here, but there is no file none.npy"));
}

TEST_CASE("explain needs types and extents only") {
    const auto paper =
        command({"explain", "A(i, j, m(1, 9), n(1, 8)) -= A(i, k, m, 0)*A(k, j, 0, n)", "A=f64[64,64,9,8]"});
    CHECK(paper.code == 0);
    CHECK_THAT(paper.out, Catch::Contains("statement: A(i, j, m(1, 9), n(1, 8)) -= A(i, k, m, 0)*A(k, j, 0, n)") &&
                              Catch::Contains("choose_form"));
    // 128 TB of operands, results made on the way, f16 and bf16, any blanks
    const auto large = command({"explain", "T(i,e) = A(i,k)*B(k,e); C(e) = T(i,e); s = h(i)*b(i)", "A=f32[8, 8]",
                                "B=f32[8,4000000000000]", "h=f16[9]", "b=bf16[9]"});
    CHECK(large.code == 0);
    CHECK_THAT(large.out, Catch::Contains("statement: C(e) = T(i, e)") && Catch::Contains("4000000000000"));
    CHECK(command({"explain", "s = x()", "x=c128[]"}).code == 0);
    const auto filled = command({"explain", "y(n(0,500)) = 0; y(l(i,e)) += w(i,e)", "l=i32[4,400]", "w=f64[4,400]"});
    CHECK(filled.code == 0);
    CHECK_THAT(filled.out, Catch::Contains("step 1 sets what step 2 adds to: one pass does both"));

    const std::pair<std::vector<std::string>, const char*> wrong[] = {
        {{"C(i) = A(i)"}, "'A' is not given: add A=f64[64]\n"},
        {{"C(i,j) = A(i,k)*B(k,j)", "A=f64[64,64]"}, "'B' is not given: add B=f64[64,64]\n"},
        {{"c = s"}, "'s' is not given: add s=f64[]\n"},
        {{"C(i) = A(p(i))", "A=f64[3]"}, "'p' is not given: add p=i32[64]\n"},
        {{"y(n(0,N)) = 0", "N=f64[]"},
         "'n' is not given: add n=i32[64,64]; or, if 'n' is an index, write integers for"},
        {{"y(l(i)) += w(i)", "l=i32[9]", "w=f64[9]"}, "added to it; set it first, as in 'y(n(0, 100)) = 0'"},
        {{"D(i) = A(i); C(i) = A(i) + B(i)", "A=f64[3]", "B=f64[4]"},
         "ricci: statement 2, column 3: index i has extent 3 in position 1 of A and 4 in position 1 of B"},
        {{"w(i) = x(i); y(i(0,9)) = w(i+1)", "x=f64[9]"}, "ricci: statement 2: i(0, 9) + 1 in position 1 of w runs"},
        {{"C(i) = A(i)", "A=f64"},
         "A=f64: the extents stand in brackets behind the type; write it like A=f64[64,64,9,8]"},
        {{"C(i) = A(i)", "A=i16[3]"},
         "'i16' is none of f16, bf16, f32, f64, c64 and c128, for index tables i32 and i64"},
        {{"C(i) = A(i)", "A=[3]"}, "'' is none of"},
        {{"C(i) = A(i)", "A=f64[3"}, "brackets"},
        {{"C(i) = A(i)", "A=f64[3,]"}, "'' is no extent"},
        {{"C(i) = A(i)", "A=f64[-3]"}, "'-3' is no extent"},
        {{"C(i) = A(i)", "A=f64[3x]"}, "'3x' is no extent"},
        {{"C(i) = A(i)", "A=f64[99999999999999999999]"}, "an extent does not fit in 64 bits"},
        {{"C(i) = A(i)", "A=f64[4000000000,4000000000]"}, "its size does not fit in 64 bits"},
        {{"C(i) = A(i) + B(i)", "A=f64[900000000000000000]", "B=f64[900000000000000000]"},
         "do not fit in an address space"},
        {{"C(i) = A(i) + B(i)", "A=f64[3]", "B=f64[4]"}, "index i has extent 3"},
        {{"C(i) = A(i)", "A=f64[3]", "B=f64[4]"}, "'B' is given, but no statement uses it"},
        {{"C(i) += A(i)", "A=f64[3]"}, "'C' does not exist"},
        {{"X(j,r,e) = solve(A(i,j), i, j, B(i,r,e))", "A=f64[3,3,4]", "B=f64[3,2,4]"},
         "statement 1, column 18: 'A' has 3 axes, not 2"},
        {{"info(f) = cholesky(A(i,j,e), i, j)", "A=f64[3,3,4]"},
         "'info' does not exist, and its index f is none of A's"},
        {{"X(j,r,e) = inverse(A(i,j,e), i, j)", "A=f64[3,3,4]"},
         "'X' does not exist, and its index r is none of A's"},
        {{"piv(k,e) = lu(A(e,i,2*j), i, j)", "A=f64[3,3,4]"}, "nothing says how far index j runs: write j(0, n)"},
        {{"Q(i,l,e) = form_q(A(i,j,e), i, j, tau(k,e))", "A=f64[3,3,4]", "tau=f64[3,4]"},
         "'Q' does not exist, and nothing says how far its index l runs: write l(0, n)"},
        {{"X(j,e) = lu_solve(A(i,j,e), i, j, piv(k,e), B(i,e))", "A=f64[3,3,4]", "B=f64[3,4]"},
         "'piv' is not given: add piv=i32[64,64]"},
    };
    for (const auto& [words, message] : wrong) {
        CAPTURE(fmt::format("{}", fmt::join(words, " ")));
        std::vector<std::string> arguments{"explain"};
        arguments.insert(arguments.end(), words.begin(), words.end());
        const auto o = command(arguments);
        CHECK(o.code == 1);
        CHECK_THAT(o.err, Catch::Contains(message));
        CHECK(o.out.empty());
    }
}

TEST_CASE("the cache is shown and cleared") {
    const folder f;
    const std::vector<std::string> cache{"RICCI_CACHE_DIR=" + (f / "kernels").string()};
    CHECK(command({"cache", "path"}, cache).out == (f / "kernels").string() + "\n");
    const auto none = command({"cache", "list"}, cache);
    CHECK(none.code == 0);
    CHECK(none.out == "0 kernels, 0 bytes\n");
    const auto run = ricci_command({"run", "c(i(0,5)) = 2", "c=c.npy"}, {f.path(), cache});
    INFO(run.err);
    REQUIRE(run.code == 0);
    const std::string list = command({"cache", "list"}, cache).out;
    CHECK_THAT(list, Catch::Matchers::StartsWith("hash ") && Catch::Contains("\n1 kernel, ") &&
                         Catch::Contains("ricci_") && !Catch::Contains("-O3"));
    const std::string row =
        list.substr(list.find('\n') + 1, list.find('\n', list.find('\n') + 1) - list.find('\n') - 1);
    CHECK(row.size() < 100);
    CHECK(row.find(' ') == 12);
    CHECK_FALSE(row.ends_with(' '));
    const std::string verbose = command({"cache", "list", "--verbose"}, cache).out;
    CHECK_THAT(verbose, Catch::Contains("\n" + row.substr(0, 12)) && Catch::Contains(" -O3 "));
    CHECK(command({"cache", "clear"}, cache).out == "1 kernel removed\n");
    CHECK(command({"cache", "list"}, cache).out == "0 kernels, 0 bytes\n");
    CHECK(command({"cache", "clear"}, cache).out == "0 kernels removed\n");
}

TEST_CASE("a cache that cannot be used is the environment's mistake, and only the cache commands need it") {
    const folder f;
    write_bytes(f / "file", "");
    const std::vector<std::string> broken{"RICCI_CACHE_DIR=" + (f / "file").string()};
    const auto list = command({"cache", "list"}, broken);
    CHECK(list.code == 2);
    CHECK_THAT(list.err, Catch::Contains("is not used"));
    CHECK(command({"cache", "clear"}, broken).code == 2);
    const auto none = command({"cache", "path"}, {"RICCI_CACHE_DIR=", "XDG_CACHE_HOME=", "HOME="});
    CHECK(none.code == 2);
    CHECK_THAT(none.err, Catch::Contains("there is no cache directory"));
    CHECK(ricci_command({"run", "c(i(0,5)) = 2", "c=c.npy"}, {f.path(), broken}).code == 0);
}

TEST_CASE("doctor says what is there, and what to do where it is not") {
    const auto good = command({"doctor"});
    INFO(good.out);
    CHECK(good.code == 0);
    CHECK_THAT(good.out, Catch::Contains("C++ compiler") && Catch::Contains("kernel cache") &&
                             Catch::Contains("default device: cpu"));
    const auto bad = command({"doctor"}, {"RICCI_CXX=/none/c++"});
    INFO(bad.out);
    CHECK(bad.code == 2);
    CHECK_THAT(bad.out, Catch::Contains("WRONG    C++ compiler") && Catch::Contains("to do: "));
    CHECK(command({"doctor"}, {"RICCI_DEVICE=toaster"}).code == 2);
    for (const char* wrong : {"RICCI_NUM_THREADS=abc", "RICCI_CACHE_SIZE=foo", "RICCI_CACHE_DIR=/proc/x"}) {
        const auto o = command({"doctor"}, {wrong});
        CAPTURE(wrong, o.out);
        CHECK(o.code == 2);
        CHECK_THAT(o.out, Catch::Contains("WRONG ") && Catch::Contains("to do: "));
    }
}

TEST_CASE("a device that is not there is the environment's mistake") {
    const auto o = command({"explain", "C(i) = A(i)", "A=f64[3]", "--device", "cuda:63"});
    CHECK(o.code == 2);
    CHECK_FALSE(o.err.empty());
}
