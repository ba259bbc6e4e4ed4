// report_json: a report as JSON; bench/plot.py reads it.
#include "bench/report.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace ricci::bench {

namespace {

using json = nlohmann::ordered_json;

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json to_json(const row& r, const measured& m) {
    json out{{"peer", m.peer}, {"variant", m.variant}};
    if (!m.failure.empty()) out["failure"] = m.failure;
    if (m.seconds > 0) {
        out["seconds"] = m.seconds;
        out["fastest_seconds"] = m.fastest;
        out["rounds"] = m.rounds;
        out["calls_a_round"] = m.calls_a_round;
        out["gb_per_s"] = r.bytes / m.seconds * 1e-9;
        out["gf_per_s"] = r.flops / m.seconds * 1e-9;
        if (r.field) out["dof_per_s"] = unknowns_rate(r, m);
        out["percent"] = percent_of(r, m);
    }
    if (m.checked)
        out["check"] = {{"elements", m.checked->looked_at},
                        {"wrong", m.checked->wrong},
                        {"first_wrong", m.checked->first},
                        {"worst_error", number(m.checked->worst)}};
    if (m.joules) out["joules"] = *m.joules;
    for (std::size_t e = 0; e < m.counts.size(); ++e)
        if (const auto count = count_of(r, m, e)) out["per_product"][events_of_processor()[e].name] = *count;
    return out;
}

json to_json(const report& report, const row& r) {
    json out{{"kind", r.kind},
             {"m", r.size.m},
             {"n", r.size.n},
             {"k", r.size.k},
             {"batch", r.batch},
             {"types", r.types},
             {"math", r.math},
             {"operations", r.operations},
             {"layout", r.layout},
             {"padding", r.padding},
             {"offset", r.offset},
             {"accumulate", r.accumulate},
             {"statement", r.statement},
             {"kernel", r.kernel},
             {"bytes", r.bytes},
             {"element_bytes", r.element_bytes},
             {"flops", r.flops},
             {"operand_sets", r.sets},
             {"percent_of", yardstick_of(r)},
             {r.against_peak ? "yardstick_gf_per_s" : "yardstick_gb_per_s", r.yardstick * 1e-9}};
    if (r.field) {
        out["operator"] = r.field->name, out["order"] = r.field->order, out["form"] = r.field->form;
        if (!r.field->scatter.empty()) out["scatter"] = r.field->scatter;
        out["unknowns"] = r.field->unknowns;
    }
    if (r.layer) {
        out["layer"] = r.layer->name, out["algorithm"] = r.layer->algorithm;
        out["channels"] = r.layer->channels, out["filters"] = r.layer->filters;
        out["width"] = r.layer->width, out["height"] = r.layer->height;
    }
    if (!r.failure.empty()) out["failure"] = r.failure;
    json ratios = json::object();
    for (const peer_version& p : report.peers)
        if (const double ratio = ratio_to(r, p.name); ratio > 0) ratios[p.name] = ratio;
    out["ratio"] = ratios;
    json results = json::array();
    for (const measured& m : r.results) results.push_back(to_json(r, m));
    out["results"] = results;
    return out;
}

json to_json(const summary::figure& f) {
    return {{"geometric_mean", f.mean}, {"least", f.least}, {"where", f.where}, {"rows", f.rows}};
}

json to_json(const peak& p) { return {{"f64_gf_per_s", p.f64 * 1e-9}, {"f32_gf_per_s", p.f32 * 1e-9}}; }

json to_json(const bandwidth& b) { return {{"triad_gb_per_s", b.triad * 1e-9}, {"read_gb_per_s", b.read * 1e-9}}; }

} // namespace

std::string to_json(const report& r) {
    json peers = json::array();
    for (const peer_version& p : r.peers) {
        json each{{"name", p.name}, {"version", p.version}};
        if (!p.missing.empty()) each["missing"] = p.missing;
        peers.push_back(each);
    }
    json out{{"header",
              {{"command", r.command},
               {"ricci", r.version},
               {"date", r.date},
               {"device", r.device},
               {"chip", r.chip},
               {"architecture", r.architecture},
               {"processors", r.processors},
               {"driver", r.gpu.driver},
               {"cuda", r.gpu.cuda},
               {"clock_mhz", r.gpu.clock_mhz},
               {"max_clock_mhz", r.gpu.max_clock_mhz},
               {"bandwidth", to_json(r.at_start)},
               {"bandwidth_at_end", to_json(r.at_end)},
               {"peers", peers},
               {"complete", r.complete}}}};
    json& header = out["header"];
    if (!r.processor.empty()) header["processor"] = r.processor;
    if (r.compile_seconds > 0) header["compile_seconds"] = r.compile_seconds;
    if (r.by == timed_by::processor) header["times"] = "processor, fastest round";
    if (r.peak_at_start.f64 > 0) header["peak"] = to_json(r.peak_at_start);
    if (r.peak_at_end.f64 > 0) header["peak_at_end"] = to_json(r.peak_at_end);
    if (!r.no_counters.empty()) header["no_counters"] = r.no_counters;
    if (r.cache > 0) header["in_cache_bytes"] = r.cache;
    json rows = json::array();
    for (const row& each : r.rows) rows.push_back(to_json(r, each));
    out["rows"] = rows;
    json all = json::array();
    for (const summary& s : summaries_of(r)) {
        json each{{"types", s.what}, {"rows", s.rows}, {"percent", to_json(s.percent)}, {"ratio", json::object()}};
        if (!s.algorithm.empty()) each["algorithm"] = s.algorithm;
        for (const auto& [peer, figure] : s.ratios) each["ratio"][peer] = to_json(figure);
        all.push_back(each);
    }
    out["summary"] = all;
    return out.dump(1) + "\n";
}

} // namespace ricci::bench
