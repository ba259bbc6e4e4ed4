// tuning_list_test: what `ricci tune` reads, shows and sums up; all but the measuring.
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"
#include "tests/tools/folder.hpp"
#include "tools/kernel_cover.hpp"
#include "tools/progress.hpp"
#include "tools/shapes.hpp"
#include "tools/tuning_list.hpp"
#include "tools/tuning_run.hpp"

#include "tests/bound_text.hpp"

#include <fmt/ranges.h>

using namespace ricci;
using namespace ricci::tools;
using ricci::test::message_of;

namespace {

std::string shown(const std::vector<tuning_request>& requests) {
    std::string out;
    for (const auto& r : requests) out += fmt::format("{} | {}\n", r.statements, fmt::join(r.operands, " "));
    return out;
}

std::string list(const std::string& text) {
    const tests::folder folder;
    tests::write_bytes(folder / "list", text);
    auto out = message_of([&] { throw error(shown(read_tuning_list(folder / "list"))); });
    const auto path = (folder / "list").string();
    for (auto at = out.find(path); at != out.npos; at = out.find(path)) out.replace(at, path.size(), "list");
    return out;
}

sweep sizes(const std::string& words) {
    sweep out;
    out.sizes = words;
    out.bytes = "1MB";
    return out;
}

} // namespace

TEST_CASE("a sweep is statements") {
    CHECK(shown(expand(sizes("2..3,4x5x6"))) ==
          "C(i,j,e) += A(i,k,e)*B(k,j,e) | C=f64[2,2,10417] A=f64[2,2,10417] B=f64[2,2,10417]\n"
          "C(i,j,e) += A(i,k,e)*B(k,j,e) | C=f64[3,3,4630] A=f64[3,3,4630] B=f64[3,3,4630]\n"
          "C(i,j,e) += A(i,k,e)*B(k,j,e) | C=f64[4,5,1689] A=f64[4,6,1689] B=f64[6,5,1689]\n");
    auto s = sizes("4x5x6");
    s.types = "f16:f32,c64", s.transpose = "TN,NT", s.assignments = "=";
    CHECK(shown(expand(s)) == "C(i,j,e) = A(k,i,e)*B(k,j,e) | C=f32[4,5,5319] A=f16[6,4,5319] B=f16[6,5,5319]\n"
                              "C(i,j,e) = A(i,k,e)*B(j,k,e) | C=f32[4,5,5319] A=f16[4,6,5319] B=f16[5,6,5319]\n"
                              "C(i,j,e) = A(k,i,e)*B(k,j,e) | C=c64[4,5,1689] A=c64[6,4,1689] B=c64[6,5,1689]\n"
                              "C(i,j,e) = A(i,k,e)*B(j,k,e) | C=c64[4,5,1689] A=c64[4,6,1689] B=c64[5,6,1689]\n");
    s = sizes("4x5x6");
    s.forms = "interleaved,atb,ab", s.transpose = "TN";
    CHECK(shown(expand(s)) == "C(e,i,j) += A(e,k,i)*B(e,k,j) | C=f64[1689,4,5] A=f64[1689,6,4] B=f64[1689,6,5]\n"
                              "C(i,j) += A(k,i)*B(k,j) | C=f64[4,5] A=f64[13889,4] B=f64[13889,5]\n"
                              "C(i,j) += A(k,i)*B(k,j) | C=f64[11364,5] A=f64[6,11364] B=f64[6,5]\n");
    s = sizes("64");
    s.bytes = "1";
    CHECK(shown(expand(s)) == "C(i,j,e) += A(i,k,e)*B(k,j,e) | C=f64[64,64,1] A=f64[64,64,1] B=f64[64,64,1]\n");
}

TEST_CASE("every statement of a sweep can be lowered, and has kernels to choose from") {
    auto s = sizes("3,17x5x9");
    s.types = "f64,f32,f16,c64,c128,f16:f32", s.transpose = "NN,NT,TN,TT", s.forms = "batched,interleaved,atb,ab",
    s.bytes = "200MB", s.assignments = "=,-=";
    const auto requests = expand(s);
    CHECK(requests.size() == 2 * 6 * 4 * 4 * 2);
    const auto jobs = work_of(requests, tests::some_gpu(), cpu()).jobs.size();
    CHECK(jobs == requests.size());
    s.types = "bf16," + s.types; // it uses what half has
    CHECK(work_of(expand(s), tests::some_gpu(), cpu()).jobs.size() == jobs);
    CHECK(work_of(requests, tests::some_cpu(), cpu()).jobs.size() == jobs / 4 * 3); // A^T B has no parameters
}

TEST_CASE("equal keys are tuned once; statements without kernels to choose from not at all") {
    auto request = expand(sizes("5")).front();
    auto again = request;
    again.statements += "; D(i) = C(i,2,3); C(i,j,e) -= A(i,k,e)*B(k,j,e)";
    const auto jobs = work_of({request, again}, tests::some_gpu(), cpu()).jobs;
    REQUIRE(jobs.size() == 1);
    CHECK(jobs[0].name == "C(i, j, e) += A(i, k, e)*B(k, j, e) in f64: m=5 n=5 k=5 batch=1667");
}

TEST_CASE("a list of statements") {
    CHECK(list("# all that the solver does\n"
               "\"C(i,j,e) += A(i,k,e)*B(k,j,e)\" A=f64[8,8,9] B=f64[8,8,9]   C=f64[8,8,9] # the hot one\n"
               "\n"
               "T(i,j) = A(i,k)*B(k,j); D(i) = T(i,i) A=f32[2000,8] B=b.npy\n") ==
          "C(i,j,e) += A(i,k,e)*B(k,j,e) | A=f64[8,8,9] B=f64[8,8,9] C=f64[8,8,9]\n"
          "T(i,j) = A(i,k)*B(k,j); D(i) = T(i,i) | A=f32[2000,8] B=b.npy\n");
    CHECK(list("").starts_with("--file list: holds no statement"));
    CHECK(list("A=f64[8]\n").starts_with("list, line 1: there is no statement; write it like \"C(i,j,e)"));
    CHECK(list("\n\"C(i) = A(i)\n").starts_with("list, line 2: the statement's second quote is missing"));
    CHECK(list("C(i) = A(i)\n").starts_with("list, line 1: there are no operands"));
    CHECK(list("C(i) = A(i) A=f64[8] oops\n").starts_with("list, line 1: 'oops' is no operand"));
    CHECK(list("\"C(i) = A(i)\" A=f64[8, 9]\n").starts_with("list, line 1: '9]' is no operand"));
    CHECK(message_of([] { read_tuning_list("/nowhere/at/all"); }) == "--file /nowhere/at/all: cannot be read");
}

TEST_CASE("mistakes in a sweep have one message each") {
    const auto refused = [](const auto& change) {
        auto s = sizes("8");
        change(s);
        return message_of([&] { expand(s); });
    };
    CHECK(refused([](sweep& s) { s.sizes = "0"; }) ==
          "--sizes 0: '0' is no size from 1 to 4096; write it like 1..32 or 8,16,24x8x4");
    CHECK(refused([](sweep& s) { s.sizes = "1..x"; }) ==
          "--sizes 1..x: 'x' is no size from 1 to 4096; write it like 1..32 or 8,16,24x8x4");
    CHECK(refused([](sweep& s) { s.sizes = "9..3"; }) == "--sizes 9..3: 9 is more than 3");
    CHECK(refused([](sweep& s) { s.sizes = "8x9"; }) ==
          "--sizes 8x9: '8x9' is neither N nor MxNxK; write it like 1..32 or 8,16,24x8x4");
    CHECK(refused([](sweep& s) { s.sizes = "8,"; }) ==
          "--sizes 8,: '' is no size from 1 to 4096; write it like 1..32 or 8,16,24x8x4");
    CHECK(refused([](sweep& s) { s.types = "f64,int"; }) ==
          "--types f64,int: 'int' is none of f16, bf16, f32, f64, c64 and c128, nor two of them like f16:f32");
    CHECK(refused([](sweep& s) { s.transpose = "NN,N"; }) == "--transpose NN,N: 'N' is none of NN, NT, TN, TT");
    CHECK(refused([](sweep& s) { s.forms = "long"; }) ==
          "--form long: 'long' is none of batched, interleaved, atb, ab");
    CHECK(refused([](sweep& s) { s.assignments = "*="; }) == "--assign *=: '*=' is none of =, +=, -=");
    for (const char* bytes : {"", "x", "0", "-1", "1XB", "1e99", "nan"})
        CHECK(refused([&](sweep& s) { s.bytes = bytes; }) ==
              fmt::format("--bytes {}: expected bytes, like 1GB, 256MB or 4KiB", bytes));
    CHECK(parse_bytes("1.5GB", "") == 1.5e9);
    CHECK(parse_bytes("4KiB", "") == 4096);
    CHECK(parse_percentage("5%", "") == 0.05);
    CHECK(parse_percentage("0", "") == 0);
    for (const char* percentage : {"", "%", "x%", "-1%", "101", "5%%"})
        CHECK(message_of([&] { parse_percentage(percentage, "--tolerance"); }) ==
              fmt::format("--tolerance {}: expected a percentage from 0% to 100%, like 5%", percentage));
}

TEST_CASE("the fewest kernels within a tolerance") {
    const pattern_times times{{{"a", 100}, {"b", 104}, {"c", 130}},
                              {{"a", 120}, {"b", 100}, {"c", 130}},
                              {{"b", 109}, {"c", 100}},
                              {},
                              {{"a", 50}, {"c", 55}}};
    const auto exact = cover(times, 0);
    CHECK(exact.patterns == std::vector<std::string>{"a", "b", "c"});
    CHECK(exact.worst == 0);
    CHECK(cover(times, 0.05).patterns == std::vector<std::string>{"a", "b", "c"});
    const auto ten = cover(times, 0.1);
    CHECK(ten.patterns ==
          std::vector<std::string>{"b", "a"}); // b serves three sizes, a is the best of the one that is left
    CHECK(ten.worst == Approx(0.09));
    CHECK(ten.mean == Approx(0.09 / 4));
    CHECK(cover({}, 0.1).patterns.empty());
    CHECK(trade_off(times) == "tolerance  kernels  worst loss  mean loss\n"
                              "       0%        3        0.0%       0.0%\n"
                              "       1%        3        0.0%       0.0%\n"
                              "       2%        3        0.0%       0.0%\n"
                              "       5%        3        0.0%       0.0%\n"
                              "      10%        2        9.0%       2.3%\n"
                              "      20%        2        9.0%       2.3%\n");
}

TEST_CASE("patterns: tiles of different sizes that are the same kernel but for the size") {
    const auto step_of = [](int n) {
        return work_of(expand(sizes(std::to_string(n))), tests::some_gpu(), cpu()).jobs.at(0).step();
    };
    lowering::batched_tile t;
    t.tile_m = 2, t.tile_n = 4, t.products = 16;
    const auto pattern = pattern_of(step_of(8), t, lowering::target::cuda);
    CHECK(pattern == "fma 2x4, 128 threads, 24 KB");
    t.products = 13; // 24 KB of 9 x 9 too
    t.k_unrolled = 4;
    CHECK(pattern_of(step_of(9), t, lowering::target::cuda) == pattern);
    t.products = 30;
    CHECK(pattern_of(step_of(9), t, lowering::target::cuda) == "fma 2x4, 128 threads, 60 KB");
}

TEST_CASE("progress: how far, and how long it will take") {
    CHECK(shown_time(7.4) == "0:07");
    CHECK(shown_time(754) == "12:34");
    CHECK(shown_time(3723) == "1:02:03");
    CHECK(shown_time(-1) == "0:00");
    progress::clock::time_point now{};
    const auto clock = [&] { return now; };
    progress bar(8, true, clock), lines(8, false, clock);
    CHECK(bar.line(0, 0, "first").empty()); // too early
    now += std::chrono::seconds(30);
    CHECK(bar.line(1, 0.6, "a name") == "[######........................] 1/8, 2:00 left  a name");
    CHECK(bar.line(1, 0.7, "a name").empty());
    CHECK(lines.line(2, 0, "a name") == "ricci: 2 of 8 done, 1:30 left");
    now += std::chrono::seconds(5);
    CHECK(lines.line(3, 0, "a name").empty());
    CHECK(bar.line(0, 0, "a name") == "[..............................] 0/8, ?:?? left  a name");
    now += std::chrono::seconds(5);
    CHECK(bar.line(8, 0.5, std::string(100, 'x')) ==
          "[##############################] 8/8, 0:00 left  " + std::string(36, 'x'));
}
