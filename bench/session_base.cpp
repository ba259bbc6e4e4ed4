// session_base: from the opening of the device to the files of a report.
#include "bench/session_base.hpp"

#include "bench/cpu_facts.hpp"
#include "bench/in_parallel.hpp"
#include "bench/output_files.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <new>
#include <utility>

namespace ricci::bench {

namespace {

constexpr int most_failures = 3; ///< in turn: then the device, not the point, is at fault

std::string now() {
    const std::time_t seconds = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32] = {};
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

std::int64_t yardstick_bytes(device where) {
    return where.is_cpu() ? std::max<std::int64_t>(200'000'000, beyond_cpu_caches()) : 2'100'000'000;
}

} // namespace

session_base::session_base(const session_options& options, const report_forms& forms)
    : options_(options), where_(options.device.empty() ? default_device() : parse_device(options.device)),
      forms_(forms) {
    check_outputs({{"--json", options.json}, {"--csv", options.csv}}); // now, not after an hour
    tools_ = make_device_tools(where_);
    const auto& machine = runtime::backend_of(where_).machine();
    report_.command = options.command, report_.version = options.version, report_.date = now();
    report_.device = where_.name(), report_.chip = machine.name, report_.architecture = machine.architecture;
    report_.processors = machine.processors;
    if (where_.is_cpu()) report_.processor = machine.model;
    report_.energy = options.energy;
    if (!options.processor_time) return;
    if (!where_.is_cpu()) throw error("--processor-time: a GPU's times are its own already");
    if (const int threads = thread_count(); threads > 1)
        throw error(
            fmt::format("--processor-time: of {} threads it is no time of a call; set RICCI_NUM_THREADS=1", threads));
    report_.by = timed_by::processor;
}

measure_options session_base::measuring() const { return {options_.repeat, options_.check, false, report_.by}; }

bool session_base::has_peak() const { return where_.is_cpu() && runtime::backend_of(where_).machine().has_compiler; }

void session_base::open_peers(const std::vector<std::string>& known, std::vector<std::string> usual,
                              const std::function<std::string(const std::string& name)>& open) {
    if (options_.peers == "none") return;
    const bool asked = !options_.peers.empty();
    std::vector<std::string> names = std::move(usual);
    if (asked) {
        const auto words = split(options_.peers, ',');
        if (std::find(words.begin(), words.end(), "none") != words.end())
            throw error(fmt::format("--peers: none goes with no other peer: {}", options_.peers));
        names = parse_choices(options_.peers, "--peers", known);
    }
    for (const std::string& name : names) {
        report_.peers.push_back({name, "", ""});
        try {
            report_.peers.back().version = open(name);
        } catch (const error& e) {
            if (asked) throw;
            report_.peers.back().missing = e.what();
        }
    }
}

void session_base::begin(bool with_peak) {
    report_.at_start = measure_bandwidth(where_, *tools_, yardstick_bytes(where_), &report_.gpu);
    if (with_peak) report_.peak_at_start = measure_peak();
    print(forms_.head(report_));
}

std::vector<measured> session_base::refusals(const std::function<void(std::size_t peer)>& offer) const {
    std::vector<measured> refused;
    for (std::size_t n = 0; n < report_.peers.size(); ++n) {
        if (!report_.peers[n].missing.empty()) continue;
        try {
            offer(n);
        } catch (const error& e) {
            refused.emplace_back();
            refused.back().peer = report_.peers[n].name, refused.back().failure = e.what();
        }
    }
    return refused;
}

void session_base::print(const std::string& text) const {
    // What goes to the standard output must stay readable by programs.
    std::FILE* const to = options_.json == "-" || options_.csv == "-" ? stderr : stdout;
    fmt::print(to, "{}", text);
    std::fflush(to);
}

bool session_base::keep(row r, const std::function<void(row&)>& measure_row) {
    try {
        measure_row(r);
        failures_in_turn_ = 0;
    } catch (const error& e) {
        r.failure = e.what();
    } catch (const std::bad_alloc&) {
        r.failure = "not enough memory";
    }
    const bool counts =
        best_of(r, "ricci") != nullptr || !r.failure.empty(); // else a signal came before the first round
    if (!r.failure.empty()) {
        r.results.clear();
        gave_up_ = ++failures_in_turn_ >= most_failures;
    }
    if (counts) {
        print(forms_.line(report_, r));
        report_.rows.push_back(std::move(r));
    }
    return !interrupted() && !gave_up_;
}

int session_base::finish() {
    report_.complete = !interrupted() && !gave_up_;
    memory_ = {};
    if (report_.complete) try {
            report_.at_end = measure_bandwidth(where_, *tools_, yardstick_bytes(where_), nullptr);
            if (has_peak()) report_.peak_at_end = measure_peak();
        } catch (const error&) { // the rows are there, and are worth more
        }
    print(forms_.foot(report_));
    write_outputs({{options_.json, options_.json.empty() ? "" : forms_.json(report_)},
                   {options_.csv, options_.csv.empty() ? "" : forms_.csv(report_)}});
    const bool failed =
        std::any_of(report_.rows.begin(), report_.rows.end(), [](const row& r) { return !r.failure.empty(); });
    if (interrupted()) return 130;
    return gave_up_ || failed || checked_and_wrong(report_).second > 0 ? 2 : 0;
}

} // namespace ricci::bench
