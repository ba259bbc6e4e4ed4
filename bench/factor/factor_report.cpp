// factor_report: adds to the reports of every bench what is said of factorizations.
#include "bench/factor/factor_report.hpp"

#include "bench/report_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace ricci::bench::factor {

namespace {

constexpr int ratio_width = 12, energy_width = 12;

double joules_each(const row& r, const measured& m) { return *m.joules / static_cast<double>(r.batch); }

std::string microjoules(const row& r, const std::string& peer) {
    const measured* const best = best_of(r, peer);
    return best && best->joules ? fmt::format("{:.4g}", 1e6 * joules_each(r, *best)) : "-";
}

/// The routines of the rows, each once.
std::vector<std::string> routines_in(const report& r) {
    std::vector<std::string> out;
    for (const row& each : r.rows)
        if (std::find(out.begin(), out.end(), each.kind) == out.end()) out.push_back(each.kind);
    return out;
}

} // namespace

double percent_of_triad(const report& r, const row& of, const measured& m) {
    return 100 * of.bytes / m.seconds / r.at_start.triad;
}

std::string table_head(const report& r) {
    report common = r;
    common.of = subject::layers; // whose % is of the roofline too
    std::string out = bench::table_head(common);
    out.erase(out.rfind('\n', out.size() - 2) + 1); // the names of their columns
    out += "bytes: matrices read and written once; flops: LAPACK Working Note 41's; every call starts from the "
           "original matrices, put back before it\n";
    out += fmt::format("{:<15} {:<9} {:<5} {:>4} {:>10} {:>11} {:>10} {:>9} {:>8} {:>8}", "routine", "size", "type",
                       "rhs", "batch", "us", "GF/s", "GB/s", "% triad", "% bound");
    for (const auto& name : present_peers(r)) out += fmt::format(" {:>{}}", "vs " + name, ratio_width);
    if (r.energy) {
        out += fmt::format(" {:>{}}", "uJ ricci", energy_width);
        for (const auto& name : present_peers(r)) out += fmt::format(" {:>{}}", "uJ " + name, energy_width);
    }
    return out + "\n";
}

std::string table_line(const report& r, const row& of) {
    std::string out =
        fmt::format("{:<15} {:<9} {:<5} {:>4} {:>10}", of.kind, fmt::format("{}x{}", of.size.m, of.size.n), of.types,
                    of.size.k == 0 ? "-" : std::to_string(of.size.k), of.batch);
    const measured* const ours = best_of(of, "ricci");
    if (!ours) return out + fmt::format("  {}\n", of.failure.empty() ? "no time" : of.failure);
    out +=
        fmt::format(" {:>11.2f} {:>10.1f} {:>9.1f} {:>8.1f} {:>8}", ours->seconds * 1e6,
                    of.flops / ours->seconds * 1e-9, of.bytes / ours->seconds * 1e-9, percent_of_triad(r, of, *ours),
                    fmt::format("{:.1f}{}", percent_of(of, *ours), of.against_peak ? "p" : ""));
    for (const auto& name : present_peers(r)) out += fmt::format(" {:>{}}", ratio_cell(of, name), ratio_width);
    if (r.energy) {
        out += fmt::format(" {:>{}}", microjoules(of, "ricci"), energy_width);
        for (const auto& name : present_peers(r)) out += fmt::format(" {:>{}}", microjoules(of, name), energy_width);
    }
    if (is_wrong(*ours))
        out += fmt::format("  WRONG: {} of {} matrices, the first is number {}, ratio {:.3g}", ours->checked->wrong,
                           ours->checked->looked_at, ours->checked->first, ours->checked->worst);
    return out + "\n";
}

std::string table_foot(const report& r) {
    std::string out;
    for (const std::string& name : routines_in(r)) {
        report of = r;
        std::erase_if(of.rows, [&](const row& each) { return each.kind != name; });
        for (const summary& s : summaries_of(of)) {
            if (s.what == "all") continue; // that of all routines comes last
            out += fmt::format("{} {} ({} row{}): of the bound {}\n", name, s.what, s.rows, s.rows == 1 ? "" : "s",
                               figures_of(s.percent, " %"));
            for (const auto& [peer, figure] : s.ratios)
                out += fmt::format("  against {}, {} of them: {}\n", peer, figure.rows, figures_of(figure, "x"));
        }
    }
    return out + bench::table_foot(r);
}

std::string to_json(const report& r) {
    auto out = nlohmann::ordered_json::parse(bench::to_json(r));
    for (std::size_t n = 0; n < r.rows.size(); ++n) {
        const row& of = r.rows[n];
        out["rows"][n]["right_hand_sides"] = of.size.k;
        for (std::size_t k = 0; k < of.results.size(); ++k) {
            const measured& m = of.results[k];
            auto& result = out["rows"][n]["results"][k];
            if (m.seconds > 0) result["percent_of_triad"] = percent_of_triad(r, of, m);
            if (m.joules) result["joules_each"] = joules_each(of, m);
        }
    }
    return out.dump(1) + "\n";
}

std::string to_csv(const report& r) {
    const std::string common = bench::to_csv(r);
    std::string out;
    std::size_t row_number = 0;
    for (std::size_t begin = 0; begin < common.size();) {
        const std::size_t end = common.find('\n', begin);
        out += common.substr(begin, end - begin);
        if (begin == 0) {
            out += ",percent_of_triad,joules_each\n";
        } else {
            const row& of = r.rows[row_number++];
            const measured* const ours = best_of(of, "ricci");
            out += "," + (ours ? fmt::format("{:.6g}", percent_of_triad(r, of, *ours)) : "");
            out += "," + (ours && ours->joules ? fmt::format("{:.6g}", joules_each(of, *ours)) : "") + "\n";
        }
        begin = end + 1;
    }
    return out;
}

} // namespace ricci::bench::factor
