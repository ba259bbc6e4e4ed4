// report: what follows from the times: percentages, ratios, means.
#include "bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ricci::bench {

namespace {

class geometric_mean {
  public:
    void add(double value, const row& r) {
        if (figure_.rows++ == 0 || value < figure_.least) figure_.least = value, figure_.where = label_of(r);
        logarithms_ += std::log(value);
    }
    summary::figure get() const {
        summary::figure out = figure_;
        if (out.rows > 0) out.mean = std::exp(logarithms_ / static_cast<double>(out.rows));
        return out;
    }

  private:
    summary::figure figure_;
    double logarithms_ = 0;
};

summary summarize(const report& r, const std::string& types) {
    summary out;
    out.what = types.empty() ? "all" : types;
    geometric_mean percent;
    std::vector<geometric_mean> ratios(r.peers.size());
    for (const row& each : r.rows) {
        const measured* const ours = best_of(each, "ricci");
        if (!ours || (!types.empty() && each.types != types)) continue;
        ++out.rows;
        percent.add(percent_of(each, *ours), each);
        for (std::size_t p = 0; p < r.peers.size(); ++p)
            if (const double ratio = ratio_to(each, r.peers[p].name); ratio > 0) ratios[p].add(ratio, each);
    }
    out.percent = percent.get();
    for (std::size_t p = 0; p < r.peers.size(); ++p)
        if (const auto figure = ratios[p].get(); figure.rows > 0) out.ratios.emplace_back(r.peers[p].name, figure);
    return out;
}

} // namespace

const measured* best_of(const row& r, std::string_view peer) {
    const measured* best = nullptr;
    for (const measured& m : r.results) {
        if (m.peer != peer || m.seconds <= 0) continue;
        const auto rank = [](const measured& x) { return std::pair(is_wrong(x), x.seconds); };
        if (!best || rank(m) < rank(*best)) best = &m;
    }
    return best;
}

const char* yardstick_of(const row& r) { return r.against_peak ? "peak" : r.against_read ? "read" : "triad"; }

double unknowns_rate(const row& r, const measured& m) { return r.field ? r.field->unknowns / m.seconds : 0; }

double percent_of(const row& r, const measured& m) {
    return 100 * (r.against_peak ? r.flops : r.bytes) / m.seconds / r.yardstick;
}

double ratio_to(const row& r, std::string_view peer) {
    const measured *const ours = best_of(r, "ricci"), *const theirs = best_of(r, peer);
    return ours && theirs ? theirs->seconds / ours->seconds : 0;
}

std::optional<double> count_of(const row& r, const measured& m, std::size_t event) {
    if (event >= m.counts.size() || !m.counts[event]) return std::nullopt;
    return *m.counts[event] / static_cast<double>(std::max<std::int64_t>(r.batch, 1));
}

std::string label_of(const row& r) {
    if (r.kind == "statement") return r.statement;
    if (r.field)
        return fmt::format("{} p={} {} {}{}{}", r.field->name, r.field->order, r.field->form, r.types,
                           r.field->scatter.empty() ? "" : " ", r.field->scatter);
    std::string text = fmt::format("{}x{}x{} {}", r.size.m, r.size.n, r.size.k, r.types);
    if (r.kind != "batched") text = r.kind + " " + text;
    if (!r.operations.empty()) text += " " + r.operations;
    if (r.kind == "batched") text += fmt::format(" batch {}", r.batch);
    return text;
}

std::vector<summary> summaries_of(const report& r) {
    std::vector<std::string> types;
    for (const row& each : r.rows)
        if (best_of(each, "ricci") && std::find(types.begin(), types.end(), each.types) == types.end())
            types.push_back(each.types);
    std::vector<summary> all;
    if (types.size() > 1)
        for (const std::string& t : types) all.push_back(summarize(r, t));
    if (!types.empty()) all.push_back(summarize(r, ""));
    if (types.size() == 1 && !types.front().empty()) all.back().what = types.front();
    return all;
}

std::pair<std::size_t, std::size_t> checked_and_wrong(const report& r) {
    std::size_t checked = 0, wrong = 0;
    for (const row& each : r.rows)
        for (const measured& m : each.results)
            if (m.peer == "ricci" && m.checked) ++checked, wrong += is_wrong(m) ? 1 : 0;
    return {checked, wrong};
}

} // namespace ricci::bench
