// report_table: a report for people, line by line.
#include "bench/report_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ricci::bench {

std::vector<std::string> present_peers(const report& r) {
    std::vector<std::string> names;
    for (const peer_version& p : r.peers)
        if (p.missing.empty()) names.push_back(p.name);
    return names;
}

std::string ratio_cell(const row& r, const std::string& peer) {
    if (const double ratio = ratio_to(r, peer); ratio > 0)
        return fmt::format("{:.2f}x{}", ratio, is_wrong(*best_of(r, peer)) ? "!" : "");
    const bool failed = std::any_of(r.results.begin(), r.results.end(),
                                    [&](const measured& m) { return m.peer == peer && !m.failure.empty(); });
    return failed ? "failed" : "-";
}

std::string figures_of(const summary::figure& f, const char* unit) {
    return fmt::format("geometric mean {:.4g}{}, least {:.4g}{} at {}", f.mean, unit, f.least, unit, f.where);
}

namespace {

constexpr int ratio_width = 10, energy_width = 11;

std::string millijoules(const row& r, const std::string& peer) {
    const measured* const best = best_of(r, peer);
    return best && best->joules ? fmt::format("{:.4g}", 1e3 * *best->joules) : "-";
}

/// What the counts of a row are of.
const char* each_of(const row& r) {
    return r.field ? "    each element:" : r.layer ? "    each picture:" : "    each product:";
}

/// "    each product: ricci 66 instructions, 41 cycles, 9 loads, 4 stores; blas ..."; empty where nothing was
/// counted.
std::string counts_of(const report& r, const row& of) {
    std::vector<std::string> names = present_peers(r);
    names.insert(names.begin(), "ricci");
    std::string out;
    for (const std::string& name : names) {
        const measured* const best = best_of(of, name);
        std::string counts;
        for (std::size_t e = 0; best && e < best->counts.size(); ++e)
            if (const auto count = count_of(of, *best, e))
                counts +=
                    fmt::format("{} {:.4g} {}", counts.empty() ? "" : ",", *count, events_of_processor()[e].name);
        if (!counts.empty()) out += fmt::format("{} {}{}", out.empty() ? each_of(of) : ";", name, counts);
    }
    return out.empty() ? "" : out + "\n";
}

std::string operation_of(const row& r) {
    if (r.field) return r.field->scatter.empty() ? "-" : r.field->scatter;
    if (r.layer) return r.layer->algorithm + (r.math != "full" ? " " + r.math : "");
    std::string text = fmt::format("{}{}", r.operations, r.operations.empty() ? "" : " ");
    if (r.kind != "statement") text += r.accumulate ? "+=" : "=";
    if (r.math != "full") text += " " + r.math;
    if (r.layout != "contiguous" && !r.layout.empty()) text += " " + r.layout;
    if (r.padding != 0) text += fmt::format(" ld+{}", r.padding);
    if (r.offset != 0) text += fmt::format(" @{}", r.offset);
    return text;
}

/// "triad 31.4 GB/s, reading 29.8 GB/s, peak 88.2 GF/s in f64, 176.5 in f32"
std::string yardsticks(const bandwidth& b, const peak& p) {
    std::string text = fmt::format("triad {:.1f} GB/s, reading {:.1f} GB/s", b.triad * 1e-9, b.read * 1e-9);
    if (p.f64 > 0) text += fmt::format(", peak {:.1f} GF/s in f64, {:.1f} in f32", p.f64 * 1e-9, p.f32 * 1e-9);
    return text;
}

/// What the columns that name a point are called.
struct column_names {
    const char *size, *operation, *batch;
};

const column_names& names_of(subject of) {
    static constexpr column_names names[] = {
        {"m x n x k", "operation", "batch"}, {"operator", "scatter", "elements"}, {"layer", "algorithm", "batch"}};
    return names[static_cast<int>(of)];
}

} // namespace

std::string table_head(const report& r) {
    std::string out = fmt::format("{}\n{} ({}{}{}", r.command, r.chip, r.processor, r.processor.empty() ? "" : ", ",
                                  r.architecture);
    if (!r.gpu.cuda.empty()) out += fmt::format(", {} SMs", r.processors);
    if (r.gpu.clock_mhz > 0) out += fmt::format(" at {} of {} MHz", r.gpu.clock_mhz, r.gpu.max_clock_mhz);
    out += ")";
    if (!r.gpu.driver.empty()) out += fmt::format(", driver {}", r.gpu.driver);
    if (!r.gpu.cuda.empty()) out += fmt::format(", CUDA {}", r.gpu.cuda);
    out += fmt::format(", ricci {}, {}\n{}; % is of ", r.version, r.date, yardsticks(r.at_start, r.peak_at_start));
    out += r.cache > 0                 ? fmt::format("the peak, operands stay in L2 and take at most {:.0f} KB\n",
                                                     static_cast<double>(r.cache) * 1e-3)
           : r.of != subject::products ? "the triad; with a p, of the peak, where the arithmetic takes longer\n"
                                       : "the triad, for A^T*B of reading\n";
    if (r.by == timed_by::processor) out += "times are the processor's, of the fastest round\n";
    if (!r.no_counters.empty()) out += fmt::format("no counters on this machine: {}\n", r.no_counters);
    for (const peer_version& p : r.peers) {
        if (!p.missing.empty())
            out += fmt::format("{}: not there: {}\n", p.name, p.missing);
        else if (!p.version.empty())
            out += fmt::format("{}: {}\n", p.name, p.version);
    }
    const column_names& names = names_of(r.of);
    out += fmt::format("{:<22} {:<8} {:<16} {:>10} {:>11}", names.size, "type", names.operation, names.batch, "us");
    if (r.of == subject::fields) out += fmt::format(" {:>9}", "MDOF/s");
    out += fmt::format(" {:>9} {:>10} {:>7}", "GB/s", "GF/s", "%");
    for (const auto& name : present_peers(r)) out += fmt::format(" {:>{}}", "vs " + name, ratio_width);
    if (r.energy) {
        out += fmt::format(" {:>{}}", "mJ ricci", energy_width);
        for (const auto& name : present_peers(r)) out += fmt::format(" {:>{}}", "mJ " + name, energy_width);
    }
    return out + "\n";
}

std::string table_line(const report& r, const row& of) {
    const std::string size = of.layer   ? of.layer->name
                             : of.field ? fmt::format("{} p={} {}", of.field->name, of.field->order, of.field->form)
                             : of.size.m == 0 ? "-"
                                              : fmt::format("{}x{}x{}", of.size.m, of.size.n, of.size.k);
    std::string out = fmt::format("{:<22} {:<8} {:<16} {:>10}", size, of.types, operation_of(of), of.batch);
    const measured* const ours = best_of(of, "ricci");
    const std::string last = of.kind == "statement" ? "  " + of.statement : "";
    if (!ours) return out + fmt::format("{}  {}\n", last, of.failure.empty() ? "no time" : of.failure);
    out += fmt::format(" {:>11.2f}", ours->seconds * 1e6);
    if (of.field) out += fmt::format(" {:>9.1f}", unknowns_rate(of, *ours) * 1e-6);
    const char* const mark = (of.field || of.layer) && of.against_peak && r.cache == 0 ? "p" : "";
    out += fmt::format(" {:>9.1f} {:>10.1f} {:>7}", of.bytes / ours->seconds * 1e-9, of.flops / ours->seconds * 1e-9,
                       fmt::format("{:.1f}{}", percent_of(of, *ours), mark));
    for (const auto& name : present_peers(r)) out += fmt::format(" {:>{}}", ratio_cell(of, name), ratio_width);
    if (r.energy) {
        out += fmt::format(" {:>{}}", millijoules(of, "ricci"), energy_width);
        for (const auto& name : present_peers(r)) out += fmt::format(" {:>{}}", millijoules(of, name), energy_width);
    }
    out += last;
    if (is_wrong(*ours)) {
        const findings& f = *ours->checked;
        out += fmt::format("  WRONG: {} of {} elements, the first is number {}, error {:.3g}", f.wrong, f.looked_at,
                           f.first, f.worst);
    }
    return out + "\n" + counts_of(r, of);
}

std::string table_foot(const report& r) {
    std::string out;
    for (const summary& s : summaries_of(r)) {
        out += fmt::format("{}{}{} ({} row{}): {}\n", s.what, s.algorithm.empty() ? "" : " ", s.algorithm, s.rows,
                           s.rows == 1 ? "" : "s", figures_of(s.percent, " %"));
        for (const auto& [peer, figure] : s.ratios)
            out += fmt::format("  against {}, {} of them: {}\n", peer, figure.rows, figures_of(figure, "x"));
    }
    if (r.at_end.triad > 0) out += fmt::format("at the end: {}\n", yardsticks(r.at_end, r.peak_at_end));
    const auto [checked, wrong] = checked_and_wrong(r);
    if (checked > 0) out += fmt::format("results of ricci: {} checked, {} wrong\n", checked, wrong);
    bool inexact = false;
    for (const row& each : r.rows)
        for (const auto& name : present_peers(r))
            if (const measured* const m = best_of(each, name)) inexact = inexact || is_wrong(*m);
    if (inexact) out += "!: that peer's results are further off than the bound\n";
    if (!r.complete) out += "stopped before the end\n";
    return out;
}

} // namespace ricci::bench
