// factor_bench: sweeps over routines, types and sizes.
#include "bench/factor/factor_bench.hpp"

#include "bench/factor/factor_session.hpp"
#include "bench/lists.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace ricci::bench::factor {

namespace {

using lowering::scalar_type;

constexpr double most_numbers = 0x1p40; ///< of a tensor

struct matrix_shape {
    std::int64_t m = 1, n = 1;
};

std::vector<matrix_shape> read_shapes(const options& o) {
    std::vector<matrix_shape> all;
    if (o.shapes.empty()) {
        for (const std::int64_t n : parse_sizes(o.sizes, "--sizes")) all.push_back({n, n});
        return all;
    }
    for (const auto word : split(o.shapes, ',')) {
        const auto sizes = read_extents(word);
        if (sizes.size() != 2) throw error(fmt::format("--shape: '{}' is no shape; write MxN, as 64x16", word));
        all.push_back({sizes[0], sizes[1]});
    }
    return all;
}

void check_size(const problem& p) {
    if (p.m != p.n && !facts_of(p.what).rectangular)
        throw error(
            fmt::format("--shape: {} takes square matrices, not {}x{}; lu, qr, least_squares and qr_solve take "
                        "others",
                        name_of(p.what), p.m, p.n));
    if (p.m < p.n && p.what == routine::qr_solve)
        throw error(fmt::format("--shape: qr_solve takes no fewer rows than columns, not {}x{}; least_squares does",
                                p.m, p.n));
    const double widest = static_cast<double>(std::max(p.n, p.sides));
    if (static_cast<double>(p.longest()) * widest * static_cast<double>(p.batch) > most_numbers)
        throw error(fmt::format("a batch of {} matrices of {}x{} is too large", p.batch, p.m, p.n));
}

/// `p` with as many matrices as take `bytes`; a solve with as many as the factorization that it contains has, so that
/// times of both are of the same batch, unless its right-hand sides take more.
problem filling(problem p, std::int64_t bytes) {
    p.batch = 1;
    problem factorization = p;
    factorization.what = facts_of(p.what).factorization, factorization.sides = 0;
    const double each = std::max(p.bytes(), factorization.bytes());
    p.batch = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(bytes) / each));
    return p;
}

/// What others are compared with comes first: factorizations before solves, f64 before other types.
template <class T, class F>
std::vector<T> with_first(std::vector<T> all, F is_first) {
    std::stable_partition(all.begin(), all.end(), is_first);
    return all;
}

} // namespace

std::vector<problem> points_of(const options& o, std::int64_t default_bytes) {
    const auto routines = with_first(parse_choices(o.routines, "--routines", routine_names()),
                                     [](const std::string& name) { return factors_in_place(routine_of(name)); });
    const auto types =
        with_first(parse_types_among(o.types, "--types",
                                     {scalar_type::f64, scalar_type::f32, scalar_type::c128, scalar_type::c64},
                                     "factorizations"),
                   [](scalar_type type) { return type == scalar_type::f64; });
    const auto shapes = read_shapes(o);
    const auto sides = parse_sizes(o.sides, "--rhs");
    if (!o.batch.empty() && !o.bytes.empty())
        throw error("--batch and --bytes both say how many matrices there are: leave one out");
    const auto batches = o.batch.empty() ? std::vector<std::int64_t>{} : parse_sizes(o.batch, "--batch");
    const std::int64_t bytes = o.bytes.empty() ? default_bytes : parse_bytes(o.bytes, "--bytes");
    std::vector<problem> all;
    const auto add = [&](const problem& p) {
        check_size(p);
        all.push_back(p);
    };
    for (const std::string& name : routines)
        for (const scalar_type type : types)
            for (const matrix_shape& size : shapes)
                for (const std::int64_t r : sides) {
                    problem p{routine_of(name), type, size.m, size.n, 0, 1};
                    if (facts_of(p.what).has_sides)
                        p.sides = r;
                    else if (r != sides.front())
                        continue; // it has none
                    if (batches.empty()) add(filling(p, bytes));
                    for (const std::int64_t batch : batches) {
                        p.batch = batch;
                        add(p);
                    }
                }
    return all;
}

int run(const options& options_of, const session_options& session_of) {
    const device where = session_of.device.empty() ? default_device() : parse_device(session_of.device);
    const auto points = points_of(options_of, where.is_cpu() ? 200'000'000 : 2'000'000'000);
    factor_session s(session_of, points);
    for (const problem& p : points)
        if (!s.run(p)) break;
    return s.finish();
}

} // namespace ricci::bench::factor
