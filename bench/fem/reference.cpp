// reference: element by element, axis by axis, in long double.
#include "bench/fem/reference.hpp"

#include "bench/fem/notation.hpp"
#include "bench/read_values.hpp"

#include <ricci/runtime/math_mode.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ricci::bench::fem {

namespace {

using exact = long double;
using values = std::vector<exact>;

constexpr double most_flops = 3e7; ///< of a check

values read(const problem& p, const void* tensor, std::int64_t first, std::int64_t count, device where) {
    return read_values<exact>(p.type, tensor, first, count, where);
}

values squares(values x) {
    for (exact& each : x) each *= each;
    return x;
}

/// A matrix stored by column, and whether its transpose is meant.
struct table_1d {
    const values& numbers;
    std::int64_t rows, columns;
    bool transposed = false;

    std::int64_t out() const { return transposed ? columns : rows; }
    std::int64_t in() const { return transposed ? rows : columns; }
    exact operator()(std::int64_t to, std::int64_t from) const {
        return numbers[static_cast<std::size_t>(transposed ? from + rows * to : to + rows * from)];
    }
};

/// Sums over the axis of `x` before which `before` numbers lie.
values along(const table_1d& m, std::int64_t before, const values& x) {
    const auto after = static_cast<std::int64_t>(x.size()) / (before * m.in());
    values y(static_cast<std::size_t>(before * m.out() * after));
    for (std::int64_t r = 0; r < after; ++r)
        for (std::int64_t to = 0; to < m.out(); ++to)
            for (std::int64_t from = 0; from < m.in(); ++from)
                for (std::int64_t l = 0; l < before; ++l)
                    y[static_cast<std::size_t>(l + before * (to + m.out() * r))] +=
                        m(to, from) * x[static_cast<std::size_t>(l + before * (from + m.in() * r))];
    return y;
}

/// What an operator is made of; of squares, it gives the sum of squares of a result's terms.
struct parts {
    values B, G, S; ///< S of one element
};

values apply(const problem& p, const parts& by, const values& u) {
    const std::int64_t P = p.nodes_along(), Q = p.points_along();
    const table_1d B{by.B, Q, P}, Bt{by.B, Q, P, true}, G{by.G, Q, Q}, Gt{by.G, Q, Q, true};
    const auto points = static_cast<std::size_t>(p.points());
    const values w = p.is_collocated() ? u : along(B, Q * Q, along(B, Q, along(B, 1, u)));
    values t(points);
    if (p.is_mass()) {
        for (std::size_t n = 0; n < points; ++n) t[n] = by.S[n] * w[n];
    } else {
        constexpr std::size_t number[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
        const values g[] = {along(G, 1, w), along(G, Q, w), along(G, Q * Q, w)};
        std::int64_t before = 1;
        for (const auto& line : number) {
            values h(points);
            for (std::size_t d = 0; d < 3; ++d)
                for (std::size_t n = 0; n < points; ++n) h[n] += by.S[n + points * line[d]] * g[d][n];
            const values back = along(Gt, before, h);
            for (std::size_t n = 0; n < points; ++n) t[n] += back[n];
            before *= Q;
        }
    }
    return p.is_collocated() ? t : along(Bt, 1, along(Bt, Q, along(Bt, Q * Q, t)));
}

class checker {
  public:
    checker(const problem& p, const std::vector<void*>& operands, device where)
        : p_(p), at_(operands), where_(where), unit_(parts{vector_of(at_B, p.points_along() * p.nodes_along()),
                                                           vector_of(at_G, p.points_along() * p.points_along()),
                                                           {}}) {
        if (p.is_global()) {
            const std::int64_t all = p.mesh.nodes(p.order) * p.components();
            x_ = vector_of(at_u, all), y_ = vector_of(at_v, all);
            numbers_ = numbers_of_nodes(p.mesh, p.order);
        }
        product whole; // a sum of as many terms as the sums of one path through the operator
        const std::int64_t along_one = p.is_collocated() ? 0 : 3 * (p.nodes_along() + p.points_along());
        whole.k = along_one + (p.is_mass() ? 1 : 2 * p.points_along() + 3) + (p.is_global() ? 8 : 0);
        whole.a.type = whole.b.type = whole.c.type = p.type, whole.math = runtime::chosen_math();
        bound_ = bound_of(whole);
    }

    findings all() {
        const double cost = 3 * p_.flops() / static_cast<double>(p_.mesh.elements()) * (p_.is_global() ? 27 : 1);
        const auto count = std::clamp<std::int64_t>(static_cast<std::int64_t>(most_flops / cost), 2, most_elements);
        const std::int64_t last = p_.mesh.elements() - 1;
        std::int64_t before = -1;
        for (std::int64_t n = 0; n < count; ++n)
            if (const std::int64_t e = last * n / (count - 1); e != before) element(e), before = e;
        return found_;
    }

  private:
    static constexpr std::int64_t most_elements = 3000;

    values vector_of(tensor_number which, std::int64_t count) { return read(p_, at_[which], 0, count, where_); }

    /// Of component m in element e, the results' values, and the sums of squares of their terms.
    std::pair<values, values> results(std::int64_t e, std::int64_t m) {
        parts by = unit_;
        const std::int64_t numbers = p_.points() * p_.numbers();
        by.S = read(p_, at_[at_S], e * numbers, numbers, where_);
        values u;
        if (p_.is_global())
            for (std::int64_t n = 0; n < p_.nodes(); ++n) u.push_back(x_[place(e, n, m)]);
        else
            u = read(p_, at_[at_u], (e * p_.components() + m) * p_.nodes(), p_.nodes(), where_);
        return {apply(p_, by, u), apply(p_, {squares(by.B), squares(by.G), squares(by.S)}, squares(u))};
    }

    /// Of node n of element e in a global vector.
    std::size_t place(std::int64_t e, std::int64_t n, std::int64_t m) const {
        return static_cast<std::size_t>(numbers_[static_cast<std::size_t>(e * p_.nodes() + n)] +
                                        m * p_.mesh.nodes(p_.order));
    }

    void element(std::int64_t e) {
        for (std::int64_t m = 0; m < p_.components(); ++m) {
            auto [sums, terms] = results(e, m);
            values stored;
            if (p_.is_global()) {
                add_neighbors(e, m, sums, terms);
                for (std::int64_t n = 0; n < p_.nodes(); ++n) stored.push_back(y_[place(e, n, m)]);
            } else {
                stored = read(p_, at_[at_v], (e * p_.components() + m) * p_.nodes(), p_.nodes(), where_);
            }
            for (std::size_t n = 0; n < stored.size(); ++n)
                compare(found_, bound_, static_cast<double>(stored[n] - sums[n]), static_cast<double>(sums[n]),
                        static_cast<double>(std::sqrt(terms[n])),
                        (e * p_.components() + m) * p_.nodes() + static_cast<std::int64_t>(n));
        }
    }

    /// What the elements around e have in common with it.
    void add_neighbors(std::int64_t e, std::int64_t m, values& sums, values& terms) {
        for (int dz = -1; dz <= 1; ++dz)
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx) {
                    const std::int64_t other = neighbor(p_.mesh, e, {dx, dy, dz});
                    if (other < 0 || other == e) continue;
                    const auto [more, more_terms] = results(other, m);
                    for (std::int64_t n = 0; n < p_.nodes(); ++n)
                        for (std::int64_t o = 0; o < p_.nodes(); ++o)
                            if (place(e, n, m) == place(other, o, m)) {
                                sums[static_cast<std::size_t>(n)] += more[static_cast<std::size_t>(o)];
                                terms[static_cast<std::size_t>(n)] += more_terms[static_cast<std::size_t>(o)];
                            }
                }
    }

    const problem& p_;
    const std::vector<void*>& at_;
    device where_;
    parts unit_; ///< without S
    values x_, y_;
    std::vector<std::int32_t> numbers_;
    error_bound bound_;
    findings found_;
};

} // namespace

findings check(const problem& p, const std::vector<void*>& operands, device where) {
    return checker(p, operands, where).all();
}

} // namespace ricci::bench::fem
