// matrix_problem_operand: where an operand's elements lie, and access to them.
#include "tests/kernels/matrix_problem_operand.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace ricci::tests {

using namespace lowering;

namespace {

/// Steps, extents and where the first element is, of positions that have strides.
void finish(operand_place& place, const std::vector<operand_index>& indices) {
    std::int64_t lowest = 0;
    place.span = 1;
    for (const auto& p : place.positions) {
        const auto reach = p.stride * (std::max<std::int64_t>(p.extent, 1) - 1);
        lowest += std::min<std::int64_t>(reach, 0);
        place.span += std::abs(reach);
    }
    place.data = -lowest, place.first = -lowest;
    for (const auto& i : indices) place.extent[i.axis] = i.extent;
    for (const auto& p : place.positions) {
        place.first += p.stride * p.constant;
        for (const auto& t : p.terms)
            for (const auto& i : indices)
                if (i.label == t.label)
                    place.step[i.axis] += p.stride * t.coefficient, place.first += p.stride * t.coefficient * i.begin;
    }
}

/// Draws numbers.
class placer {
  public:
    explicit placer(std::mt19937_64& random) : random_(random) {}

    operand_place place(std::vector<operand_index> indices, place_freedom may) {
        operand_place out;
        std::vector<operand_index> left = indices;
        const auto is_sideways = [](const operand_index& i) { return i.axis >= more_column_axis; };
        if (may.may_miss_axes)
            std::erase_if(left, [&](const operand_index& i) { return is_sideways(i) && chance(0.1); });
        std::shuffle(left.begin(), left.end(), random_);
        while (!left.empty()) {
            const auto index = left.back();
            left.pop_back();
            // two axes of the batch in one position, c*e + f
            const auto partner = std::find_if(left.begin(), left.end(), is_sideways);
            if (is_sideways(index) && partner != left.end() && partner->extent > 0 && chance(0.2)) {
                const auto wide = may.may_overlap && chance(0.5) ? 1 : partner->extent;
                out.positions.push_back(position({{index, wide}, {*partner, 1}}));
                left.erase(partner);
            } else {
                out.positions.push_back(position({{index, chance(0.7) ? 1 : coefficient()}}));
            }
        }
        if (chance(0.2)) {
            operand_position fixed;
            fixed.extent = between(1, 3), fixed.constant = between(0, fixed.extent - 1);
            out.positions.insert(out.positions.begin() + between(0, std::ssize(out.positions)), fixed);
        }
        give_strides(out.positions, may, indices);
        finish(out, indices);
        out.displaced = chance(0.2);
        return out;
    }

  private:
    bool chance(double p) { return static_cast<double>(random_() >> 11) * 0x1p-53 < p; }
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
    }
    std::int64_t coefficient() {
        constexpr std::int64_t some[] = {1, 2, 3, -1, -1, -2};
        return some[between(0, std::ssize(some) - 1)];
    }

    operand_position position(const std::vector<std::pair<operand_index, std::int64_t>>& of) {
        operand_position out;
        std::int64_t low = 0, high = 0;
        for (const auto& [index, c] : of) {
            const auto a = c * index.begin, b = c * (index.begin + std::max<std::int64_t>(index.extent, 1) - 1);
            low += std::min(a, b), high += std::max(a, b);
            out.terms.push_back({index.label, c});
        }
        // a plain position mostly, where the index's range may be a part of the tensor's
        const bool is_plain = of.size() == 1 && of[0].second == 1 && chance(0.7);
        out.constant = is_plain ? 0 : between(0, 2) - low;
        out.extent = high + out.constant + 1 + (chance(0.3) ? between(1, 3) : 0);
        return out;
    }

    /// In a random order, or the positions' own; with gaps and backwards.
    void give_strides(std::vector<operand_position>& positions, place_freedom may,
                      const std::vector<operand_index>& indices) {
        std::vector<std::size_t> order(positions.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        if (chance(0.7)) std::shuffle(order.begin(), order.end(), random_);
        std::int64_t run = chance(0.1) ? 2 : 1;
        for (const auto n : order) {
            auto& p = positions[n];
            p.stride = chance(0.1) ? -run : run;
            run *= std::max<std::int64_t>(p.extent, 1) + (chance(0.15) ? between(1, 3) : 0);
            const bool is_of_batch =
                p.terms.size() == 1 && std::any_of(indices.begin(), indices.end(), [&](const auto& i) {
                    return i.label == p.terms[0].label && i.axis >= batch_axis;
                });
            if (may.may_overlap && is_of_batch && chance(0.15)) p.stride = between(0, 3);
            if (may.may_repeat && is_of_batch && chance(0.1)) p.stride = 0;
        }
    }

    std::mt19937_64& random_;
};

} // namespace

operand_place place_as(matrix_layout layout, const std::vector<operand_index>& indices) {
    operand_place out;
    const auto has_rows = !indices.empty() && indices.front().axis == row_axis;
    std::vector<std::size_t> order(indices.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto is_of_batch = [&](std::size_t n) { return indices[n].axis >= batch_axis; };
    if (layout == matrix_layout::row_major && has_rows && indices.size() > 1 && !is_of_batch(1))
        std::swap(order[0], order[1]);
    if (layout == matrix_layout::interleaved) std::stable_partition(order.begin(), order.end(), is_of_batch);
    if (layout == matrix_layout::between && has_rows)
        std::stable_partition(order.begin() + 1, order.end(), is_of_batch);
    for (const auto& i : indices) out.positions.push_back({i.extent, 0, 0, {{i.label, 1}}});
    std::int64_t next = 1;
    for (const auto n : order) {
        out.positions[n].stride = next;
        next *= std::max<std::int64_t>(indices[n].extent, 1);
        if (layout == matrix_layout::padded && n == order[0]) next += 3;
    }
    if (layout == matrix_layout::reversed && has_rows) out.positions[0].stride = -out.positions[0].stride;
    finish(out, indices);
    if (layout == matrix_layout::reversed) ++out.first, ++out.data, ++out.span; // an odd start
    out.displaced = layout == matrix_layout::displaced;
    return out;
}

operand_place place_anywhere(std::mt19937_64& random, std::vector<operand_index> indices, place_freedom may) {
    return placer(random).place(std::move(indices), may);
}

matrix_operand::matrix_operand(scalar_type type, operand_place place) : type_(type), place_(std::move(place)) {
    reserve(place_.span);
}

matrix_operand::matrix_operand(scalar_type type, operand_place place, const matrix_operand& over, std::int64_t from)
    : type_(type), place_(std::move(place)), base_(over.base_ + from), memory_(over.memory_) {}

void matrix_operand::reserve(std::int64_t elements) {
    const auto shift = place_.displaced ? size_of(is_index(type_) ? type_ : real_of(type_)) : 0;
    memory_ = std::make_shared<host_buffer>(
        static_cast<std::size_t>(std::max(elements, place_.span) * size_of(type_)), static_cast<std::size_t>(shift));
    std::memset(memory_->data(), 0x5a, memory_->size());
}

std::byte* matrix_operand::at(std::int64_t i, std::int64_t j, std::int64_t e) const {
    const auto columns = std::max<std::int64_t>(place_.extent[column_axis], 1),
               batch = std::max<std::int64_t>(place_.extent[batch_axis], 1);
    const auto offset = i * place_.step[row_axis] + j % columns * place_.step[column_axis] +
                        j / columns * place_.step[more_column_axis] + e % batch * place_.step[batch_axis] +
                        e / batch * place_.step[more_batch_axis];
    return memory_->data() + (base_ + place_.first + offset) * size_of(type_);
}

matrix_operand::number matrix_operand::get(std::int64_t i, std::int64_t j, std::int64_t e) const {
    if (type_ == scalar_type::i32)
        return static_cast<long double>(*reinterpret_cast<const std::int32_t*>(at(i, j, e)));
    if (type_ == scalar_type::i64)
        return static_cast<long double>(*reinterpret_cast<const std::int64_t*>(at(i, j, e)));
    const auto [re, im] = read_element(at(i, j, e), type_);
    return {re, im};
}

void matrix_operand::set(std::int64_t i, std::int64_t j, std::int64_t e, number x) const {
    if (type_ == scalar_type::i32)
        *reinterpret_cast<std::int32_t*>(at(i, j, e)) = static_cast<std::int32_t>(x.real());
    else if (type_ == scalar_type::i64)
        *reinterpret_cast<std::int64_t*>(at(i, j, e)) = static_cast<std::int64_t>(x.real());
    else
        write_element(at(i, j, e), type_, static_cast<double>(x.real()), static_cast<double>(x.imag()));
}

wide_matrix matrix_operand::matrix(std::int64_t e, bool conjugated) const {
    wide_matrix out(rows(), columns());
    for (std::int64_t j = 0; j < columns(); ++j)
        for (std::int64_t i = 0; i < rows(); ++i) out(i, j) = conjugated ? std::conj(get(i, j, e)) : get(i, j, e);
    return out;
}

void matrix_operand::set_matrix(std::int64_t e, const wide_matrix& x, bool conjugated) const {
    for (std::int64_t j = 0; j < columns(); ++j)
        for (std::int64_t i = 0; i < rows(); ++i) set(i, j, e, conjugated ? std::conj(x(i, j)) : x(i, j));
}

buffer_on_device::buffer_on_device(runtime::backend& b, host_buffer& buffer)
    : backend_(b), whole_(buffer.whole()), ahead_(buffer.data() - whole_.data()),
      memory_(static_cast<std::byte*>(b.allocate(whole_.size()))) {
    b.copy_in(memory_, whole_.data(), whole_.size());
}

} // namespace ricci::tests
