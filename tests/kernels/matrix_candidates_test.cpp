// matrix_candidates_test: every set of parameters that lowering offers for factorizations and solves, by each kernel
// that can take them, judged by LAPACK's test ratios: the tuner may choose any.
#include "lowering/factor_layout.hpp"
#include "lowering/factor_warp.hpp"
#include "lowering/lower.hpp"
#include "lowering/place_temporaries.hpp"
#include "lowering/print.hpp"
#include "runtime/executable.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/matrix_problem_numbers.hpp"
#include "tests/kernels/matrix_problem_statement.hpp"
#include "tests/seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace ricci;
using namespace ricci::tests;
using lowering::family;
using lowering::routine;
using lowering::scalar_type;

namespace {

matrix_problem problem(routine what, scalar_type type, std::int64_t m, std::int64_t n, std::int64_t r,
                       std::int64_t batch, matrix_layout layout = matrix_layout::dense) {
    matrix_problem p;
    p.what = what, p.type = type, p.m = m, p.n = n, p.r = r, p.batch = batch;
    p.layout = p.sides = layout;
    p.seed = static_cast<std::uint64_t>(m * 100 + n);
    return p;
}

/// On both sides of where lanes, lines and panels end; more matrices than a block has, and a rest.
std::vector<matrix_problem> problems() {
    using enum matrix_layout;
    constexpr auto f64 = scalar_type::f64, f32 = scalar_type::f32, c64 = scalar_type::c64, c128 = scalar_type::c128;
    std::vector<matrix_problem> out{
        problem(routine::cholesky, f64, 3, 3, 0, 133),
        problem(routine::cholesky, c64, 9, 9, 0, 19, padded),
        problem(routine::cholesky, f32, 17, 17, 0, 21, row_major),
        problem(routine::cholesky, f64, 33, 33, 0, 5),
        problem(routine::cholesky, f64, 34, 34, 0, 5),
        problem(routine::cholesky, c64, 24, 24, 0, 7),
        problem(routine::cholesky, c128, 20, 20, 0, 7, interleaved),
        problem(routine::lu, f64, 4, 4, 0, 131),
        problem(routine::lu, f32, 7, 12, 0, 37, row_major),
        problem(routine::lu, c64, 16, 16, 0, 19),
        problem(routine::lu, f64, 21, 13, 0, 11, padded),
        problem(routine::lu, c128, 25, 25, 0, 5, interleaved),
        problem(routine::lu, f64, 50, 50, 0, 3),
        problem(routine::lu, f64, 25, 25, 0, 5),
        problem(routine::lu, f32, 13, 29, 0, 9),
        problem(routine::lu, f64, 35, 20, 0, 5),
        problem(routine::lu, f64, 67, 67, 0, 19, padded),
        problem(routine::qr, f64, 5, 3, 0, 67),
        problem(routine::qr, c64, 9, 9, 0, 19, padded),
        problem(routine::qr, f32, 20, 31, 0, 9, row_major),
        problem(routine::qr, f64, 33, 30, 0, 5, interleaved),
        problem(routine::qr, f64, 22, 20, 0, 9),
        problem(routine::qr, c64, 12, 14, 0, 9),
        problem(routine::qr, c128, 70, 37, 0, 2),
        problem(routine::qr, f64, 20, 44, 0, 5),
        problem(routine::qr, f64, 66, 50, 0, 3),
        problem(routine::solve, f64, 6, 6, 3, 41),
        problem(routine::solve, c64, 18, 18, 2, 9, row_major),
        problem(routine::solve, f64, 17, 17, 1, 9),
        problem(routine::solve, f32, 11, 11, 2, 19),
        problem(routine::least_squares, f64, 19, 11, 3, 9, padded),
        problem(routine::least_squares, f64, 3, 5, 1, 67),
        problem(routine::least_squares, f64, 7, 3, 1, 67),
        problem(routine::least_squares, c64, 9, 20, 3, 19, padded),
        problem(routine::least_squares, f32, 17, 40, 9, 11, row_major),
        problem(routine::least_squares, f64, 30, 70, 1, 5, interleaved),
        problem(routine::inverse, f32, 10, 10, 0, 19),
        problem(routine::log_determinant, f64, 9, 9, 0, 19),
        problem(routine::cholesky_solve, f64, 8, 8, 1, 130),
        problem(routine::lu_solve, f32, 17, 17, 5, 40),
        problem(routine::lu_solve, c128, 9, 9, 3, 40, interleaved),
        problem(routine::qr_solve, f64, 40, 33, 2, 6, row_major),
        problem(routine::triangular_solve, c64, 33, 33, 9, 5, padded),
        problem(routine::triangular_solve, f64, 5, 5, 2, 90, interleaved),
        problem(routine::apply_q, f32, 17, 9, 3, 19),
        problem(routine::form_q, f64, 40, 20, 25, 3),
    };
    out.push_back(problem(routine::lu, f64, 12, 12, 0, 19));
    out.back().unpivoted = true;
    out.push_back(problem(routine::solve, f64, 24, 24, 1, 7));
    out.back().positive = true;
    out.push_back(problem(routine::least_squares, c64, 5, 3, 2, 19, row_major));
    out.back().conjugated = true;
    for (const auto& [type, n, r, layout] :
         {std::tuple(c64, 7, 3, dense), {f64, 20, 1, padded}, {c128, 6, 2, interleaved}, {f32, 40, 5, row_major}}) {
        out.push_back(problem(routine::lu_solve, type, n, n, r, 37, layout));
        out.back().adjoint = true;
    }
    return out;
}

/// The plan of a problem's call with its step for matrices done by a kernel with these parameters.
lowering::plan plan_with(const matrix_problem& p, std::int32_t code, const lowering::machine& chip, family kernel,
                         const lowering::batched_tile* tile, lowering::step& out) {
    const problem_operands operands(p);
    std::vector<std::byte*> data;
    for (auto* b : operands.buffers()) data.push_back(b->data());
    auto plan = lowering::lower(operands.call(code, data), chip);
    auto& st = *std::find_if(plan.steps.begin(), plan.steps.end(), [](const lowering::step& each) {
        return each.matrices.task != lowering::matrix_task::none;
    });
    st.kernel = kernel;
    st.workspace = {};
    if (tile != nullptr) {
        st.batched = *tile;
        if (const auto bytes = lowering::factor_workspace_bytes(st, *tile, chip); bytes > 0) {
            st.workspace = {-1 - static_cast<std::int32_t>(plan.temporaries.size()), bytes};
            plan.temporaries.push_back({scalar_type::f64, (bytes + 7) / 8});
        }
    }
    out = st;
    return lowering::place_temporaries(std::move(plan));
}

using candidate_look = std::function<void(const runtime::executable& made, const std::string& name)>;

using candidate_choice = std::function<bool(const lowering::batched_tile&)>;

/// Hands `look` the plans by at most so many of a kernel's sets of parameters, or of those that are wanted, compiled;
/// returns how many there are.
std::size_t each_candidate(const matrix_problem& p, std::int32_t code, family kernel, std::size_t most,
                           std::mt19937_64& random, const candidate_look& look,
                           const candidate_choice& is_wanted = {}) {
    const device where(code);
    const auto chip = runtime::backend_of(where).machine();
    lowering::step st;
    plan_with(p, code, chip, kernel, nullptr, st);
    if ((st.matrices.task == lowering::matrix_task::substitute) != (kernel == family::substitute)) return 0;
    auto candidates = lowering::factor_candidates(st, chip);
    if (is_wanted) std::erase_if(candidates, [&](const auto& tile) { return !is_wanted(tile); });
    const auto all = candidates.size();
    std::shuffle(candidates.begin(), candidates.end(), random);
    candidates.resize(std::min(all, most));
    // each in a thread of its own: most of the time is theirs
    std::vector<std::future<std::unique_ptr<runtime::executable>>> compiled;
    for (const auto& tile : candidates)
        compiled.push_back(std::async(std::launch::async, [&, tile] {
            lowering::step done;
            return std::make_unique<runtime::executable>(where, plan_with(p, code, chip, kernel, &tile, done));
        }));
    for (std::size_t n = 0; n < candidates.size(); ++n)
        look(*compiled[n].get(), fmt::format("{}, {}, {}", to_string(p), lowering::name_of(kernel),
                                             lowering::to_string(candidates[n], st, chip.kind)));
    return all;
}

constexpr family kernels[] = {family::factor_lanes, family::factor_block, family::factor_blocked, family::substitute};

/// Runs the problem, and checks its results.
candidate_look judged(const matrix_problem& p, std::int32_t code) {
    return [&p, code](const runtime::executable& made, const std::string& name) {
        const auto out = run_matrix_problem(p, code, [&](const lowering::statement& s) { made.launch(s); });
        INFO(name);
        CHECK(out.mistake == "");
    };
}

/// The bytes of all operands after a candidate's run on random numbers, of which one matrix's are scaled; but for
/// that matrix's own.
std::vector<std::vector<std::byte>> others_results(const matrix_problem& p, std::int32_t code,
                                                   const runtime::executable& made, std::int64_t changed,
                                                   long double scale) {
    using enum lowering::matrix_role;
    const problem_operands operands(p);
    std::mt19937_64 random(1);
    for (std::int64_t e = 0; e < p.batch; ++e) {
        auto x = make_matrix(p, random);
        if (e == changed)
            for (std::int64_t j = 0; j < p.n; ++j)
                for (std::int64_t i = 0; i < p.m; ++i) x(i, j) *= scale;
        operands.in(matrix)->set_matrix(e, x);
        if (const auto* const o = operands.in(vector); o != nullptr && takes_factors(p.what))
            for (std::int64_t k = 0; k < o->rows(); ++k) o->set(k, 0, e, is_index(o->type()) ? k : 0.5L);
        for (const auto role : {solution, given})
            if (const auto* const o = operands.in(role))
                o->set_matrix(e, random_matrix(o->rows(), o->columns(), p.type, random));
    }
    run_on_device(operands, code, [&](const lowering::statement& s) { made.launch(s); });
    for (const auto role : {matrix, vector, info, log_abs, sign, solution})
        if (const auto* const o = operands.in(role)) o->set_matrix(changed, wide_matrix(o->rows(), o->columns()));
    std::vector<std::vector<std::byte>> out;
    for (auto* buffer : operands.buffers()) out.emplace_back(buffer->whole().begin(), buffer->whole().end());
    return out;
}

} // namespace

TEST_CASE("candidates of factorizations and solves are right") {
    const auto code = device_under_test();
    const auto most = count_of_run();
    std::mt19937_64 random(1);
    for (const auto& p : problems()) {
        std::size_t candidates = 0;
        for (const auto kernel : kernels)
            candidates += each_candidate(p, code, kernel, most, random, judged(p, code));
        INFO(to_string(p));
        CHECK(candidates > 0);
    }
}

TEST_CASE("any number of lanes takes matrices of any kind, those too that it cannot factor the quick way") {
    const auto code = device_under_test();
    if (device(code).is_cpu()) return;
    constexpr auto f64 = scalar_type::f64, f32 = scalar_type::f32, c128 = scalar_type::c128;
    std::mt19937_64 random(1);
    std::vector<matrix_problem> all{
        problem(routine::qr, f64, 64, 9, 0, 5), // three column lanes, or nine, of eight row lanes
        problem(routine::qr, f64, 64, 24, 0, 3, matrix_layout::padded),
        problem(routine::qr, c128, 30, 12, 0, 5),
        problem(routine::least_squares, f64, 20, 9, 2, 9),
        problem(routine::least_squares, f32, 33, 14, 1, 5),
        problem(routine::least_squares, f64, 5, 9, 2, 9),
        problem(routine::least_squares, f64, 19, 11, 3, 9, matrix_layout::padded),
        problem(routine::least_squares, f64, 12, 12, 1, 19),
        problem(routine::least_squares, f32, 16, 5, 4, 9),
        problem(routine::solve, f64, 12, 12, 3, 19),
        problem(routine::solve, f64, 17, 17, 1, 9),
    };
    all.push_back(problem(routine::solve, f64, 19, 19, 2, 9));
    all.back().positive = true;
    for (const auto& p : all) {
        std::set<std::pair<std::int32_t, std::int32_t>> seen;
        const auto other_lanes = [&](const lowering::batched_tile& tile) {
            return seen.emplace(tile.tile_m, tile.tile_n).second;
        };
        const auto look = [&](const runtime::executable& made, const std::string& name) {
            for (const auto kind : {matrix_kind::random, matrix_kind::large, matrix_kind::small,
                                    matrix_kind::singular, matrix_kind::with_nan}) {
                auto of_kind = p;
                of_kind.kind = kind;
                judged(of_kind, code)(made, name);
            }
        };
        INFO(to_string(p));
        CHECK(each_candidate(p, code, family::factor_lanes, 100, random, look, other_lanes) > 1);
    }
}

TEST_CASE("any number of lanes solves with factors that are there, those with a zero on the diagonal too") {
    const auto code = device_under_test();
    if (device(code).is_cpu()) return;
    using enum matrix_layout;
    constexpr auto f64 = scalar_type::f64, f32 = scalar_type::f32, c64 = scalar_type::c64, c128 = scalar_type::c128;
    std::mt19937_64 random(1);
    for (std::int64_t n = 1; n <= 8; ++n) {
        std::vector<matrix_problem> all{
            problem(routine::lu_solve, f64, n, n, 1, 131),
            problem(routine::lu_solve, f32, n, n, 3, 131),
            problem(routine::lu_solve, c64, n, n, 2, 37, row_major),
            problem(routine::lu_solve, f64, n, n, 1, 131, interleaved),
            problem(routine::triangular_solve, c128, n, n, 1, 131),
            problem(routine::triangular_solve, f64, n, n, 2, 131, padded),
            problem(routine::cholesky_solve, f64, n, n, 2, 131),
            problem(routine::qr_solve, f64, n + 1, n, 1, 131),
            problem(routine::apply_q, f32, n + 2, n, 3, 131),
        };
        all[1].adjoint = all[2].adjoint = true;
        for (auto& p : all)
            for (const auto kind : {matrix_kind::random, matrix_kind::singular}) {
                if (kind == matrix_kind::singular && p.what != routine::lu_solve &&
                    p.what != routine::triangular_solve)
                    continue;
                p.kind = kind;
                std::set<std::tuple<std::int32_t, std::int32_t, bool>> seen;
                bool one_lane = false;
                const auto other_lanes = [&](const lowering::batched_tile& tile) {
                    one_lane = one_lane || (tile.tile_m == 1 && tile.boxed);
                    return seen.emplace(tile.tile_m, tile.products, tile.boxed).second;
                };
                INFO(to_string(p));
                CHECK(each_candidate(p, code, family::substitute, 100, random, judged(p, code), other_lanes) > 1);
                if (p.layout == dense) CHECK(one_lane == (std::max(p.m, p.n) <= 8));
            }
    }
}

TEST_CASE("LU by warps is right by panels of 4 and of 8, by 8, 16 and 32 lanes") {
    const auto code = device_under_test();
    if (device(code).is_cpu()) return;
    constexpr auto f64 = scalar_type::f64, f32 = scalar_type::f32, c64 = scalar_type::c64;
    std::mt19937_64 random(1);
    for (const auto& p : {
             problem(routine::lu, f64, 13, 13, 0, 9), // moved to their places; last panels of 5
             problem(routine::lu, f64, 25, 30, 0, 9), // something behind the last panel
             problem(routine::lu, f32, 22, 10, 0, 9),
             problem(routine::lu, c64, 18, 18, 0, 9), // come where they belong
             problem(routine::solve, f64, 15, 15, 2, 9),
             problem(routine::solve, f32, 13, 13, 1, 9),
         }) {
        const auto by_a_warp = [](const lowering::batched_tile& tile) {
            return lowering::is_by_warps(tile) && tile.threads == 32;
        };
        const auto candidates =
            each_candidate(p, code, family::factor_lanes, 100, random, judged(p, code), by_a_warp);
        INFO(to_string(p));
        CHECK(candidates >= 4);
    }
}

TEST_CASE("matrices change no bit of others' results, by any candidate, however extreme they are") {
    const auto code = device_under_test();
    if (device(code).is_cpu()) return; // whose vectors of matrices are scaled together, to other roundings
    using limits = std::numeric_limits<long double>;
    const auto most = count_of_run();
    std::mt19937_64 random(1);
    constexpr auto f64 = scalar_type::f64, f32 = scalar_type::f32, c64 = scalar_type::c64, c128 = scalar_type::c128;
    for (const auto& p : {
             problem(routine::cholesky, f64, 7, 7, 0, 19),
             problem(routine::lu, f64, 9, 9, 0, 19),
             problem(routine::lu, c64, 18, 18, 0, 9),
             problem(routine::lu, c128, 10, 10, 0, 9),
             problem(routine::lu, f64, 67, 67, 0, 3),
             problem(routine::qr, f64, 12, 12, 0, 19),
             problem(routine::qr, c128, 9, 7, 0, 9),
             problem(routine::qr, f32, 14, 20, 0, 9),
             problem(routine::qr, f64, 40, 40, 0, 3),
             problem(routine::solve, f64, 12, 12, 1, 19),
             problem(routine::solve, c128, 11, 11, 2, 9),
             problem(routine::least_squares, f64, 12, 12, 1, 19),
             problem(routine::least_squares, c64, 11, 8, 2, 19),
             problem(routine::least_squares, c128, 12, 12, 1, 9),
             problem(routine::least_squares, f32, 4, 7, 1, 37),
             problem(routine::triangular_solve, c64, 6, 6, 2, 19),
             problem(routine::cholesky_solve, f64, 8, 8, 1, 37),
             problem(routine::lu_solve, c128, 5, 5, 1, 37),
             problem(routine::qr_solve, c64, 9, 7, 1, 19),
         }) {
        const bool narrow = lowering::real_of(p.type) == f32;
        const long double least = narrow ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min(),
                          largest = narrow ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
        std::size_t candidates = 0;
        for (const auto kernel : kernels)
            candidates += each_candidate(p, code, kernel, most, random, [&](const auto& made, const auto& name) {
                const auto before = others_results(p, code, made, p.batch / 2, 1);
                for (const long double scale : {least, 0.0L, largest / 64, limits::infinity(), limits::quiet_NaN()}) {
                    INFO(name << ", scaled by " << scale);
                    CHECK((others_results(p, code, made, p.batch / 2, scale) == before));
                }
            });
        INFO(to_string(p));
        CHECK(candidates > 0);
    }
}
