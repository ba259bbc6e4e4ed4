// product: sizes, layouts and the statement of a batch of matrix products.
#include "bench/product.hpp"

#include <ricci/dsl/text.hpp>
#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace ricci::bench {

namespace {

constexpr std::int64_t sector_bytes = 32; ///< what a GPU's memory moves at least

struct extents {
    std::int64_t rows = 0, columns = 0;
};

/// The matrix `stored`, which is transposed where `operation` is not 'N', of a batch of `batch`.
matrix lay_out(lowering::scalar_type type, extents stored, char operation, const batch_layout& layout, bool shared,
               std::int64_t batch) {
    matrix out;
    out.type = type;
    std::int64_t rows = 1, columns = stored.rows + layout.padding;
    out.batch_stride = columns * stored.columns;
    if (layout.order == layout::interleaved) {
        rows = batch + layout.padding;
        columns = rows * stored.rows;
        out.batch_stride = 1;
        out.elements = columns * stored.columns;
    } else {
        out.elements = out.batch_stride * (shared ? 1 : batch);
        if (shared) out.batch_stride = 0;
    }
    out.row_stride = operation == 'N' ? rows : columns;
    out.column_stride = operation == 'N' ? columns : rows;
    return out;
}

extents stored(extents used, char operation) { return operation == 'N' ? used : extents{used.columns, used.rows}; }

/// A matrix of a product without a batch; by column, or by row.
matrix lay_out(lowering::scalar_type type, extents used, bool by_column, std::int64_t padding) {
    matrix out = lay_out(type, by_column ? used : extents{used.columns, used.rows}, by_column ? 'N' : 'T',
                         {layout::contiguous, padding}, true, 1);
    return out;
}

/// Every number below `count` once, in random order.
std::shared_ptr<const std::vector<std::int32_t>> random_places(std::int64_t count) {
    auto all = std::make_shared<std::vector<std::int32_t>>(static_cast<std::size_t>(count));
    std::iota(all->begin(), all->end(), 0);
    std::shuffle(all->begin(), all->end(), std::mt19937_64(1));
    return all;
}

/// What tables take of memory, for each product.
std::int64_t table_bytes(const product& p) {
    return !p.places ? 0 : p.by_address ? 3 * sizeof(void*) : sizeof(std::int32_t);
}

/// One index of an operand: where it stands in the text.
struct place {
    char letter;
    std::int64_t extent, stride;
};

std::vector<place> places(const product& p, const matrix& x, char row, std::int64_t rows, char column,
                          std::int64_t columns) {
    std::vector<place> all{{row, rows, x.row_stride}, {column, columns, x.column_stride}};
    if (p.batched && x.batch_stride != 0) all.push_back({'e', p.batch, x.batch_stride});
    std::stable_sort(all.begin(), all.end(), [](const place& l, const place& r) { return l.stride < r.stride; });
    return all;
}

std::string access(char name, const std::vector<place>& all, bool conjugated, bool gathered = false) {
    std::string letters;
    for (const place& at : all)
        letters += fmt::format("{}{}", letters.empty() ? "" : ",",
                               gathered && at.letter == 'e' ? "p(e)" : std::string(1, at.letter));
    return conjugated ? fmt::format("conj({}({}))", name, letters) : fmt::format("{}({})", name, letters);
}

text_operand operand(char name, lowering::scalar_type type, const std::vector<place>& all, void* data, device where) {
    text_operand out;
    out.name = name;
    out.type = type;
    for (const place& at : all) {
        out.extents.push_back(at.extent);
        out.strides.push_back(at.stride);
    }
    out.data = data;
    out.device = where.code();
    return out;
}

double elements(const product& p, const matrix& x, double rows, double columns) {
    return rows * columns * (x.batch_stride == 0 ? 1.0 : static_cast<double>(p.batch));
}

/// Sectors that hold an element, in bytes: counted over runs of elements until the pattern of sectors repeats.
double touched(const product& p, const matrix& x, std::int64_t rows, std::int64_t columns) {
    const std::int64_t size = lowering::size_of(x.type);
    std::vector<place> all{{'i', rows, x.row_stride}, {'j', columns, x.column_stride}};
    if (x.batch_stride != 0) all.push_back({'e', p.batch, x.batch_stride});
    std::erase_if(all, [](const place& at) { return at.extent == 1; });
    std::sort(all.begin(), all.end(), [](const place& l, const place& r) { return l.stride < r.stride; });
    if (all.empty()) return static_cast<double>(size);
    const double total =
        elements(p, x, static_cast<double>(rows), static_cast<double>(columns)) * static_cast<double>(size);
    if (all.front().stride != 1 || all.size() == 1) return total;
    const std::int64_t run = all[0].extent * size, step = all[1].stride * size;
    if (run == step) return total;
    double runs = 1;
    for (std::size_t n = 1; n < all.size(); ++n) runs *= static_cast<double>(all[n].extent);
    const std::int64_t counted = static_cast<std::int64_t>(std::min(runs, static_cast<double>(sector_bytes)));
    std::int64_t sectors = 0, last = -1;
    for (std::int64_t r = 0; r < counted; ++r) {
        const std::int64_t first = std::max(r * step / sector_bytes, last + 1);
        last = (r * step + run - 1) / sector_bytes;
        sectors += last - first + 1;
    }
    return std::max(total, static_cast<double>(sectors * sector_bytes) / static_cast<double>(counted) * runs);
}

} // namespace

product make_batched(const shape& s, const type_pair& types, const operations& ops, const batch_layout& layout,
                     bool accumulate, std::int64_t batch) {
    product p;
    p.m = s.m, p.n = s.n, p.k = s.k, p.batch = batch;
    p.batched = true;
    p.accumulate = accumulate;
    p.a_conjugated = ops.a == 'C' && lowering::is_complex(types.in);
    p.b_conjugated = ops.b == 'C' && lowering::is_complex(types.in);
    p.a = lay_out(types.in, stored({s.m, s.k}, ops.a), ops.a, layout, layout.order == layout::shared_a, batch);
    p.b = lay_out(types.in, stored({s.k, s.n}, ops.b), ops.b, layout, layout.order == layout::shared, batch);
    p.c = lay_out(types.out, {s.m, s.n}, 'N', layout, false, batch);
    p.by_address = layout.order == layout::pointers;
    if (p.by_address || layout.order == layout::gathered) p.places = random_places(batch);
    return p;
}

product make_tall_skinny(tall_kind kind, std::int64_t height, const shape& widths, const type_pair& types,
                         bool by_column, bool accumulate, std::int64_t padding) {
    product p;
    p.accumulate = accumulate;
    if (kind == tall_kind::atb) {
        p.m = widths.m, p.n = widths.n, p.k = height;
        const matrix tall = lay_out(types.in, {height, widths.m}, by_column, padding);
        p.a = tall;
        p.a.row_stride = tall.column_stride, p.a.column_stride = tall.row_stride;
        p.b = lay_out(types.in, {height, widths.n}, by_column, padding);
        p.c = lay_out(types.out, {widths.m, widths.n}, true, 0);
    } else {
        p.m = height, p.n = widths.n, p.k = widths.m;
        p.a = lay_out(types.in, {height, widths.m}, by_column, padding);
        p.b = lay_out(types.in, {widths.m, widths.n}, true, 0);
        p.c = lay_out(types.out, {height, widths.n}, by_column, padding);
    }
    return p;
}

lowering::scalar_type compute_type(const product& p) {
    return lowering::accumulator(lowering::promote(lowering::promote(p.a.type, p.b.type), p.c.type));
}

bool is_rounded(const product& p) {
    return p.math == lowering::math_mode::tf32 && lowering::real_of(p.a.type) == lowering::scalar_type::f32 &&
           lowering::real_of(p.b.type) == lowering::scalar_type::f32;
}

double flops_of(const product& p) {
    const double products =
        static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) * static_cast<double>(p.batch);
    return products * (lowering::is_complex(compute_type(p)) ? 8 : 2);
}

double bytes_of(const product& p) {
    const auto bytes = [&](const matrix& x, std::int64_t rows, std::int64_t columns) {
        return elements(p, x, static_cast<double>(rows), static_cast<double>(columns)) *
               static_cast<double>(lowering::size_of(x.type));
    };
    return bytes(p.a, p.m, p.k) + bytes(p.b, p.k, p.n) + bytes(p.c, p.m, p.n) * (p.accumulate ? 2 : 1) +
           static_cast<double>(table_bytes(p) * p.batch);
}

double touched_bytes_of(const product& p) {
    return touched(p, p.a, p.m, p.k) + touched(p, p.b, p.k, p.n) +
           touched(p, p.c, p.m, p.n) * (p.accumulate ? 2 : 1) + static_cast<double>(table_bytes(p) * p.batch);
}

std::int64_t footprint_of(const product& p) {
    std::int64_t bytes = 0;
    for (const matrix* x : {&p.a, &p.b, &p.c}) {
        std::int64_t own = 0;
        if (__builtin_mul_overflow(x->elements, lowering::size_of(x->type), &own) ||
            __builtin_add_overflow(bytes, own, &bytes))
            throw error("the operands of a product do not fit in 64 bits");
    }
    return bytes + table_bytes(p) * p.batch;
}

std::int64_t batch_for_bytes(product p, std::int64_t bytes) {
    p.batch = 1;
    const double one = bytes_of(p);
    p.batch = 2;
    const double each = bytes_of(p) - one; // a shared operand counts once
    return std::max<std::int64_t>(1, 1 + static_cast<std::int64_t>((static_cast<double>(bytes) - one) / each));
}

std::string text_of(const product& p) {
    const bool gathered = p.places && !p.by_address;
    return fmt::format("{} {} {}*{}", access('C', places(p, p.c, 'i', p.m, 'j', p.n), false),
                       p.accumulate ? "+=" : "=",
                       access('A', places(p, p.a, 'i', p.m, 'k', p.k), p.a_conjugated, gathered),
                       access('B', places(p, p.b, 'k', p.k, 'j', p.n), p.b_conjugated, gathered));
}

lowering::statement bind(const product& p, const operand_set& operands, device where) {
    const text_operand all[] = {operand('A', p.a.type, places(p, p.a, 'i', p.m, 'k', p.k), operands.a, where),
                                operand('B', p.b.type, places(p, p.b, 'k', p.k, 'j', p.n), operands.b, where),
                                operand('C', p.c.type, places(p, p.c, 'i', p.m, 'j', p.n), operands.c, where),
                                operand('p', lowering::scalar_type::i32, {{'e', p.batch, 1}}, operands.table, where)};
    auto s = bind_text(parse_text(text_of(p)).front(), all);
    if (!p.by_address) return s;
    // No text has pointers: the position of the batch, the last, becomes the address of the matrix.
    constexpr std::int64_t order[] = {2, 0, 1}; // accesses are C, A, B
    for (std::size_t a = 0; a < 3; ++a) {
        auto& matrices = s.accesses[a];
        const auto last = static_cast<std::size_t>(matrices.first_position + matrices.position_count - 1);
        auto table = matrices;
        table.data = static_cast<void**>(operands.addresses) + order[a] * p.batch;
        table.type = lowering::scalar_type::address;
        table.first_position = static_cast<std::int32_t>(s.positions.size()), table.position_count = 1;
        s.positions.push_back(s.positions[last]);
        s.positions.back().stride = 1;
        s.positions[last].table = static_cast<std::int32_t>(s.accesses.size());
        s.positions[last].stride = 0, s.positions[last].term_count = 0;
        matrices.data = nullptr;
        s.accesses.push_back(table);
    }
    return s;
}

std::vector<void*> addresses_of(const product& p, const operand_set& operands) {
    std::vector<void*> all;
    const auto add = [&](void* data, const matrix& x, bool in_order) {
        for (std::int64_t e = 0; e < p.batch; ++e)
            all.push_back(static_cast<char*>(data) + (in_order ? e : (*p.places)[static_cast<std::size_t>(e)]) *
                                                         x.batch_stride * lowering::size_of(x.type));
    };
    add(operands.a, p.a, false), add(operands.b, p.b, false), add(operands.c, p.c, true);
    return all;
}

} // namespace ricci::bench
