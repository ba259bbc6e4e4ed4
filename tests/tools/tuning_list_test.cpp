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

#include <algorithm>
#include <bit>

using namespace ricci;
using namespace ricci::tools;
using ricci::test::contains;
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
    s = sizes("2..6:4");
    s.types = "c64", s.transpose = "CN,TC", s.forms = "batched,atb", s.bytes = "4KiB";
    CHECK(shown(expand(s)) == "C(i,j,e) += conj(A(k,i,e))*B(k,j,e) | C=c64[2,2,43] A=c64[2,2,43] B=c64[2,2,43]\n"
                              "C(i,j,e) += conj(A(k,i,e))*B(k,j,e) | C=c64[6,6,5] A=c64[6,6,5] B=c64[6,6,5]\n"
                              "C(i,j,e) += A(k,i,e)*conj(B(j,k,e)) | C=c64[2,2,43] A=c64[2,2,43] B=c64[2,2,43]\n"
                              "C(i,j,e) += A(k,i,e)*conj(B(j,k,e)) | C=c64[6,6,5] A=c64[6,6,5] B=c64[6,6,5]\n"
                              "C(i,j) += conj(A(k,i))*B(k,j) | C=c64[2,2] A=c64[128,2] B=c64[128,2]\n"
                              "C(i,j) += conj(A(k,i))*B(k,j) | C=c64[6,6] A=c64[43,6] B=c64[43,6]\n"
                              "C(i,j) += A(k,i)*conj(B(j,k)) | C=c64[2,2] A=c64[128,2] B=c64[2,128]\n"
                              "C(i,j) += A(k,i)*conj(B(j,k)) | C=c64[6,6] A=c64[43,6] B=c64[6,43]\n");
    s.types = "f64";
    CHECK(work_of(expand(s), tests::some_gpu(), cpu()).jobs.size() > 0); // of real numbers conj is nothing
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

TEST_CASE("what a kernel's job is called tells types apart") {
    auto s = sizes("8");
    s.types = "f16,f16:f32,f64";
    std::vector<std::string> names;
    for (const auto& job : work_of(expand(s), tests::some_gpu(), cpu()).jobs)
        names.push_back(job.name.substr(job.name.find(" in ")));
    CHECK(names == std::vector<std::string>{" in f16: m=8 n=8 k=8 batch=2604", " in f16:f32: m=8 n=8 k=8 batch=1953",
                                            " in f64: m=8 n=8 k=8 batch=651"});
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
    const std::string sizes_help = "; write it like 1..32, 1..128:3, 2^3..2^6:*2 or 8,16,24x8x4 (m x n x k)";
    for (const char* word : {"0", "1..x", "9..3", "8x9"})
        CHECK(refused([&](sweep& s) { s.sizes = word; }) ==
              fmt::format("--sizes: '{}' is no size, no shape and no range of sizes{}", word, sizes_help));
    CHECK(refused([](sweep& s) { s.sizes = "8,"; }) ==
          "--sizes: '' is no size, no shape and no range of sizes" + sizes_help);
    CHECK(refused([](sweep& s) { s.sizes = "8,4x2^13x4"; }) ==
          "--sizes: 8192 is more than 4096, the largest size of a sweep");
    CHECK(contains(refused([](sweep& s) { s.types = "f64,int"; }), "--types: 'int' is no type; there are "));
    CHECK(contains(refused([](sweep& s) { s.types = "c64:f32"; }), "'c64:f32' would store complex sums as real"));
    CHECK(contains(refused([](sweep& s) { s.transpose = "NN,N"; }), "--transpose: 'N' is no pair of transpositions"));
    CHECK(refused([](sweep& s) { s.forms = "long"; }) ==
          "--form: there is no 'long'; there are batched, interleaved, atb, ab");
    CHECK(refused([](sweep& s) { s.assignments = "*="; }) == "--assign: there is no '*='; there are =, +=, -=");
    for (const char* bytes : {"", "x", "0", "-1", "1XB", "1e99", "nan"})
        CHECK(refused([&](sweep& s) { s.bytes = bytes; }) ==
              fmt::format("--bytes: '{}' is no number of bytes; write it like 2GB, 1.5MB, 4KiB or 4096", bytes));
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
    CHECK(trade_off(times, 0.2) == "tolerance  kernels  worst loss  mean loss\n"
                                   "       0%        3        0.0%       0.0%\n"
                                   "       1%        3        0.0%       0.0%\n"
                                   "       2%        3        0.0%       0.0%\n"
                                   "       5%        3        0.0%       0.0%\n"
                                   "      10%        2        9.0%       2.3%\n"
                                   "      20%        2        9.0%       2.3%\n");
}

TEST_CASE("the fewest kernels are the fewest, where taking the one that serves the most first takes more") {
    // "most" serves four of six sizes, and then two more are needed; "odd" and "even" serve three each.
    const pattern_times times{{{"most", 1}, {"odd", 1}},
                              {{"most", 1}, {"even", 1}},
                              {{"most", 1}, {"odd", 1}},
                              {{"most", 1}, {"even", 1}},
                              {{"odd", 1}},
                              {{"even", 1}}};
    const auto kept = cover(times, 0);
    CHECK(kept.patterns == std::vector<std::string>{"even", "odd"});
    CHECK(kept.is_fewest);
    // 40 sizes, each with 4 of 24 patterns: as few as no smaller set of patterns serves them, or said not to be sure.
    pattern_times many(40);
    for (std::size_t n = 0; n < many.size(); ++n)
        for (std::size_t p = 0; p < 4; ++p)
            many[n][std::string(1, static_cast<char>('a' + (7 * n * n + 5 * n * p + p * p * p + p) % 24))] = 1;
    const auto found = cover(many, 0);
    REQUIRE(found.is_fewest);
    std::vector<unsigned> masks;
    for (const auto& row : many) {
        auto& mask = masks.emplace_back(0u);
        for (const auto& [pattern, seconds] : row) mask |= 1u << (pattern[0] - 'a');
    }
    std::size_t least = 24;
    for (unsigned set = 0; set < 1u << 24; ++set)
        if (const auto count = static_cast<std::size_t>(std::popcount(set));
            count < least &&
            std::all_of(masks.begin(), masks.end(), [&](unsigned mask) { return (mask & set) != 0; }))
            least = count;
    CHECK(found.patterns.size() == least);
    CHECK(near_best({{{"a", 1}, {"b", 1.04}, {"c", 1.2}}, {{"c", 2}}}, 0.05) == std::set<std::string>{"a", "b", "c"});
    CHECK(contains(trade_off(times, 0.01), "       1%        2        0.0%       0.0%\n"
                                           "       2%     <= 2        0.0%       0.0%\n"));
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
