// report_csv: a report as comma-separated values, a line a row and a group of columns a peer.
#include "bench/report.hpp"

#include <fmt/format.h>

namespace ricci::bench {

namespace {

std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\n") == text.npos) return text;
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + "\"";
}

/// A number, or nothing where there is none.
std::string optional(bool there, double value) { return there ? fmt::format("{:.6g}", value) : ""; }

std::string count_names(const std::string& peer) {
    std::string out;
    for (const counted_event& event : events_of_processor()) out += fmt::format(",{}{}", peer, event.name);
    return out;
}

constexpr const char* field_names = ",operator,order,form,scatter,unknowns,dof_per_s";

std::string field_of(const row& r, const measured* ours) {
    if (!r.field) return "";
    return fmt::format(",{},{},{},{},{:.0f},{}", r.field->name, r.field->order, r.field->form, r.field->scatter,
                       r.field->unknowns, optional(ours, ours ? unknowns_rate(r, *ours) : 0));
}

constexpr const char* layer_names = ",layer,channels,filters,width,height,algorithm";

std::string layer_of(const row& r) {
    if (!r.layer) return "";
    const convolution_layer& l = *r.layer;
    return fmt::format(",{},{},{},{},{},{}", l.name, l.channels, l.filters, l.width, l.height, l.algorithm);
}

/// Of each product, for every event.
std::string counts(const row& r, const measured* m) {
    std::string out;
    for (std::size_t e = 0; e < events_of_processor().size(); ++e) {
        const auto count = m ? count_of(r, *m, e) : std::nullopt;
        out += "," + optional(count.has_value(), count.value_or(0));
    }
    return out;
}

} // namespace

std::string to_csv(const report& r) {
    std::string out =
        "kind,m,n,k,batch,types,math,operations,layout,padding,offset,accumulate,statement,kernel,bytes,flops,"
        "us,gb_per_s,gf_per_s,percent,percent_of,error,wrong,joules";
    if (r.of == subject::fields) out += field_names;
    if (r.of == subject::layers) out += layer_names;
    if (r.counters) out += count_names("");
    for (const peer_version& p : r.peers) {
        out += fmt::format(",{0}_us,{0}_variant,{0}_ratio,{0}_joules", p.name);
        if (r.counters) out += count_names(p.name + "_");
    }
    out += "\n";
    for (const row& each : r.rows) {
        out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.0f},{:.0f}", each.kind, each.size.m,
                           each.size.n, each.size.k, each.batch, each.types, each.math, each.operations, each.layout,
                           each.padding, each.offset, each.accumulate ? 1 : 0, quoted(each.statement),
                           quoted(each.kernel), each.bytes, each.flops);
        const measured* const ours = best_of(each, "ricci");
        const bool timed = ours != nullptr, checked = timed && ours->checked, metered = timed && ours->joules;
        out += fmt::format(",{},{},{},{},{},{},{},{}", optional(timed, timed ? ours->seconds * 1e6 : 0),
                           optional(timed, timed ? each.bytes / ours->seconds * 1e-9 : 0),
                           optional(timed, timed ? each.flops / ours->seconds * 1e-9 : 0),
                           optional(timed, timed ? percent_of(each, *ours) : 0), yardstick_of(each),
                           optional(checked, checked ? ours->checked->worst : 0),
                           checked ? fmt::format("{}", ours->checked->wrong) : "",
                           optional(metered, metered ? *ours->joules : 0));
        out += field_of(each, ours) + layer_of(each);
        if (r.counters) out += counts(each, ours);
        for (const peer_version& p : r.peers) {
            const measured* const best = best_of(each, p.name);
            const bool energy = best && best->joules;
            out += fmt::format(",{},{},{},{}", optional(best, best ? best->seconds * 1e6 : 0),
                               best ? quoted(best->variant) : "", optional(best && timed, ratio_to(each, p.name)),
                               optional(energy, energy ? *best->joules : 0));
            if (r.counters) out += counts(each, best);
        }
        out += "\n";
    }
    return out;
}

} // namespace ricci::bench
