// reference: LAPACK's test ratios of what stands in a set, by plain loops; of f32 in double, of f64 in long double.
#include "bench/factor/reference.hpp"

#include "bench/factor/ratios.hpp"

namespace ricci::bench::factor {

namespace {

using lowering::scalar_type;

constexpr double most_multiplications = 4e7; ///< of one check: well below half a second
constexpr std::int64_t most_matrices = 8, fewest_matrices = 2;

/// What a number is judged in.
template <class S>
struct wider {
    using type = std::conditional_t<std::is_same_v<S, float>, double, long double>;
};
template <class R>
struct wider<std::complex<R>> {
    using type = std::complex<typename wider<R>::type>;
};

/// What an array holds of one matrix: columns that are so long.
template <class S>
std::vector<S> numbers_of(const void* array, device where, std::int64_t e, std::int64_t length,
                          std::int64_t columns) {
    std::vector<S> host(static_cast<std::size_t>(length * columns));
    runtime::copy(cpu(), host.data(), where, static_cast<const S*>(array) + e * length * columns,
                  host.size() * sizeof(S));
    return host;
}

/// One matrix of the batch and what came of it; S: the numbers that are stored.
template <class S>
class judge {
    using T = typename wider<S>::type;

  public:
    judge(const problem& p, const operand_addresses& set, const answer& given, std::int64_t e, device where)
        : p_(p), set_(set), answer_(given), e_(e), where_(where), a_(get(at_original, p.m, p.n, p.m)) {}

    double ratio() const {
        const double unit = roundoff(p_.type);
        switch (p_.what) {
        case routine::cholesky:
            return cholesky_ratio(a_, factors(), unit);
        case routine::lu:
            return lu_ratio(a_, factors(), pivots(), unit);
        case routine::qr:
            return qr_ratio(a_, factors(), tau(), unit);
        case routine::inverse:
            return inverse_ratio(a_, found(), unit);
        case routine::solve_positive:
        case routine::cholesky_solve:
            return solve_ratio(hermitian(a_), found(), sides(), unit);
        case routine::triangular_solve:
            return solve_ratio(lower_of(a_, false), found(), sides(), unit);
        default:
            return p_.m == p_.n  ? solve_ratio(a_, found(), sides(), unit)
                   : p_.m > p_.n ? least_squares_ratio(a_, found(), sides(), unit)
                                 : smallest_solution_ratio(a_, found(), sides(), unit);
        }
    }

  private:
    /// The first rows of columns that are so long.
    matrix<T> get(operand_number which, std::int64_t rows, std::int64_t columns, std::int64_t length) const {
        const auto numbers = numbers_of<S>(set_[which], where_, e_, length, columns);
        matrix<T> to(rows, columns);
        for (std::int64_t j = 0; j < columns; ++j)
            for (std::int64_t i = 0; i < rows; ++i)
                to(i, j) = static_cast<T>(numbers[static_cast<std::size_t>(i + j * length)]);
        return to;
    }
    matrix<T> factors() const { return get(at_A, p_.m, p_.n, p_.m); }
    matrix<T> tau() const { return get(at_vector, p_.least(), 1, p_.least()); }
    std::vector<std::int64_t> pivots() const {
        std::vector<std::int64_t> out;
        for (const auto row : numbers_of<std::int32_t>(set_[at_vector], where_, e_, p_.least(), 1))
            out.push_back(row - answer_.first_pivot);
        return out;
    }
    matrix<T> found() const {
        return get(answer_.solutions, p_.n, p_.columns(), answer_.length > 0 ? answer_.length : p_.n);
    }
    matrix<T> sides() const { return get(at_given, p_.m, p_.sides, p_.longest()); }

    const problem& p_;
    const operand_addresses& set_;
    const answer& answer_;
    std::int64_t e_;
    device where_;
    matrix<T> a_;
};

double ratio_of(const problem& p, const operand_addresses& set, const answer& given, std::int64_t e, device where) {
    switch (p.type) {
    case scalar_type::f32:
        return judge<float>(p, set, given, e, where).ratio();
    case scalar_type::c64:
        return judge<std::complex<float>>(p, set, given, e, where).ratio();
    case scalar_type::f64:
        return judge<double>(p, set, given, e, where).ratio();
    default:
        return judge<std::complex<double>>(p, set, given, e, where).ratio();
    }
}

/// Of the check of one matrix.
double multiplications(const problem& p) {
    const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n), r = static_cast<double>(p.columns());
    const auto k = static_cast<double>(p.least());
    const double real = p.what == routine::qr      ? k * (m * n + 3 * m * k) // Q, and Q^H Q
                        : factors_in_place(p.what) ? k * m * n
                        : p.m < p.n                ? n * m * (2 * m + 3 * r)
                                                   : 2 * m * n * r;
    return (lowering::is_complex(p.type) ? 4 : 1) * real;
}

} // namespace

std::vector<std::int64_t> checked_matrices(const problem& p) {
    const auto affordable = static_cast<std::int64_t>(std::min(most_multiplications / multiplications(p), 1e6));
    const std::int64_t count = std::min(p.batch, std::clamp(affordable, fewest_matrices, most_matrices));
    std::vector<std::int64_t> all;
    for (std::int64_t c = 0; c < count; ++c)
        all.push_back(c == 0 ? 0 : c + 1 == count ? p.batch - 1 : c + (p.batch - count) * c / count);
    return all;
}

findings check(const problem& p, const operand_addresses& set, const answer& given, device where) {
    findings found;
    for (const std::int64_t e : checked_matrices(p)) {
        const double ratio = ratio_of(p, set, given, e, where);
        ++found.looked_at;
        found.worst = std::max(found.worst, ratio);
        if (ratio < largest_ratio) continue;
        if (found.wrong++ == 0) found.first = e;
    }
    return found;
}

} // namespace ricci::bench::factor
