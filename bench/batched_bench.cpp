// batched_bench: sweeps over batches of small products.
#include "bench/batched_bench.hpp"

#include "bench/cpu_facts.hpp"
#include "bench/stratified.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ricci::bench {

namespace {

constexpr double most_products_drawn = 1e5;
constexpr std::int64_t largest_size = 128; ///< of a sample, unless sizes are given

const std::vector<std::string> layout_names{"contiguous", "interleaved", "shared",
                                            "shared-a",   "gathered",    "pointers"};

std::vector<layout> parse_layouts(const std::string& text) {
    std::vector<layout> all;
    for (const std::string& name : parse_choices(text, "--layout", layout_names))
        all.push_back(
            static_cast<layout>(std::find(layout_names.begin(), layout_names.end(), name) - layout_names.begin()));
    return all;
}

/// What the options' lists say.
struct choices {
    std::vector<shape> shapes;
    std::vector<type_pair> types;
    std::vector<operations> ops;
    std::vector<bool> betas;
    std::vector<layout> layouts;
    std::vector<std::int64_t> batches; ///< empty: by bytes
    std::int64_t bytes = 0;
};

std::vector<shape> shapes_of(const batched_options& o) {
    std::vector<shape> all;
    if (!o.sizes.empty() || o.shapes.empty())
        all = parse_products(o.sizes.empty() ? fmt::format("1..{}", o.sample > 0 ? largest_size : 32) : o.sizes,
                             "--sizes");
    if (!o.shapes.empty())
        for (const shape& s : parse_shapes(o.shapes, "--shape")) all.push_back(s);
    return all;
}

choices read(const batched_options& o, std::int64_t default_bytes) {
    choices c;
    c.shapes = shapes_of(o);
    c.types = parse_types(o.types, "--types");
    c.ops = parse_transpositions(o.transpositions, "--transpose");
    c.betas = parse_betas(o.betas, "--beta");
    c.layouts = parse_layouts(o.layouts);
    if (!o.batch.empty()) c.batches = parse_sizes(o.batch, "--batch");
    c.bytes = o.bytes.empty() ? default_bytes : parse_bytes(o.bytes, "--bytes");
    if (o.sample > 0 && !c.batches.empty()) throw error("--sample draws the batch counts: leave --batch out");
    if (o.cache > 0 && !o.bytes.empty())
        throw error("--in-cache and --bytes both say how much a point takes: leave one out");
    if (o.sample == 0 && !c.batches.empty() && !o.bytes.empty())
        throw error("--batch and --bytes both say how many products there are: leave one out");
    return c;
}

product make(const batched_point& p, std::int64_t padding, std::int64_t batch) {
    return make_batched(p.size, p.types, p.ops, {p.order, padding}, p.accumulate, batch);
}

/// As many products as take c.bytes, or as the caches hold.
std::int64_t most_products(const batched_point& point, const choices& c, const batched_options& o) {
    const product one = make(point, o.padding, 1);
    if (o.cache == 0) return batch_for_bytes(one, c.bytes);
    const std::int64_t first = footprint_of(one), each = footprint_of(make(point, o.padding, 2)) - first;
    return 1 + std::max<std::int64_t>(0, o.cache - first) / each;
}

std::vector<batched_point> sweep(const choices& c, const batched_options& o) {
    std::vector<batched_point> all;
    for (const type_pair& types : c.types)
        for (const operations& ops : c.ops)
            for (const bool beta : c.betas)
                for (const layout order : c.layouts)
                    for (const shape& size : c.shapes) {
                        batched_point point{size, types, ops, beta, order, 1};
                        if (c.batches.empty()) {
                            point.batch = most_products(point, c, o);
                            all.push_back(point);
                        }
                        for (const std::int64_t batch : c.batches) {
                            point.batch = batch;
                            all.push_back(point);
                        }
                    }
    return all;
}

std::vector<batched_point> sample(const choices& c, const batched_options& o) {
    const auto count = static_cast<std::size_t>(o.sample);
    std::uint64_t dimension = 0;
    const auto draw = [&] { return stratified(count, o.seed, dimension++); };
    const auto m = draw(), n = draw(), k = draw(), types = draw(), ops = draw(), betas = draw(), layouts = draw(),
               batches = draw();
    std::vector<batched_point> all;
    for (std::size_t i = 0; i < count; ++i) {
        batched_point point;
        point.size = at_share(c.shapes, m[i]);
        if (o.rectangular) point.size = {point.size.m, at_share(c.shapes, n[i]).n, at_share(c.shapes, k[i]).k};
        point.types = at_share(c.types, types[i]);
        point.ops = at_share(c.ops, ops[i]);
        point.accumulate = c.betas[static_cast<std::size_t>(betas[i] * static_cast<double>(c.betas.size()))];
        point.order = at_share(c.layouts, layouts[i]);
        point.batch = most_products(point, c, o);
        if (!o.full && o.cache == 0)
            point.batch = std::min(point.batch, static_cast<std::int64_t>(
                                                    std::llround(std::pow(most_products_drawn, batches[i]))));
        all.push_back(point);
    }
    return all;
}

row describe(const batched_point& p, const batched_options& o) {
    row r;
    r.kind = "batched";
    r.size = p.size;
    r.batch = p.batch;
    r.types = to_string(p.types);
    r.operations = {p.ops.a, p.ops.b};
    r.layout = layout_names[static_cast<std::size_t>(p.order)];
    r.padding = o.padding, r.offset = o.offset;
    r.accumulate = p.accumulate;
    return r;
}

} // namespace

std::vector<batched_point> points_of(const batched_options& options, std::int64_t default_bytes) {
    const choices c = read(options, default_bytes);
    return options.sample > 0 ? sample(c, options) : sweep(c, options);
}

int run_batched(batched_options options, session_options session_of) {
    const device where = session_of.device.empty() ? default_device() : parse_device(session_of.device);
    if (session_of.in_cache) options.cache = in_cache_bytes(where);
    const auto points = points_of(options, where.is_cpu() ? 200'000'000 : 2'000'000'000);
    session s(session_of);
    for (const batched_point& point : points)
        if (!s.run(describe(point, options), work_of(make(point, options.padding, point.batch)))) break;
    return s.finish();
}

} // namespace ricci::bench
