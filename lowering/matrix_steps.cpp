// matrix_steps: from a call of a factorization or a solve to the steps that do it.
#include "lowering/matrix_steps.hpp"

#include "lowering/byte_span.hpp"
#include "lowering/matrix_sizes.hpp"
#include "lowering/operand_overlap.hpp"
#include "lowering/refuse.hpp"
#include "lowering/temporaries.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ricci::lowering {
namespace {

using enum matrix_role;

constexpr matrix_role roles[] = {matrix, vector, info, given, solution, log_abs, sign};

class call_lowerer {
  public:
    call_lowerer(plan p, const statement& s)
        : plan_(std::move(p)), s_(s), call_(s.call), names_(operand_names(s)), st_(plan_.steps.front()) {}

    plan run() {
        check_types();
        check_is_square();
        find_indices();
        check_sizes();
        check_batches();
        st_.op = assignment::assign;
        st_.shape = form::factorization, st_.kernel = family::factor_block; // until choose_form says which
        fill_work();
        make_safe();
        return std::move(plan_);
    }

  private:
    template <class... Args>
    [[noreturn]] void refuse_here(fmt::format_string<Args...> format, Args&&... args) const {
        refuse(s_, format, std::forward<Args>(args)...);
    }

    bool has(matrix_role r) const { return call_.of(r) >= 0; }
    std::size_t number(matrix_role r) const { return static_cast<std::size_t>(call_.of(r)); }
    const operand& at(matrix_role r) const { return st_.operands[number(r)]; }
    const access& access_at(matrix_role r) const { return s_.accesses[number(r)]; }
    std::string text(matrix_role r) const { return to_string(s_, access_at(r)); }
    bool has_index(matrix_role r, std::int32_t label) const {
        return has(r) && at(r).present[static_cast<std::size_t>(label)];
    }
    std::int64_t extent(std::int32_t label) const { return st_.axes[static_cast<std::size_t>(label)].extent; }
    std::string_view name(std::int32_t label) const { return st_.axes[static_cast<std::size_t>(label)].name; }
    std::int32_t labels() const { return static_cast<std::int32_t>(st_.axes.size()); }

    void check_types() const {
        const auto type = at(matrix).type;
        if (is_index(type) || size_of(type) == 2)
            refuse_here("{} is {}; the matrices of {} are f32, f64, c64 or c128", names_[0], name_of(type),
                        name_of(call_.what));
        const auto want_same = [&](matrix_role r) {
            if (has(r) && at(r).type != type)
                refuse_here("{} is {}, but {} is {}: what {} computes with is of one type", names_[number(r)],
                            name_of(at(r).type), names_[0], name_of(type), name_of(call_.what));
        };
        const auto want_integers = [&](matrix_role r, std::string_view what) {
            if (has(r) && at(r).type != scalar_type::i32 && at(r).type != scalar_type::i64)
                refuse_here("{} is {}; {} integers, of 4 or 8 bytes", names_[number(r)], name_of(at(r).type), what);
        };
        if (is_pivoted())
            want_integers(vector, "pivots are");
        else
            want_same(vector);
        want_integers(info, "info takes");
        want_same(given), want_same(solution), want_same(sign);
        if (has(log_abs) && at(log_abs).type != real_of(type))
            refuse_here("{} is {}; the logarithm of the determinant's absolute value is {}", names_[number(log_abs)],
                        name_of(at(log_abs).type), name_of(real_of(type)));
        if (call_.conjugated && factors_in_place(call_.what))
            refuse_here("{} writes its matrix, which therefore cannot be a conjugate", name_of(call_.what));
    }

    /// Whether the vector, if there is one, holds pivots.
    bool is_pivoted() const { return call_.what == routine::lu || call_.what == routine::lu_solve; }
    bool takes_any_shape() const {
        using enum routine;
        return call_.what == lu || call_.what == qr || call_.what == least_squares || call_.what == qr_solve ||
               is_of_q(call_.what);
    }

    void find_indices() {
        work_.row = call_.row, work_.column = call_.column;
        find_sides();
        find_vector();
    }

    void find_sides() {
        if (call_.what == routine::inverse) {
            for (const auto label : {call_.row, call_.column})
                if (!has_index(solution, label))
                    refuse_here("{} lacks index {}: the inverse of A(i,j) is indexed by j and i", text(solution),
                                name(label));
            work_.solution_row = call_.column, work_.right = call_.row;
            return;
        }
        if (!has(solution)) return;
        const bool by_rows = works_on_rows(call_);
        const auto unknown = by_rows ? call_.row : call_.column, other = by_rows ? call_.column : call_.row;
        if (!has_index(solution, unknown))
            refuse_here("{} lacks index {}, along which it is multiplied by {}{}", text(solution), name(unknown),
                        solves_adjoint(call_) ? "the adjoint of " : "", text(matrix));
        if (has_index(solution, other) && !(is_of_q(call_.what) && !has_index(matrix, other)))
            refuse_here("{} has index {}, of the matrix's {}, beside {}", text(solution), name(other),
                        by_rows ? "columns" : "rows", name(unknown));
        work_.solution_row = unknown;
        if (has(given)) {
            const bool by_row = has_index(given, call_.row), by_column = has_index(given, call_.column);
            if (by_row == by_column)
                refuse_here("{} must have one of the indices {} and {}, along which its equations stand", text(given),
                            name(call_.row), name(call_.column));
            work_.given_row = by_row ? call_.row : call_.column;
            if (!by_row && is_of_q(call_.what))
                refuse_here("{} lacks index {}, along which it is multiplied by Q", text(given), name(call_.row));
        }
        // An index that the matrix lacks counts right-hand sides: the longest one, the others are a batch.
        std::vector<std::int32_t> sides;
        for (std::int32_t l = 0; l < labels(); ++l)
            if (has_index(solution, l) && l != unknown && !has_index(matrix, l)) sides.push_back(l);
        check_columns_of_q(sides);
        for (const auto l : sides)
            if (work_.right < 0 || extent(l) > extent(work_.right)) work_.right = l;
        if (work_.right < 0) work_.right = add_axis("1", 1);
    }

    /// Right-hand sides may be counted by several indices, in any order; Q's columns are one matrix's.
    void check_columns_of_q(const std::vector<std::int32_t>& sides) const {
        if (call_.what != routine::form_q) return;
        std::int32_t columns = -1;
        for (const auto l : sides) {
            if (extent(l) == 1) continue;
            if (columns >= 0)
                refuse_here(
                    "{} has two indices that {} lacks, {} and {}: one alone counts the columns of Q, and which "
                    "it is would depend on their extents",
                    text(solution), text(matrix), name(columns), name(l));
            columns = l;
        }
    }

    std::int32_t add_axis(std::string_view name, std::int64_t extent) {
        st_.axes.push_back({name, extent});
        for (auto& o : st_.operands) o.stride.push_back(0), o.present.push_back(0);
        return labels() - 1;
    }

    void find_vector() {
        if (!has(vector)) return;
        const auto what = is_pivoted() ? "pivots" : "reflectors";
        const auto wanted = std::min(extent(call_.row), extent(call_.column));
        for (std::int32_t l = 0; l < labels(); ++l) {
            if (!has_index(vector, l) || (has_index(matrix, l) && l != call_.row && l != call_.column)) continue;
            if (work_.along_vector >= 0)
                refuse_here("{} has two indices that {} lacks, {} and {}: one runs along the {}", text(vector),
                            text(matrix), name(work_.along_vector), name(l), what);
            work_.along_vector = l;
        }
        if (work_.along_vector < 0)
            refuse_here("{} lacks an index of its own, along the {} {}{}", text(vector), wanted, what,
                        factors_in_place(call_.what) ? "; info stands behind them" : "");
        if (extent(work_.along_vector) != wanted)
            refuse_here("index {} of {} runs over {} values; the matrix, {} x {}, has {} {}",
                        name(work_.along_vector), text(vector), extent(work_.along_vector), extent(call_.row),
                        extent(call_.column), wanted, what);
    }

    void check_is_square() const {
        const auto m = extent(call_.row), n = extent(call_.column);
        if (!takes_any_shape() && m != n)
            refuse_here("{} takes square matrices; those of {} are {} x {}", name_of(call_.what), text(matrix), m, n);
    }

    void check_sizes() const {
        const auto m = extent(call_.row), n = extent(call_.column);
        if (call_.what == routine::qr_solve && m < n)
            refuse_here("{} takes matrices with at least as many rows as columns; those of {} are {} x {}. The "
                        "smallest solution takes the factors of the transpose, qr with rows {} and columns {}: solve "
                        "with their triangle, then apply_q; or least_squares, which does it all",
                        name_of(call_.what), text(matrix), m, n, name(call_.column), name(call_.row));
        if (call_.what == routine::form_q && extent(work_.right) > m)
            refuse_here("Q has {} columns; {} asks for {}", m, text(solution), extent(work_.right));
        const bool in_place =
            !has(given) && (call_.what == routine::least_squares || call_.what == routine::qr_solve);
        if ((in_place || (has(given) && work_.given_row == call_.column)) && m != n)
            refuse_here("{} has a value for each of the {} columns, but there are {} equations: give the right-hand "
                        "sides with index {}",
                        text(has(given) ? given : solution), n, m, name(call_.row));
    }

    bool is_batch(std::int32_t l) const {
        for (const auto role : {work_.row, work_.column, work_.right, work_.along_vector})
            if (l == role) return false;
        return true;
    }

    /// Every operand that is written has an element of its own for every matrix.
    void check_batches() const {
        for (const auto r : roles) {
            if (!has(r)) continue;
            for (std::int32_t l = 0; l < labels(); ++l) {
                if (!has_index(r, l) || is_batch(l)) continue;
                const bool in_place = r == matrix || r == solution || r == given || r == vector;
                if (in_place) continue;
                refuse_here("{} has index {}, for which {} has one value", text(r), name(l), what_is(r));
            }
            if (!writes_role(call_, r)) continue;
            std::vector<char> among(st_.axes.size(), 0);
            for (std::int32_t l = 0; l < labels(); ++l) {
                const bool wanted = has_index(r, l) || (is_batch(l) && has_index(matrix, l));
                if (wanted && !has_index(r, l) && extent(l) > 1)
                    refuse_here("{} lacks index {}: there are {} matrices along it, each with {}", text(r), name(l),
                                extent(l), what_is(r));
                among[static_cast<std::size_t>(l)] = wanted;
            }
            if (touches_twice(st_, at(r), among)) refuse_here("{} is written more than once in an element", text(r));
        }
        for (std::int32_t l = 0; l < labels(); ++l)
            if (is_batch(l) && stands_somewhere(l) && !has_index(matrix, l) && !has_index(solution, l) &&
                extent(l) > 1)
                refuse_here("index {} stands neither in the matrix nor in what is solved for", name(l));
    }

    bool stands_somewhere(std::int32_t l) const {
        return std::any_of(st_.operands.begin(), st_.operands.end(),
                           [&](const operand& o) { return o.present[static_cast<std::size_t>(l)] != 0; });
    }

    static std::string_view what_is(matrix_role r) {
        switch (r) {
        case vector:
            return "pivots or reflectors of its own";
        case info:
            return "an info of its own";
        case log_abs:
        case sign:
            return "a determinant of its own";
        case solution:
            return "solutions of its own";
        default:
            return "factors of its own";
        }
    }

    void fill_work() {
        auto& w = work_;
        w.conjugated = call_.conjugated, w.upper = call_.upper, w.unit = call_.unit;
        for (const auto r : roles) w.operand[static_cast<std::size_t>(r)] = call_.of(r);
        w.task = call_.what <= routine::log_determinant ? matrix_task::factor : matrix_task::substitute;
        if (w.task == matrix_task::substitute) st_.shape = form::substitution, st_.kernel = family::substitute;
        w.keeps_factors = factors_in_place(call_.what);
        using enum matrix_method;
        const auto of_lu = call_.unpivoted ? lu_unpivoted : lu;
        switch (call_.what) {
        case routine::cholesky:
        case routine::cholesky_solve:
            w.method = cholesky;
            break;
        case routine::lu_solve:
            w.method = has(vector) ? lu : lu_unpivoted;
            w.adjoint = call_.adjoint;
            break;
        case routine::least_squares:
            w.method = qr;
            if (extent(call_.row) < extent(call_.column)) take_adjoint();
            break;
        case routine::qr:
        case routine::qr_solve:
            w.method = qr;
            break;
        case routine::triangular_solve:
            w.method = triangular;
            break;
        case routine::apply_q:
            w.method = call_.adjoint ? apply_qh : apply_q;
            break;
        case routine::form_q:
            w.method = form_q;
            break;
        default:
            w.method = call_.positive ? cholesky : of_lu;
        }
        if (has(solution) && !has(given) && call_.what != routine::inverse && call_.what != routine::form_q) {
            // in place: what is given lies where the solution comes to lie
            w.operand[static_cast<std::size_t>(given)] = static_cast<std::int32_t>(st_.operands.size());
            w.given_row = w.solution_row;
            st_.operands.push_back(at(solution));
        }
        st_.matrices = w;
    }

    /// Fewer equations than unknowns, A X = B: the matrix becomes M = A^H = Q R, of which X = Q R^-H B.
    void take_adjoint() {
        std::swap(work_.row, work_.column);
        work_.smallest_norm = true;
        work_.conjugated = is_complex(at(matrix).type) && !work_.conjugated;
    }

    bool is_written(const operand& o) const {
        return writes_operand(st_, static_cast<std::size_t>(&o - st_.operands.data()));
    }
    const access& access_of(const operand& o) const { return s_.accesses[static_cast<std::size_t>(o.source)]; }

    bool share_memory(const operand& a, const operand& b) const {
        const auto &x = access_of(a), &y = access_of(b);
        if (x.local != y.local || span_of(s_, x).is_apart_from(span_of(s_, y))) return false;
        const auto address = [&](const operand& o) {
            return reinterpret_cast<std::intptr_t>(access_of(o).data) + o.offset * size_of(o.type);
        };
        return touch(st_, a, b, address(a) - address(b));
    }

    std::int64_t stride(const operand& o, std::int32_t axis) const {
        return axis < 0 || extent(axis) == 1 ? 0 : o.stride[static_cast<std::size_t>(axis)];
    }

    bool is_same_start(const operand& a, const operand& b) const {
        const auto &x = access_of(a), &y = access_of(b);
        if (x.data != y.data || x.type != y.type || x.local != y.local || a.offset != b.offset) return false;
        for (std::int32_t l = 0; l < labels(); ++l)
            if (is_batch(l) && stride(a, l) != stride(b, l)) return false;
        return true;
    }

    /// Whether two operands of which one is written may be the same memory: every kernel reads what is given of a
    /// matrix before it writes any of its solutions.
    bool is_in_place(const operand& a, const operand& b) const {
        if (!is_same_start(a, b)) return false;
        const auto& w = st_.matrices;
        const auto is = [&](const operand& o, matrix_role r) {
            return w.of(r) == static_cast<std::int32_t>(&o - st_.operands.data());
        };
        const auto pair = [&](matrix_role r, matrix_role q) {
            return (is(a, r) && is(b, q)) || (is(a, q) && is(b, r));
        };
        if (pair(given, solution)) {
            const auto &g = is(a, given) ? a : b, &x = is(a, given) ? b : a;
            // of more equations than unknowns those of one matrix could lie where another's solution comes to lie
            return stride(g, w.given_row) == stride(x, w.solution_row) && stride(g, w.right) == stride(x, w.right) &&
                   (extent(w.given_row) <= extent(w.solution_row) || !touches_twice(st_, g, g.present));
        }
        if (pair(matrix, solution) && w.task == matrix_task::factor && w.of(given) < 0) { // an inverse
            const auto &m = is(a, matrix) ? a : b, &x = is(a, matrix) ? b : a;
            return stride(m, w.row) == stride(x, w.solution_row) && stride(m, w.column) == stride(x, w.right);
        }
        return false;
    }

    void make_safe() {
        std::vector<std::size_t> copied;
        for (std::size_t o = 0; o < st_.operands.size(); ++o)
            for (std::size_t w = 0; w < st_.operands.size(); ++w) {
                const auto &a = st_.operands[o], &b = st_.operands[w];
                if (o == w || !is_written(b) || (is_written(a) && o > w) || !share_memory(a, b) || is_in_place(a, b))
                    continue;
                const auto shown = [&](const operand& x) { return to_string(s_, access_of(x)); };
                if (is_written(a) || is_index(a.type))
                    refuse_here("{} shares memory with {}, which is written{}", shown(a), shown(b),
                                is_written(a) ? " too" : "");
                if (std::find(copied.begin(), copied.end(), o) == copied.end()) copied.push_back(o);
            }
        std::vector<step> first;
        for (const auto o : copied) {
            auto& here = st_.operands[o];
            plan_.notes.push_back(
                fmt::format("{} overlaps what is written: copied first", to_string(s_, access_of(here))));
            here.overlaps = true; // so that the copy is whole before anything is written
            auto copy = add_temporary(plan_, st_.axes, here.present, here.type, {here});
            first.push_back(copy_step(st_, copy, assignment::assign, here, here.type));
            here = std::move(copy);
        }
        plan_.steps.insert(plan_.steps.begin(), std::make_move_iterator(first.begin()),
                           std::make_move_iterator(first.end()));
    }

    plan plan_;
    const statement& s_;
    const matrix_call& call_;
    std::vector<std::string> names_;
    step& st_;
    matrix_work work_;
};

} // namespace

plan matrix_steps(plan p, const statement& s) { return call_lowerer(std::move(p), s).run(); }

} // namespace ricci::lowering
