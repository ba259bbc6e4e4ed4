// matrix_problem_statement: a matrix problem's operands, placed, and its call.
#include "tests/kernels/matrix_problem_statement.hpp"

#include <algorithm>
#include <utility>

namespace ricci::tests {

using namespace lowering;
using enum matrix_role;

namespace {

enum : std::int32_t {
    row_label,
    column_label,
    batch_label,
    more_batch_label,
    side_label,
    more_side_label,
    vector_label
};
constexpr const char* names[] = {"i", "j", "e", "f", "r", "s", "k"};
constexpr matrix_role in_order[] = {matrix, vector, info, log_abs, sign, solution, given};

} // namespace

bool takes_factors(routine what) { return what > routine::triangular_solve; }
bool has_right_sides(routine what) {
    return !factors_in_place(what) && what != routine::inverse && what != routine::log_determinant;
}

matrix_call call_of(const matrix_problem& p) {
    matrix_call c;
    c.what = p.what, c.row = row_label, c.column = column_label;
    c.conjugated = p.conjugated, c.unpivoted = p.unpivoted, c.positive = p.positive;
    c.upper = p.upper, c.unit = p.unit, c.adjoint = p.adjoint;
    return c;
}

problem_operands::problem_operands(const matrix_problem& p) : p_(p), random_(p.places) {
    if (p.places != 0) {
        for (auto& begin : begins_) begin = random_() % 3 == 0 ? static_cast<std::int64_t>(random_() % 4) : 0;
        if (p.what == routine::inverse) begins_[column_label] = begins_[row_label]; // where it stands in place
    }
    const auto is = [&](routine r) { return p.what == r; };
    const auto least = std::min(p.m, p.n);
    const bool writes_matrix = factors_in_place(p.what) || (is(routine::inverse) && !p.apart);
    const operand_index rows{row_axis, row_label, p.m, begin_of(row_label)},
        columns{column_axis, column_label, p.n, begin_of(column_label)};
    const auto integer = p.wide ? scalar_type::i64 : scalar_type::i32;
    add(matrix, p.type, {rows, columns}, p.layout, {false, !writes_matrix, false});
    const operand_index along_vector{row_axis, vector_label, least, begin_of(vector_label)};
    if ((is(routine::lu) || is(routine::lu_solve)) && !p.unpivoted)
        add(vector, integer, {along_vector}, matrix_layout::dense);
    if (is(routine::qr) || is(routine::qr_solve) || is_of_q(p.what))
        add(vector, p.type, {along_vector}, matrix_layout::dense);
    if (!is_of_q(p.what)) add(info, integer, {}, matrix_layout::dense);
    if (is(routine::log_determinant)) {
        add(log_abs, real_of(p.type), {}, matrix_layout::dense);
        add(sign, p.type, {}, matrix_layout::dense);
    }
    if (is(routine::inverse) && p.apart)
        add(solution, p.type,
            {{row_axis, column_label, p.n, begin_of(column_label)},
             {column_axis, row_label, p.n, begin_of(row_label)}},
            p.sides);
    if (!has_right_sides(p.what)) return;
    const auto call = call_of(p);
    add(solution, p.type, works_on_rows(call) ? sides_behind(row_label, p.m) : sides_behind(column_label, p.n),
        p.sides);
    if (!p.apart || is(routine::form_q)) return;
    add(given, p.type, sides_behind(p.given_by_columns != solves_adjoint(call) ? column_label : row_label, p.m),
        p.layout, {true, true, true});
    if (p.places != 0 && random_() % 8 == 0) lay_given_over_solution();
}

std::vector<operand_index> problem_operands::sides_behind(std::int32_t rows, std::int64_t extent) const {
    std::vector<operand_index> out{{row_axis, rows, extent, begin_of(rows)}};
    if (p_.side_axes > 0) out.push_back({column_axis, side_label, p_.r, begin_of(side_label)});
    if (p_.side_axes > 1)
        out.push_back({more_column_axis, more_side_label, p_.more_sides, begin_of(more_side_label)});
    return out;
}

void problem_operands::add(matrix_role role, scalar_type type, std::vector<operand_index> own, matrix_layout layout,
                           place_freedom may) {
    if (p_.batch_axes > 0) own.push_back({batch_axis, batch_label, p_.batch, begin_of(batch_label)});
    if (p_.batch_axes > 1)
        own.push_back({more_batch_axis, more_batch_label, p_.more_batch, begin_of(more_batch_label)});
    auto place = p_.places == 0 ? place_as(layout, own) : place_anywhere(random_, own, may);
    of_role_[static_cast<std::size_t>(role)] = std::make_unique<matrix_operand>(type, std::move(place));
}

/// From an element on that the solution's memory has too.
void problem_operands::lay_given_over_solution() {
    auto& under = of_role_[static_cast<std::size_t>(solution)];
    auto& over = of_role_[static_cast<std::size_t>(given)];
    const auto from = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(under->place().span));
    under->reserve(from + over->place().span);
    over = std::make_unique<matrix_operand>(over->type(), over->place(), *under, from);
}

std::vector<host_buffer*> problem_operands::buffers() const {
    std::vector<host_buffer*> out;
    for (const auto& o : of_role_)
        if (o != nullptr && std::find(out.begin(), out.end(), &o->memory()) == out.end()) out.push_back(&o->memory());
    return out;
}

statement problem_operands::call(std::int32_t device, std::span<std::byte* const> data) const {
    statement s;
    s.call = call_of(p_);
    for (const auto* name : names) s.labels.push_back({name});
    const auto range = [&](std::int32_t l, std::int64_t extent) {
        auto& label = s.labels[static_cast<std::size_t>(l)];
        label.begin = begin_of(l), label.end = begin_of(l) + extent;
    };
    range(side_label, p_.r), range(more_side_label, p_.more_sides), range(vector_label, std::min(p_.m, p_.n));
    if (p_.batch_axes == 0) range(batch_label, 1);
    if (p_.batch_axes < 2) range(more_batch_label, 1);
    if (p_.places != 0) {
        range(row_label, p_.m), range(column_label, p_.n);
        range(batch_label, p_.batch), range(more_batch_label, p_.more_batch);
    }
    const auto all = buffers();
    for (const auto role : in_order) {
        const auto* const o = in(role);
        if (o == nullptr) {
            if (role == solution && p_.what == routine::inverse) solve_into_matrix(s);
            continue;
        }
        access a;
        a.type = o->type(), a.device = device;
        a.data = data[static_cast<std::size_t>(std::find(all.begin(), all.end(), &o->memory()) - all.begin())] +
                 o->data_bytes();
        a.first_position = static_cast<std::int32_t>(s.positions.size());
        a.position_count = static_cast<std::int32_t>(o->place().positions.size());
        for (const auto& p : o->place().positions) {
            s.positions.push_back({p.extent, p.stride, p.constant, static_cast<std::int32_t>(s.terms.size()),
                                   static_cast<std::int32_t>(p.terms.size())});
            for (const auto& t : p.terms) s.terms.push_back({t.label, t.coefficient});
        }
        s.call.of(role) = static_cast<std::int32_t>(s.accesses.size());
        s.accesses.push_back(a);
    }
    return s;
}

void run_on_device(const problem_operands& operands, std::int32_t device,
                   const std::function<void(const statement&)>& launch) {
    auto& b = runtime::backend_of(ricci::device(device));
    std::vector<std::unique_ptr<buffer_on_device>> memory;
    std::vector<std::byte*> data;
    for (auto* buffer : operands.buffers()) {
        memory.push_back(std::make_unique<buffer_on_device>(b, *buffer));
        data.push_back(memory.back()->data());
    }
    launch(operands.call(device, data));
    b.synchronize();
    for (const auto& m : memory) m->fetch();
}

} // namespace ricci::tests
