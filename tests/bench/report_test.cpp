// report_test: the three forms of a report, against texts in golden/ (RICCI_UPDATE_GOLDEN=1 writes them anew); what
// is timed.
#include "bench/counters.hpp"
#include "bench/measure.hpp"
#include "bench/report.hpp"
#include "lowering/error.hpp"
#include "runtime/backend.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <linux/perf_event.h>
#include <sys/mman.h>

using namespace ricci;
using namespace ricci::bench;

namespace {

measured result(const char* peer, const char* variant, double seconds) {
    measured m;
    m.peer = peer, m.variant = variant, m.seconds = seconds, m.fastest = 0.9 * seconds, m.rounds = 15,
    m.calls_a_round = 4;
    return m;
}

row point(std::int64_t n, const char* types) {
    row r;
    r.kind = "batched", r.size = {n, n, n}, r.batch = 1000, r.types = types, r.operations = "NT",
    r.layout = "contiguous";
    r.accumulate = true, r.statement = "C(i, j, e) += A(i, k, e)*B(j, k, e)", r.kernel = "batched_small";
    r.bytes = r.element_bytes = 32000.0 * static_cast<double>(n * n),
    r.flops = 2000.0 * static_cast<double>(n * n * n);
    r.yardstick = 3e12;
    return r;
}

report example() {
    report r;
    r.command = "ricci bench batched --sizes 8,16", r.version = "0.1.0", r.date = "2026-11-21T12:00:00Z";
    r.device = "cuda:0", r.chip = "NVIDIA H100 80GB HBM3", r.architecture = "sm_90", r.processors = 132;
    r.gpu = {"580.159", "13.0", 1755, 1980};
    r.at_start = {3e12, 3.1e12}, r.at_end = {2.99e12, 3.09e12};
    r.peers = {{"cublas", "cuBLAS 13.1.0", ""}, {"plain", "", ""}, {"cutensor", "", "no library, \"none\""}};
    r.energy = true;

    r.rows.push_back(point(8, "f64"));
    auto& first = r.rows.back().results;
    first = {result("ricci", "", 1e-6), result("cublas", "strided", 4e-6), result("cublas", "pointers", 3e-6),
             result("plain", "", 8e-6)};
    first[0].checked = findings{2e-16, 0, -1, 64000};
    first[2].checked = findings{0.5, 3, 17, 64000}; // faster, but wrong
    first[0].joules = 1e-4, first[1].joules = 3e-4;

    r.rows.push_back(point(16, "f32"));
    r.rows.back().padding = 1, r.rows.back().offset = 2;
    auto& second = r.rows.back().results;
    second = {result("ricci", "", 4e-6), result("cublas", "strided", 2e-6), result("plain", "", 0)};
    second[0].checked = findings{0.25, 2, 5, 256000};
    second[1].checked = findings{0.25, 2, 5, 256000};
    second[2].failure = "out of memory";

    r.rows.push_back(point(32, "f32"));
    r.rows.back().failure = "cuda:0 is out of memory";
    return r;
}

/// On a CPU, in its caches, with counters.
report example_of_cpu() {
    report r;
    r.command = "ricci bench batched --sizes 8 --in-cache --counters", r.version = "0.1.0",
    r.date = "2026-11-23T12:00:00Z";
    r.device = "cpu", r.chip = "CPU, 1 thread", r.architecture = "x86-64 avx512f", r.processors = 1;
    r.processor = "Intel(R) Xeon(R) Processor";
    r.at_start = {16e9, 16.5e9}, r.at_end = {15.9e9, 16.4e9};
    r.peak_at_start = {118.1e9, 236.2e9}, r.peak_at_end = {118e9, 236e9};
    r.peers = {{"libxsmm", "libxsmm 1.17, generating for cpx", ""},
               {"eigen", "", "this build has no Eigen"},
               {"ikj", "", ""}};
    r.cache = 1 << 20, r.counters = true;
    for (const char* types : {"f64", "c64"}) {
        r.rows.push_back(point(8, types));
        row& each = r.rows.back();
        each.operations = "TN", each.against_peak = true, each.yardstick = 118.1e9;
        each.results = {result("ricci", "", 10e-6), result("ikj", "", 20e-6)};
        each.results[0].checked = each.results[1].checked = findings{2e-16, 0, -1, 64000};
    }
    auto& first = r.rows.front().results;
    first.push_back(result("libxsmm", "kernel", 12e-6));
    first[0].counts = {130e3, 65e3, 24e3, 8e3}, first[1].counts = {1.5e6, 260e3, 700e3, std::nullopt};
    return r;
}

/// Of operators on fields, on a CPU.
report example_of_fields() {
    report r = example_of_cpu();
    r.command = "ricci bench fem --bp 3 --orders 2";
    r.of = subject::fields, r.counters = false, r.cache = 0;
    r.peers = {{"unfused", "", ""}, {"loops", "", ""}};
    r.rows.clear();
    for (const char* const form : {"E", "L"}) {
        row each;
        const bool is_global = form[0] == 'L';
        each.kind = "fem", each.batch = 1000, each.types = "f64";
        each.field = field_operator{"BP3", 2, form, is_global ? "ordered" : "", 9261};
        each.statement = "v(i, e) = u(i, e)", each.kernel = "chain";
        each.bytes = each.element_bytes = 4e6, each.flops = 6e6, each.yardstick = is_global ? 118.1e9 : 30e9;
        each.against_peak = is_global;
        each.results = {result("ricci", "", 200e-6), result("unfused", "", 600e-6),
                        result("loops", "an element at a time", 300e-6),
                        result("loops", "elements in lanes", 250e-6)};
        each.results[0].checked = findings{2e-16, 0, -1, 27000};
        r.rows.push_back(each);
    }
    return r;
}

/// Of layers, on a CPU.
report example_of_layers() {
    report r = example_of_cpu();
    r.command = "ricci bench conv --layers 64x64x56,512x512x7", r.of = subject::layers;
    r.counters = false, r.cache = 0;
    r.peers = {{"direct", "ricci's direct statement", ""}, {"im2col", "", ""}};
    r.rows.clear();
    const auto add = [&](std::int64_t channels, std::int64_t side, const char* algorithm, double seconds) {
        row each;
        each.kind = "conv", each.types = "f32";
        each.layer = convolution_layer{"", channels, channels, side, side, algorithm};
        each.layer->name = std::to_string(channels) + "x" + std::to_string(channels) + "@" + std::to_string(side);
        each.statement = "O(x, y, k, b) = relu(M(x, y, k, b))", each.kernel = "direct";
        each.bytes = each.element_bytes = 4e6, each.flops = 6e8, each.yardstick = 236.2e9, each.against_peak = true;
        each.results = {result("ricci", "", seconds), result("im2col", "", 3e-3)};
        if (algorithm != std::string("direct")) each.results.push_back(result("direct", "", 6e-3));
        each.results[0].checked = findings{2e-6, 0, -1, 4096};
        r.rows.push_back(each);
    };
    add(64, 56, "direct", 6e-3), add(64, 56, "f2", 2e-3), add(64, 56, "f4", 1.5e-3);
    add(512, 7, "direct", 5e-3), add(512, 7, "f2", 2.5e-3), add(512, 7, "f4", 4e-3);
    return r;
}

void compare(const std::string& text, const std::string& file) {
    const std::filesystem::path golden = std::filesystem::path(RICCI_GOLDEN) / file;
    if (const char* update = std::getenv("RICCI_UPDATE_GOLDEN"); update && *update == '1')
        std::ofstream(golden) << text;
    std::ifstream in(golden);
    CHECK(text == std::string(std::istreambuf_iterator<char>(in), {}));
}

} // namespace

TEST_CASE("table, JSON and CSV") {
    const report r = example();
    std::string table = table_head(r);
    for (const row& each : r.rows) table += table_line(r, each);
    compare(table + table_foot(r), "table.txt");
    compare(to_json(r), "report.json");
    compare(to_csv(r), "report.csv");
}

TEST_CASE("a CPU's report: of the peak, with counters; or why there are none") {
    report r = example_of_cpu();
    std::string table = table_head(r);
    for (const row& each : r.rows) table += table_line(r, each);
    compare(table + table_foot(r), "table_cpu.txt");
    compare(to_json(r), "report_cpu.json");
    compare(to_csv(r), "report_cpu.csv");
    CHECK(percent_of(r.rows[0], r.rows[0].results[0]) == Approx(100 * 1.024e6 / 10e-6 / 118.1e9));
    CHECK(count_of(r.rows[0], r.rows[0].results[0], 0) == 130);
    CHECK_FALSE(count_of(r.rows[0], r.rows[0].results[1], 3));
    r.no_counters = "the processor offers none";
    CHECK_THAT(table_head(r), Catch::Contains("\nno counters on this machine: the processor offers none\n"));
    CHECK_THAT(to_json(r), Catch::Contains("\"no_counters\": \"the processor offers none\""));
}

TEST_CASE("a report of operators on fields has unknowns a second, of the triad or of the peak") {
    const report r = example_of_fields();
    std::string table = table_head(r);
    for (const row& each : r.rows) table += table_line(r, each);
    compare(table + table_foot(r), "table_fem.txt");
    compare(to_json(r), "report_fem.json");
    compare(to_csv(r), "report_fem.csv");
    CHECK(unknowns_rate(r.rows[0], r.rows[0].results[0]) == Approx(9261 / 200e-6));
    CHECK(percent_of(r.rows[0], r.rows[0].results[0]) == Approx(100 * 4e6 / 200e-6 / 30e9));
    CHECK(percent_of(r.rows[1], r.rows[1].results[0]) == Approx(100 * 6e6 / 200e-6 / 118.1e9));
}

TEST_CASE("a report of layers has means by algorithm, and of the best by tiles") {
    const report r = example_of_layers();
    std::string table = table_head(r);
    for (const row& each : r.rows) table += table_line(r, each);
    compare(table + table_foot(r), "table_conv.txt");
    compare(to_json(r), "report_conv.json");
    compare(to_csv(r), "report_conv.csv");
    const auto all = summaries_of(r);
    REQUIRE(all.size() == 4);
    CHECK((all[0].algorithm == "direct" && all[1].algorithm == "f2" && all[2].algorithm == "f4"));
    CHECK((all[3].algorithm == "best of f2, f4" && all[3].rows == 2 && all[3].what == "f32"));
    REQUIRE(all[3].ratios.size() == 2);
    CHECK(all[3].ratios[1].second.mean == Approx(std::sqrt(2 * 1.2)));
    CHECK(all[3].ratios[1].second.where == "512x512@7 f32 f2 batch 1");
    CHECK(all[0].ratios.size() == 1); // it is no peer of itself
    report wrong = r;
    wrong.rows[2].results[0].checked->wrong = 1; // f4 is faster, but wrong
    CHECK(summaries_of(wrong)[3].ratios[1].second.mean == Approx(std::sqrt(1.5 * 1.2)));
}

TEST_CASE("events are counted while something runs; one that there is not has no number") {
    const counted_event events[] = {{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}, {"none", 0xffff, 0}};
    CHECK_FALSE(counters_problem({&events[1], 1}).empty());
    if (const std::string problem = counters_problem(events); !problem.empty()) {
        WARN("no software events: " << problem);
        return;
    }
    constexpr std::size_t page = 4096, pages = 300;
    const auto counts = count_events(events, [&] {
        void* const memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(memory, pages * page, MADV_NOHUGEPAGE);
        for (std::size_t n = 0; n < pages; ++n) static_cast<volatile char*>(memory)[n * page] = 1;
        munmap(memory, pages * page);
    });
    REQUIRE(counts.size() == 2);
    REQUIRE(counts[0]);
    CHECK(*counts[0] >= 1);
    CHECK(*counts[0] <= 10 * pages);
    CHECK_FALSE(counts[1]);
}

TEST_CASE("a peer's best is its fastest right result; means are geometric") {
    const report r = example();
    REQUIRE(best_of(r.rows[0], "cublas"));
    CHECK(best_of(r.rows[0], "cublas")->variant == "strided");
    CHECK(ratio_to(r.rows[0], "cublas") == Approx(4));
    CHECK(best_of(r.rows[1], "plain") == nullptr);
    CHECK(ratio_to(r.rows[1], "plain") == 0);
    CHECK(percent_of(r.rows[0], r.rows[0].results[0]) == Approx(100 * 2.048e6 / 1e-6 / 3e12));
    const auto all = summaries_of(r);
    REQUIRE(all.size() == 3);
    CHECK(all[2].what == "all");
    REQUIRE(all[2].ratios.size() == 2);
    CHECK(all[2].ratios[0].second.mean == Approx(std::sqrt(4 * 0.5)));
    CHECK(all[2].ratios[0].second.least == Approx(0.5));
    CHECK(checked_and_wrong(r) == std::pair<std::size_t, std::size_t>(2, 1));
}

TEST_CASE("contenders are called in turn; a peer that throws is out, ricci's mistake is thrown") {
    const auto tools = make_device_tools(cpu());
    std::string calls;
    const auto slow = [&](char name) {
        return [&calls, name](std::size_t set) {
            calls += name;
            CHECK(set < 3);
            const auto begin = std::chrono::steady_clock::now();
            while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1)) {
            }
        };
    };
    workload w;
    w.sets = 3;
    w.contenders = {{"ricci", "", slow('r')}, {"peer", "a", slow('p')}, {"peer", "b", [](std::size_t) {
                                                                             throw error("cannot");
                                                                         }}};
    int resets = 0;
    w.reset = [&] { ++resets; };
    w.check = [] { return findings{0, 0, -1, 1}; };
    const auto out = measure(w, cpu(), *tools, nullptr, {4, true});
    REQUIRE(out.size() == 3);
    CHECK((out[0].seconds >= 1e-3 && out[0].rounds == 4 && out[0].checked));
    CHECK((out[2].seconds == 0 && out[2].failure == "cannot"));
    std::string shown;
    workload of_one;
    of_one.contenders = {{"peer", "", [&](std::size_t) { shown += 'r'; }, true, [&] { shown += 's'; }}};
    of_one.check = [&] {
        shown += 'c';
        return findings{0, 0, -1, 1};
    };
    measure(of_one, cpu(), *tools, nullptr, {1, true});
    CHECK(shown.starts_with("rscr")); // shown once, before it is checked
    CHECK(std::count(shown.begin(), shown.end(), 's') == 1);
    CHECK(resets == 3);
    CHECK(calls.ends_with("rprprprp"));
    w.contenders = {{"ricci", "", [](std::size_t) { throw error("ricci cannot"); }}};
    CHECK_THROWS_WITH(measure(w, cpu(), *tools, nullptr, {4, true}), "ricci cannot");
    CHECK(median({3, 1, 2}) == 2);
    CHECK(median({4, 1, 2, 3}) == 2.5);
}
