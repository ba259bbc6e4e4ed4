// factor_session: one run of `ricci bench factor`.
#include "bench/factor/factor_session.hpp"

#include "bench/factor/factor_report.hpp"
#include "bench/factor/rapl_meter.hpp"
#include "bench/factor/reference.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/lowering/print.hpp>
#include <ricci/runtime/backend.hpp>
#include <ricci/runtime/lower_for.hpp>
#include <ricci/runtime/run.hpp>

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace ricci::bench::factor {

namespace {

std::string kernels_of(const lowering::statement& s, device where) {
    std::string text;
    for (const auto& step : runtime::lower_for(s, runtime::backend_of(where), nullptr, runtime::occasion::look).steps)
        text += fmt::format("{}{}", text.empty() ? "" : " + ", lowering::name_of(step.kernel));
    return text;
}

/// Flops a second that a GPU's clock and units give; zero where nothing is known.
peak peak_of(const lowering::machine& gpu) {
    // A100's and H100's tensor cores do twice the f64 of the other units, which machine counts.
    const bool has_f64_tensors = gpu.architecture == "sm_80" || gpu.architecture == "sm_90";
    return {(has_f64_tensors ? 2 : 1) * gpu.flops_f64, gpu.flops_f32};
}

row describe(const problem& p) {
    row r;
    r.kind = name_of(p.what);
    r.size = {p.m, p.n, p.sides};
    r.batch = p.batch;
    r.types = lowering::name_of(p.type);
    r.layout = "contiguous";
    r.bytes = p.bytes(), r.element_bytes = p.element_bytes(), r.flops = p.flops();
    r.of_elements = true;
    return r;
}

/// `run`, by `peer`, on the operands `on`.
entrant entrant_of(std::string peer, way w, const problem& p, const operands& on, device where) {
    entrant e{std::move(peer), std::move(w.variant), {}, std::move(w.run), {}, 0};
    if (const copies& c = w.spoils; c.any()) {
        e.restore = [&on, c](std::size_t set) { on.restore(set, c); };
        e.spoils = c.matrices + 2 * c.sides + 4 * c.work;
    }
    e.check = [&p, &on, where, given = w.leaves] { return check(p, on.sets().front(), given, where); };
    return e;
}

/// Refuses what cannot be had of factorizations.
const session_options& checked(const session_options& options) {
    if (options.in_cache) throw error("--in-cache: matrices are put back before each call, which empties the caches");
    if (options.counters) throw error("--counters: they would count the copies that put matrices back");
    return options;
}

} // namespace

factor_session::factor_session(const session_options& options, const std::vector<problem>& points)
    : session_base(checked(options),
                   {factor::table_head, factor::table_line, factor::table_foot, factor::to_json, factor::to_csv}) {
    if (options.energy) meter_ = where_.is_cpu() ? make_rapl_meter() : make_energy_meter(where_);
    open_peers(factor_peer_names(), {where_.is_cuda() ? "cusolver" : "lapack"}, [&](const std::string& name) {
        auto& made = peers_.emplace_back();
        made = make_factor_peer(name, where_);
        return made->version();
    });
    const auto start = std::chrono::steady_clock::now();
    compile_ahead(points, where_);
    report_.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!where_.is_cpu()) report_.peak_at_start = peak_of(runtime::backend_of(where_).machine());
    begin(has_peak());
}

void factor_session::measure_row(row& r, const problem& p) {
    const operands on(p, where_, *tools_, options_.warm_cache, memory_);
    r.sets = on.sets().size();
    runtime::prepare(on.statement(0));
    r.statement = lowering::to_string(on.statement(0));
    std::vector<entrant> all;
    const auto add = [&](const std::string& peer, way w) {
        all.push_back(entrant_of(peer, std::move(w), p, on, where_));
    };
    add("ricci", {"", [&](std::size_t set) { runtime::run(on.statement(set)); }, spoiled_by(p.what), {}});
    const std::vector<measured> refused = refusals([&](std::size_t peer) {
        for (way& w : peers_[peer]->ways(p, on.sets())) add(report_.peers[peer].name, std::move(w));
    });
    measure_options how = measuring();
    how.metered_seconds = 1; // a difference of two: a step of NVML's meter is a tenth of that at most
    r.results = time_in_turn(all, r.sets, where_, *tools_, meter_.get(), how);
    r.results.insert(r.results.end(), refused.begin(), refused.end());
    r.kernel = kernels_of(on.statement(0), where_);
}

bool factor_session::run(const problem& p) {
    if (interrupted()) return false;
    row r = describe(p);
    const double flops = report_.peak_at_start.of(p.type);
    r.against_peak = flops > 0 && p.flops() / flops > p.element_bytes() / report_.at_start.triad;
    r.yardstick = r.against_peak ? flops : report_.at_start.triad;
    return keep(std::move(r), [&](row& each) { measure_row(each, p); });
}

} // namespace ricci::bench::factor
