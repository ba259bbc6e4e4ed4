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
    if (p.m != p.n && p.what != routine::lu && p.what != routine::qr)
        throw error(fmt::format("--shape: {} takes square matrices, not {}x{}; --routines lu,qr take others",
                                lowering::name_of(p.what), p.m, p.n));
    const double widest = static_cast<double>(std::max(p.n, p.sides));
    if (static_cast<double>(std::max(p.m, p.n)) * widest * static_cast<double>(p.batch) > most_numbers)
        throw error(fmt::format("a batch of {} matrices of {}x{} is too large", p.batch, p.m, p.n));
}

/// `p` with as many matrices as take `bytes`.
problem filling(problem p, std::int64_t bytes) {
    p.batch = 1;
    p.batch = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(bytes) / p.bytes()));
    return p;
}

} // namespace

std::vector<problem> points_of(const options& o, std::int64_t default_bytes) {
    const auto routines = parse_choices(o.routines, "--routines", routine_names());
    const auto types = parse_types_among(o.types, "--types",
                                         {scalar_type::f64, scalar_type::f32, scalar_type::c128, scalar_type::c64},
                                         "factorizations");
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
                    if (solves(p.what))
                        p.sides = r;
                    else if (r != sides.front())
                        continue; // a factorization has none
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
    factor_session s(session_of);
    for (const problem& p : points)
        if (!s.run(p)) break;
    return s.finish();
}

} // namespace ricci::bench::factor
