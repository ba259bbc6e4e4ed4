// random_matrix_problem: factorizations and solves from a seed.
#include "tests/kernels/random_matrix_problem.hpp"

#include "tests/seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <random>

namespace ricci::tests {
namespace {

using lowering::routine;
using lowering::scalar_type;

constexpr std::int64_t most_elements = 6000; ///< of all matrices, mostly
constexpr int most_reported = 5;

class maker {
  public:
    explicit maker(std::uint64_t seed) : random_(seed) {}

    matrix_problem make() {
        constexpr routine routines[] = {routine::cholesky,
                                        routine::lu,
                                        routine::qr,
                                        routine::cholesky,
                                        routine::lu,
                                        routine::qr,
                                        routine::solve,
                                        routine::solve,
                                        routine::least_squares,
                                        routine::inverse,
                                        routine::log_determinant,
                                        routine::triangular_solve,
                                        routine::cholesky_solve,
                                        routine::lu_solve,
                                        routine::qr_solve,
                                        routine::apply_q,
                                        routine::form_q};
        constexpr scalar_type types[] = {scalar_type::f64, scalar_type::f32, scalar_type::c128, scalar_type::c64};
        constexpr matrix_layout layouts[] = {
            matrix_layout::dense,    matrix_layout::row_major, matrix_layout::interleaved, matrix_layout::padded,
            matrix_layout::reversed, matrix_layout::between,   matrix_layout::displaced};
        matrix_problem p;
        p.what = pick(routines), p.type = pick(types);
        choose_sizes(p);
        p.layout = pick(layouts), p.sides = pick(layouts);
        if (chance(0.6)) p.places = random_() | 1;
        choose_options(p);
        choose_kind(p);
        p.seed = random_();
        return p;
    }

  private:
    bool chance(double probability) { return static_cast<double>(random_() >> 11) * 0x1p-53 < probability; }
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
    }
    template <class T, std::size_t Count>
    T pick(const T (&from)[Count]) {
        return from[between(0, static_cast<std::int64_t>(Count) - 1)];
    }

    std::int64_t size() { return chance(0.05) ? between(41, 100) : chance(0.5) ? between(1, 12) : between(1, 40); }

    void choose_sizes(matrix_problem& p) {
        const bool any_shape = p.what == routine::lu || p.what == routine::qr || is_of_reflectors(p.what);
        p.n = size();
        p.m = any_shape && chance(0.6) ? size() : p.n;
        if (p.what == routine::qr_solve && p.m < p.n) std::swap(p.m, p.n);
        p.r = chance(0.4) ? 1 : chance(0.1) ? between(9, 40) : between(1, 8);
        p.side_axes = chance(0.2) ? 0 : chance(0.2) ? 2 : 1;
        if (p.side_axes == 0) p.r = 1;
        if (p.side_axes == 2) p.more_sides = between(1, 3);
        if (p.what == routine::form_q) {
            p.side_axes = 1, p.more_sides = 1;
            p.r = between(std::min<std::int64_t>(p.m, 1), p.m);
        }
        p.batch_axes = static_cast<int>(between(0, 2));
        const auto most = std::max<std::int64_t>(most_elements / std::max<std::int64_t>(p.m * p.n, 1), 1);
        if (p.batch_axes > 0) p.batch = chance(0.03) ? 0 : between(1, std::min<std::int64_t>(most, 70));
        if (p.batch_axes > 1)
            p.more_batch = between(1, std::clamp<std::int64_t>(most / std::max<std::int64_t>(p.batch, 1), 1, 5));
    }

    static bool is_of_reflectors(routine what) {
        return what == routine::least_squares || what == routine::qr_solve || what == routine::apply_q ||
               what == routine::form_q;
    }

    void choose_options(matrix_problem& p) {
        const bool is_read = !lowering::factors_in_place(p.what);
        p.conjugated = is_read && !(p.what == routine::inverse) && chance(0.3);
        p.wide = chance(0.3);
        p.apart = p.what == routine::form_q || p.what == routine::least_squares || p.what == routine::qr_solve ||
                  chance(0.6);
        p.given_by_columns = p.apart && p.m == p.n && p.what != routine::apply_q && chance(0.3);
        p.positive = (p.what == routine::solve || p.what == routine::inverse || p.what == routine::log_determinant) &&
                     chance(0.4);
        p.unpivoted = !p.positive &&
                      (p.what == routine::lu || p.what == routine::solve || p.what == routine::lu_solve ||
                       p.what == routine::inverse || p.what == routine::log_determinant) &&
                      chance(0.3);
        p.upper = p.what == routine::triangular_solve && chance(0.5);
        p.unit = p.what == routine::triangular_solve && chance(0.3);
        p.adjoint = (p.what == routine::apply_q || p.what == routine::lu_solve) && chance(0.5);
    }

    void choose_kind(matrix_problem& p) {
        constexpr matrix_kind kinds[] = {matrix_kind::graded,   matrix_kind::large,     matrix_kind::small,
                                         matrix_kind::singular, matrix_kind::dependent, matrix_kind::indefinite,
                                         matrix_kind::zero,     matrix_kind::with_nan,  matrix_kind::nearly_singular};
        if (const auto kind = pick(kinds); chance(0.5) && is_wanted(kind, p) && p.m > 0 && p.n > 0) p.kind = kind;
    }

    std::mt19937_64 random_;
};

} // namespace

matrix_problem make_random_problem(std::uint64_t seed) { return maker(seed).make(); }

std::string run_random_problems(std::size_t count, std::int32_t device) {
    const auto first = number_from_environment("RICCI_TEST_SEED", 1);
    std::string reports;
    int failed = 0;
    for (auto seed = first; seed < first + count && failed < most_reported; ++seed) {
        const auto p = make_random_problem(seed);
        std::string report;
        try {
            report = run_matrix_problem(p, device).mistake;
        } catch (const std::exception& e) {
            report = to_string(p) + ": " + e.what();
        }
        if (!report.empty()) reports += fmt::format("RICCI_TEST_SEED={}: {}\n", seed, report), ++failed;
    }
    return reports;
}

} // namespace ricci::tests
