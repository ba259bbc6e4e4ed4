// factor_session: one run of `ricci bench factor`.
#include "bench/factor/factor_session.hpp"

#include "bench/cpu_facts.hpp"
#include "bench/factor/factor_report.hpp"
#include "bench/factor/rapl_meter.hpp"
#include "bench/factor/reference.hpp"
#include "bench/lists.hpp"
#include "bench/output_files.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/lowering/print.hpp>
#include <ricci/runtime/backend.hpp>
#include <ricci/runtime/lower_for.hpp>
#include <ricci/runtime/run.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <new>
#include <utility>

namespace ricci::bench::factor {

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

std::string kernels_of(const lowering::statement& s, device where) {
    std::string text;
    for (const auto& step :
         runtime::lower_for(s, runtime::backend_of(where), nullptr, runtime::occasion::look).steps)
        text += fmt::format("{}{}", text.empty() ? "" : " + ", lowering::name_of(step.kernel));
    return text;
}

std::int64_t yardstick_bytes(device where) {
    return where.is_cpu() ? std::max<std::int64_t>(200'000'000, beyond_cpu_caches()) : 2'100'000'000;
}

/// Flops a second: of a CPU as measured, of a GPU what its clock and units give; zero where nothing is known.
peak peak_of(device where) {
    const lowering::machine& chip = runtime::backend_of(where).machine();
    if (chip.kind == lowering::target::cpu) return chip.has_compiler ? measure_peak() : peak{};
    // A100's and H100's tensor cores do twice the f64 of the other units, which machine counts.
    const bool has_f64_tensors = chip.architecture == "sm_80" || chip.architecture == "sm_90";
    return {(has_f64_tensors ? 2 : 1) * chip.flops_f64, chip.flops_f32};
}

row describe(const problem& p) {
    row r;
    r.kind = lowering::name_of(p.what);
    r.size = {p.m, p.n, p.sides};
    r.batch = p.batch;
    r.types = lowering::name_of(p.type);
    r.layout = "contiguous";
    r.bytes = p.bytes(), r.element_bytes = p.element_bytes(), r.flops = p.flops();
    return r;
}

/// Puts back what a way of doing `p` writes and reads.
std::function<void(std::size_t)> restore_of(const problem& p, const operands& on, bool spoils_matrix) {
    const bool matrices = !solves(p.what) || spoils_matrix, sides = solves(p.what);
    return [&on, matrices, sides](std::size_t set) {
        if (matrices) on.restore_matrices(set);
        if (sides) on.restore_sides(set);
    };
}

} // namespace

factor_session::factor_session(const session_options& options)
    : options_(options), where_(options.device.empty() ? default_device() : parse_device(options.device)) {
    check_outputs({{"--json", options.json}, {"--csv", options.csv}}); // now, not after an hour
    if (options.in_cache)
        throw error("--in-cache: matrices are put back before each call, which empties the caches");
    if (options.counters) throw error("--counters: they would count the copies that put matrices back");
    tools_ = make_device_tools(where_);
    const auto& machine = runtime::backend_of(where_).machine();
    report_.command = options.command, report_.version = options.version, report_.date = now();
    report_.device = where_.name(), report_.chip = machine.name, report_.architecture = machine.architecture;
    report_.processors = machine.processors;
    if (where_.is_cpu()) report_.processor = machine.model;
    report_.energy = options.energy;
    if (options.energy) meter_ = where_.is_cpu() ? make_rapl_meter() : make_energy_meter(where_);
    open_peers();
    report_.at_start = measure_bandwidth(where_, *tools_, yardstick_bytes(where_), &report_.gpu);
    report_.peak_at_start = peak_of(where_);
    print(factor::table_head(report_));
}

void factor_session::open_peers() {
    if (options_.peers == "none") return;
    const bool asked = !options_.peers.empty();
    std::vector<std::string> names{where_.is_cuda() ? "cusolver" : "lapack"};
    if (asked) {
        const auto words = split(options_.peers, ',');
        if (std::find(words.begin(), words.end(), "none") != words.end())
            throw error(fmt::format("--peers: none goes with no other peer: {}", options_.peers));
        names = parse_choices(options_.peers, "--peers", factor_peer_names());
    }
    for (const std::string& name : names) {
        auto& made = peers_.emplace_back();
        report_.peers.push_back({name, "", ""});
        try {
            made = make_factor_peer(name, where_);
            report_.peers.back().version = made->version();
        } catch (const error& e) {
            if (asked) throw;
            report_.peers.back().missing = e.what();
        }
    }
}

void factor_session::print(const std::string& text) const {
    // What goes to the standard output must stay readable by programs.
    std::FILE* const to = options_.json == "-" || options_.csv == "-" ? stderr : stdout;
    fmt::print(to, "{}", text);
    std::fflush(to);
}

void factor_session::add_peer(std::vector<entrant>& all, std::size_t peer, const problem& p, const operands& on) {
    for (way& w : peers_[peer]->ways(p, on.sets()))
        all.push_back({report_.peers[peer].name, std::move(w.variant), restore_of(p, on, w.spoils_matrix),
                       std::move(w.run), [this, &p, &on, first_pivot = w.first_pivot] {
                           return check(p, on.sets().front(), first_pivot, where_);
                       }});
}

void factor_session::measure_row(row& r, const problem& p) {
    const operands on(p, where_, *tools_, options_.warm_cache, memory_);
    r.sets = on.sets().size();
    runtime::prepare(on.statement(0));
    r.statement = lowering::to_string(on.statement(0));
    std::vector<entrant> all;
    all.push_back({"ricci", "", restore_of(p, on, false), [&](std::size_t set) { runtime::run(on.statement(set)); },
                   [&] { return check(p, on.sets().front(), 0, where_); }});
    std::vector<measured> refused;
    for (std::size_t n = 0; n < peers_.size(); ++n) try {
            if (peers_[n]) add_peer(all, n, p, on);
        } catch (const error& e) {
            refused.emplace_back();
            refused.back().peer = report_.peers[n].name, refused.back().failure = e.what();
        }
    r.results = time_in_turn(all, r.sets, where_, *tools_, meter_.get(), {options_.repeat, options_.check, false});
    r.results.insert(r.results.end(), refused.begin(), refused.end());
    r.kernel = kernels_of(on.statement(0), where_);
}

bool factor_session::run(const problem& p) {
    if (interrupted()) return false;
    row r = describe(p);
    const double flops = report_.peak_at_start.of(p.type);
    r.against_peak = flops > 0 && p.flops() / flops > p.bytes() / report_.at_start.triad;
    r.yardstick = r.against_peak ? flops : report_.at_start.triad;
    try {
        measure_row(r, p);
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
        print(factor::table_line(report_, r));
        report_.rows.push_back(std::move(r));
    }
    return !interrupted() && !gave_up_;
}

int factor_session::finish() {
    report_.complete = !interrupted() && !gave_up_;
    memory_ = {};
    if (report_.complete) try {
            report_.at_end = measure_bandwidth(where_, *tools_, yardstick_bytes(where_), nullptr);
            if (where_.is_cpu()) report_.peak_at_end = peak_of(where_);
        } catch (const error&) { // the rows are there, and are worth more
        }
    print(factor::table_foot(report_));
    write_outputs({{options_.json, options_.json.empty() ? "" : factor::to_json(report_)},
                   {options_.csv, options_.csv.empty() ? "" : factor::to_csv(report_)}});
    const bool failed =
        std::any_of(report_.rows.begin(), report_.rows.end(), [](const row& r) { return !r.failure.empty(); });
    if (interrupted()) return 130;
    return gave_up_ || failed || checked_and_wrong(report_).second > 0 ? 2 : 0;
}

} // namespace ricci::bench::factor
