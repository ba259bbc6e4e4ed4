// report: what follows from the times: percentages, ratios, means.
#include "bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

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

using rows = std::vector<const row*>;

template <class F>
rows rows_where(const rows& all, F wanted) {
    rows out;
    for (const row* const each : all)
        if (wanted(*each)) out.push_back(each);
    return out;
}

/// What f gives for the rows, each once, in the order in which it comes first.
template <class F>
std::vector<std::string> found_in(const rows& all, F f) {
    std::vector<std::string> out;
    for (const row* const each : all)
        if (std::find(out.begin(), out.end(), f(*each)) == out.end()) out.push_back(f(*each));
    return out;
}

summary summarize(const report& r, const std::string& what, const rows& of) {
    summary out;
    out.what = what;
    geometric_mean percent;
    std::vector<geometric_mean> ratios(r.peers.size());
    for (const row* const each : of) {
        ++out.rows;
        percent.add(percent_of(*each, *best_of(*each, "ricci")), *each);
        for (std::size_t p = 0; p < r.peers.size(); ++p)
            if (const double ratio = ratio_to(*each, r.peers[p].name); ratio > 0) ratios[p].add(ratio, *each);
    }
    out.percent = percent.get();
    for (std::size_t p = 0; p < r.peers.size(); ++p)
        if (const auto figure = ratios[p].get(); figure.rows > 0) out.ratios.emplace_back(r.peers[p].name, figure);
    return out;
}

/// Of each layer and batch the fastest row whose result is right, if there is one.
rows fastest_of(const rows& all) {
    rows out;
    const auto rank = [](const row& r) {
        const measured* const ours = best_of(r, "ricci");
        return std::pair(is_wrong(*ours), ours->seconds);
    };
    for (const row* const each : all) {
        const auto same = std::find_if(out.begin(), out.end(), [&](const row* other) {
            return other->layer->name == each->layer->name && other->batch == each->batch;
        });
        if (same == out.end())
            out.push_back(each);
        else if (rank(*each) < rank(**same))
            *same = each;
    }
    return out;
}

/// Of the rows of one type: by algorithm, and the best of those by tiles.
void summarize_layers(const report& r, const std::string& types, const rows& of, std::vector<summary>& all) {
    const auto algorithm_of = [](const row& each) { return each.layer->algorithm; };
    const auto add = [&](const std::string& algorithm, const rows& which) {
        all.push_back(summarize(r, types, which));
        all.back().algorithm = algorithm;
    };
    for (const std::string& name : found_in(of, algorithm_of))
        add(name, rows_where(of, [&](const row& each) { return algorithm_of(each) == name; }));
    const rows tiled = rows_where(of, [&](const row& each) { return algorithm_of(each) != "direct"; });
    if (const auto names = found_in(tiled, algorithm_of); names.size() > 1)
        add(fmt::format("best of {}", fmt::join(names, ", ")), fastest_of(tiled));
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
    const double bytes = r.of_elements ? r.element_bytes : r.bytes;
    return 100 * (r.against_peak ? r.flops : bytes) / m.seconds / r.yardstick;
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
    if (r.layer) return fmt::format("{} {} {} batch {}", r.layer->name, r.types, r.layer->algorithm, r.batch);
    std::string text =
        fmt::format("{}x{}{} {}", r.size.m, r.size.n, r.size.k == 0 ? "" : fmt::format("x{}", r.size.k), r.types);
    if (r.kind != "batched") text = r.kind + " " + text;
    if (!r.operations.empty()) text += " " + r.operations;
    if (r.kind == "batched") text += fmt::format(" batch {}", r.batch);
    return text;
}

std::vector<summary> summaries_of(const report& r) {
    rows timed;
    for (const row& each : r.rows)
        if (best_of(each, "ricci")) timed.push_back(&each);
    const auto types = found_in(timed, [](const row& each) { return each.types; });
    std::vector<summary> all;
    for (const std::string& t : types) {
        const rows of = rows_where(timed, [&](const row& each) { return each.types == t; });
        if (r.of == subject::layers)
            summarize_layers(r, t, of, all);
        else if (types.size() > 1)
            all.push_back(summarize(r, t, of));
    }
    if (r.of == subject::layers || types.empty()) return all;
    const bool one = types.size() == 1 && !types.front().empty();
    all.push_back(summarize(r, one ? types.front() : "all", timed));
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
