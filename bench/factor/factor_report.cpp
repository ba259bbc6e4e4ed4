// factor_report: adds to the reports of every bench what is said of factorizations.
#include "bench/factor/factor_report.hpp"

#include "bench/factor/routine.hpp"
#include "bench/report_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace ricci::bench::factor {

namespace {

constexpr int ratio_width = 12, energy_width = 12;

std::optional<double> joules_each(const row& r, const measured& m) {
    return m.joules ? std::optional(*m.joules / static_cast<double>(r.batch)) : std::nullopt;
}

/// "-" where there is none.
std::string cell(std::optional<double> value, int digits) {
    return value ? fmt::format("{:.{}g}", *value, digits) : "-";
}
std::optional<double> unless_zero(double value) { return value > 0 ? std::optional(value) : std::nullopt; }

std::string microjoules(const row& r, std::string_view peer) {
    const measured* const best = best_of(r, peer);
    const auto joules = best ? joules_each(r, *best) : std::nullopt;
    return cell(joules ? std::optional(1e6 * *joules) : std::nullopt, 4);
}

/// ricci and its peers.
std::vector<std::string> all_peers(const report& r) {
    std::vector<std::string> names = present_peers(r);
    names.insert(names.begin(), "ricci");
    return names;
}

/// Of the rows that `is_wanted` and have a time of `peer`, that with a batch most like `of`'s.
template <class F>
const row* nearest_row(const report& r, const row& of, std::string_view peer, F is_wanted) {
    const auto distance = [&](const row& each) {
        return std::abs(std::log(static_cast<double>(each.batch) / static_cast<double>(of.batch)));
    };
    const row* nearest = nullptr;
    for (const row& each : r.rows)
        if (is_wanted(each) && best_of(each, peer) && (!nearest || distance(each) < distance(*nearest)))
            nearest = &each;
    return nearest;
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

double times_factorization(const report& r, const row& of, std::string_view peer) {
    const routine what = routine_of(of.kind);
    const measured* const own = best_of(of, peer);
    if (factors_in_place(what) || !own) return 0;
    const row* const other = nearest_row(r, of, peer, [&](const row& each) {
        return each.kind == name_of(facts_of(what).factorization) && each.types == of.types &&
               each.size.m == of.size.m && each.size.n == of.size.n;
    });
    const auto each = [&](const row& which, const measured& m) {
        return m.seconds / static_cast<double>(which.batch);
    };
    return other ? each(of, *own) / each(*other, *best_of(*other, peer)) : 0;
}

double times_f64(const report& r, const row& of, std::string_view peer) {
    const measured* const own = best_of(of, peer);
    if (of.types == "f64" || !own) return 0;
    const row* const other = nearest_row(r, of, peer, [&](const row& each) {
        return each.types == "f64" && each.kind == of.kind && each.size == of.size;
    });
    return other ? (of.flops / own->seconds) / (other->flops / best_of(*other, peer)->seconds) : 0;
}

std::string table_head(const report& r) {
    report common = r;
    common.of = subject::layers; // whose % is of the roofline too
    std::string out = bench::table_head(common);
    out.erase(out.rfind('\n', out.size() - 2) + 1); // the names of their columns
    out += fmt::format("all kernels were made in {:.1f} s, before the first row\n", r.compile_seconds);
    out += "GB/s, % triad: matrices read and written once (by solves read only), whole ones; % bound: what has to be "
           "moved, or with a p the flops; GF/s: LAPACK Working Note 41's flops\n"
           "x factor.: a solve's time over its factorization's, for each matrix; x f64: GF/s over those of f64\n"
           "every call starts from the original matrices, put back before it, which is in no time";
    out += r.energy ? ", and in no energy; uJ: of one matrix\n" : "\n";
    out +=
        fmt::format("{:<16} {:<9} {:<5} {:>4} {:>10} {:>11} {:>10} {:>9} {:>8} {:>8} {:>9} {:>7}", "routine", "size",
                    "type", "rhs", "batch", "us", "GF/s", "GB/s", "% triad", "% bound", "x factor.", "x f64");
    for (const auto& name : present_peers(r)) out += fmt::format(" {:>{}}", "vs " + name, ratio_width);
    if (r.energy)
        for (const auto& name : all_peers(r)) out += fmt::format(" {:>{}}", "uJ " + name, energy_width);
    return out + "\n";
}

std::string table_line(const report& r, const row& of) {
    std::string out =
        fmt::format("{:<16} {:<9} {:<5} {:>4} {:>10}", of.kind, fmt::format("{}x{}", of.size.m, of.size.n), of.types,
                    of.size.k == 0 ? "-" : std::to_string(of.size.k), of.batch);
    const measured* const ours = best_of(of, "ricci");
    if (!ours) return out + fmt::format("  {}\n", of.failure.empty() ? "no time" : of.failure);
    out += fmt::format(
        " {:>11.2f} {:>10.1f} {:>9.1f} {:>8.1f} {:>8} {:>9} {:>7}", ours->seconds * 1e6,
        of.flops / ours->seconds * 1e-9, of.bytes / ours->seconds * 1e-9, percent_of_triad(r, of, *ours),
        fmt::format("{:.1f}{}", percent_of(of, *ours), of.against_peak ? "p" : ""),
        cell(unless_zero(times_factorization(r, of, "ricci")), 3), cell(unless_zero(times_f64(r, of, "ricci")), 3));
    for (const auto& name : present_peers(r)) out += fmt::format(" {:>{}}", ratio_cell(of, name), ratio_width);
    if (r.energy)
        for (const auto& name : all_peers(r)) out += fmt::format(" {:>{}}", microjoules(of, name), energy_width);
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
        auto& json = out["rows"][n];
        json["right_hand_sides"] = of.size.k;
        for (const auto& name : all_peers(r)) {
            if (const double times = times_factorization(r, of, name); times > 0)
                json["times_factorization"][name] = times;
            if (const double times = times_f64(r, of, name); times > 0) json["times_f64"][name] = times;
        }
        for (std::size_t k = 0; k < of.results.size(); ++k) {
            const measured& m = of.results[k];
            auto& result = json["results"][k];
            if (m.seconds > 0) result["percent_of_triad"] = percent_of_triad(r, of, m);
            if (const auto joules = joules_each(of, m)) result["joules_each"] = *joules;
        }
    }
    return out.dump(1) + "\n";
}

std::string to_csv(const report& r) {
    const std::string common = bench::to_csv(r);
    const auto number = [](std::optional<double> value) { return value ? fmt::format(",{:.6g}", *value) : ","; };
    std::string out;
    std::size_t row_number = 0;
    for (std::size_t begin = 0; begin < common.size();) {
        const std::size_t end = common.find('\n', begin);
        out += common.substr(begin, end - begin);
        const row* const of = begin == 0 ? nullptr : &r.rows[row_number++];
        for (const std::string& name : all_peers(r)) {
            if (!of) {
                const std::string prefix = name == "ricci" ? "" : name + "_";
                if (!prefix.empty()) out += fmt::format(",{0}gf_per_s,{0}percent", prefix);
                out += fmt::format(",{0}percent_of_triad,{0}times_factorization,{0}times_f64,{0}joules_each", prefix);
                continue;
            }
            const measured* const best = best_of(*of, name);
            const auto figure = [&](auto f) { return best ? std::optional<double>(f()) : std::nullopt; };
            if (name != "ricci")
                out += number(figure([&] { return of->flops / best->seconds * 1e-9; })) +
                       number(figure([&] { return percent_of(*of, *best); }));
            out += number(figure([&] { return percent_of_triad(r, *of, *best); })) +
                   number(unless_zero(times_factorization(r, *of, name))) +
                   number(unless_zero(times_f64(r, *of, name))) +
                   number(best ? joules_each(*of, *best) : std::nullopt);
        }
        out += "\n";
        begin = end + 1;
    }
    return out;
}

} // namespace ricci::bench::factor
