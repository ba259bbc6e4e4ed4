// tall_skinny_bench: sweeps over products with one long side.
#include "bench/tall_skinny_bench.hpp"

namespace ricci::bench {

namespace {

product make(const tall_point& p, std::int64_t padding) {
    return make_tall_skinny(p.kind, p.height, p.widths, p.types, p.by_column, p.accumulate, padding);
}

row describe(const tall_point& point, const tall_skinny_options& o) {
    const product p = make(point, o.padding);
    row r;
    r.kind = point.kind == tall_kind::atb ? "atb" : "ab";
    r.size = {p.m, p.n, p.k};
    r.types = to_string(point.types);
    r.operations = point.kind == tall_kind::atb ? "TN" : "NN";
    r.layout = point.by_column ? "column" : "row";
    r.padding = o.padding, r.offset = o.offset;
    r.accumulate = point.accumulate;
    r.against_read = point.kind == tall_kind::atb; // it writes next to nothing
    return r;
}

} // namespace

std::vector<tall_point> points_of(const tall_skinny_options& o) {
    const auto kinds = parse_choices(o.kinds, "--kind", {"atb", "ab"});
    const auto orders = parse_choices(o.orders, "--order", {"column", "row"});
    const auto heights = parse_sizes(o.heights, "--height");
    const auto widths = parse_widths(o.widths, "--widths");
    const auto types = parse_types(o.types, "--types");
    const auto betas = parse_betas(o.betas, "--beta");
    std::vector<tall_point> all;
    for (const auto& kind : kinds)
        for (const type_pair& type : types)
            for (const auto& order : orders)
                for (const bool beta : betas)
                    for (const std::int64_t height : heights)
                        for (const shape& width : widths)
                            all.push_back({kind == "atb" ? tall_kind::atb : tall_kind::ab, height, width, type,
                                           order == "column", beta});
    return all;
}

int run_tall_skinny(const tall_skinny_options& options, session_options session_of) {
    const auto points = points_of(options);
    session_of.plain_loops = false; // a thread an element: a second for a long sum
    session s(session_of);
    for (const tall_point& point : points)
        if (!s.run(describe(point, options), work_of(make(point, options.padding)))) break;
    return s.finish();
}

} // namespace ricci::bench
