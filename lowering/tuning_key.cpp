// tuning_key: what the best parameters of a step's kernel depend on.
#include "lowering/tuning_key.hpp"

#include "lowering/batched_layout.hpp"
#include "lowering/blocked_product.hpp"
#include "lowering/cost_model.hpp"
#include "lowering/families.hpp"
#include "lowering/gathers.hpp"
#include "lowering/lane_ring_layout.hpp"
#include "lowering/matrix_sizes.hpp"
#include "lowering/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace ricci::lowering {
namespace {

constexpr std::string_view off_sectors = ", columns off sectors";

using enum axis_class;

struct side {
    std::int64_t extent, stride; ///< of an axis that steps
    axis_class cls;
};

/// Of an operand, the axes that step from one element to another, and those of the batch that would; broadcast ones
/// are none of it.
std::vector<side> sides_of(const step& st, const operand& x) {
    std::vector<side> out;
    for (std::size_t a = 0; a < st.classes.size(); ++a)
        if (st.classes[a] != other && (st.axes[a].extent > 1 || st.classes[a] == batch) && x.stride[a] != 0)
            out.push_back({st.axes[a].extent, x.stride[a], st.classes[a]});
    std::sort(out.begin(), out.end(),
              [](const side& a, const side& b) { return std::abs(a.stride) < std::abs(b.stride); });
    return out;
}

char letter(axis_class c) { return c == m ? 'm' : c == n ? 'n' : c == k ? 'k' : 'e'; }

bool has_batch(const step& st) { return std::find(st.classes.begin(), st.classes.end(), batch) != st.classes.end(); }

std::string layout_of(const step& st, const operand& x) {
    const auto all = sides_of(st, x);
    std::vector<side> inner, batches;
    for (const auto& s : all) (s.cls == batch ? batches : inner).push_back(s);
    std::string out = inner.empty() ? "-" : std::string(1, letter(inner.front().cls));
    std::int64_t next = 1;
    bool dense = true, reversed = false;
    for (const auto& s : inner) {
        dense = dense && s.stride == next;
        reversed = reversed || s.stride < 0;
        next = s.stride * s.extent;
    }
    if (reversed)
        out += " reversed";
    else if (!dense)
        out += inner.front().stride == 1 ? " padded" : " strided";
    if (!x.gathers.empty()) return out + (table_of_addresses(st, x) != nullptr ? " by address" : " gathered");
    if (!has_batch(st)) return out;
    if (batches.empty()) return out + " shared";
    if (batches.size() > 1) return out + " batches";
    const auto slot = std::abs(batches.front().stride);
    if (!inner.empty() && slot < std::abs(inner.front().stride)) return out + " interleaved";
    return out + (!inner.empty() && slot < std::abs(inner.back().stride) ? " mixed"
                  : dense && slot > next                                 ? " apart"
                                                                         : "");
}

std::string strides_of(const step& st, const operand& x) {
    std::string out;
    bool argument = false; // an axis whose extent may change lies within what follows
    for (const auto& s : sides_of(st, x)) {
        out += argument ? fmt::format("{}{}*", out.empty() ? "" : " ", letter(s.cls))
                        : fmt::format("{}{}{}", out.empty() ? "" : " ", letter(s.cls), s.stride);
        argument = argument || s.cls == batch || is_long(st, s.cls);
    }
    return out;
}

/// A step that works on matrices with its axes classified as a product's are: m rows, n columns, k right-hand sides.
step with_classes(step st) {
    const auto& w = st.matrices;
    st.classes.assign(st.axes.size(), other);
    const auto set = [&](std::int32_t axis, axis_class c) {
        if (axis >= 0) st.classes[static_cast<std::size_t>(axis)] = c;
    };
    for (const auto a : batch_of_matrices(st)) set(a, batch);
    set(w.right, k); // of an inverse the rows
    set(w.row, m), set(w.column, n);
    return st;
}

/// What is done in which type, how the matrices lie and what is given and solved for; pivots, tau and info are little
/// beside them.
tuning_key key_of_matrices(const step& st, const machine& chip) {
    const auto& w = st.matrices;
    const auto sizes = matrix_sizes_of(st);
    tuning_key out;
    out.batch = batch_of(st, chip);
    // A size of 0 would be a long one.
    out.sizes = {sizes.m, sizes.n, std::max<std::int64_t>(sizes.r, 1)};
    out.layout = fmt::format("{} {} in {}{}{}{}{}", name_of(st.kernel), name_of(w.method), name_of(st.compute),
                             w.keeps_factors ? " in place" : "", w.upper ? " upper" : "", w.unit ? " unit" : "",
                             w.adjoint ? " adjoint" : "");
    for (const auto& [role, name] : {std::pair(matrix_role::matrix, 'A'), std::pair(matrix_role::solution, 'X'),
                                     std::pair(matrix_role::given, 'B')}) {
        const auto* const found = operand_in(st, role);
        if (found == nullptr) continue;
        auto o = *found;
        // Of a square system B lies along the rows or the columns, as it is solved in place or not: the same to a
        // kernel.
        if (role == matrix_role::given && w.row >= 0 && w.given_row == w.column && !w.smallest_norm)
            std::swap(o.stride[static_cast<std::size_t>(w.row)], o.stride[static_cast<std::size_t>(w.column)]);
        out.layout += fmt::format(", {} {}{}", name, layout_of(st, o),
                                  role == matrix_role::matrix && w.conjugated ? " conj" : "");
        out.strides += fmt::format("{}{} {}", out.strides.empty() ? "" : ", ", name, strides_of(st, o));
    }
    return out;
}

} // namespace

std::string_view name_of(batch_class c) {
    constexpr std::string_view names[] = {"one", "few", "some", "many"};
    return names[static_cast<std::size_t>(c)];
}

/// A tall-skinny product's classes were found by A*B of 2^10 to 2^20 rows, 8 to 64 wide, on an H100 (2026-11-23):
/// what is best for 1.5 MB takes up to 1.8 times as long at 6 MB as what is best there, what is best for 12 MB 1.3
/// times at 4 and at 50 MB, and what is best for 400 MB 1.4 times at 25 MB.
batch_class batch_of(const step& st, const machine& chip) {
    if (!is_long(st, m) && !is_long(st, k))
        return extent_of(st, batch) == 1 ? batch_class::one
               : keeps_busy(st, chip)    ? batch_class::many
                                         : batch_class::few;
    constexpr double low = 40e3, tall = 180e3; // bytes for each processor
    const auto bytes = cost_model(st, chip).bytes / chip.processors;
    return bytes < low ? batch_class::few : bytes < tall ? batch_class::some : batch_class::many;
}

bool has_tall_columns_off_lines(const step& st, const machine& chip) {
    return has_columns_off_lines(st) && batch_of(st, chip) == batch_class::many;
}

bool has_tall_columns_off_sectors(const step& st, const machine& chip) {
    // Narrow A^T B is computed by threads that lie beside each other: a warp takes 512 bytes of a column and more.
    constexpr std::int64_t narrow = 8;
    const bool is_wide = is_long(st, m) || (is_long(st, k) && std::min(extent_of(st, m), extent_of(st, n)) >= narrow);
    return is_wide && chip.kind == target::cuda && has_columns_off_sectors(st) &&
           batch_of(st, chip) == batch_class::many;
}

double as_many_as_h100s(const machine& chip, double bytes) {
    return bytes * static_cast<double>(chip.processors) / 132;
}

std::int64_t class_height(const step& st, std::int64_t row_bytes, const machine& chip) {
    constexpr double low = 1.5e6, middle = 12e6, tall = 400e6; // bytes, on an H100
    const auto c = batch_of(st, chip);
    const auto bytes = as_many_as_h100s(chip, c == batch_class::many ? tall : c == batch_class::some ? middle : low);
    return static_cast<std::int64_t>(bytes / static_cast<double>(row_bytes)) + 1;
}

tuning_key key_of(const step& st, const machine& chip) {
    if (st.matrices.task != matrix_task::none) return key_of_matrices(with_classes(st), chip);
    const auto at = [&](std::int32_t o) -> const operand& { return st.operands[static_cast<std::size_t>(o)]; };
    // bfloat16 moves and multiplies as half does: what was measured of one holds for the other.
    const auto type = [&](std::int32_t o) {
        return name_of(at(o).type == scalar_type::bf16 ? scalar_type::f16 : at(o).type);
    };
    tuning_key out;
    // Lines of batched_lanes, and columns of tall-skinny products, that start at multiples of 16 bytes and others
    // have kernels of their own. What comes by 128 bytes of a column touches five sectors for four where
    // columns start within sectors.
    out.batch = batch_of(st, chip);
    const std::string_view lines = has_tall_columns_off_lines(st, chip)     ? ", columns anywhere"
                                   : has_tall_columns_off_sectors(st, chip) ? off_sectors
                                   : st.kernel != family::batched_lanes     ? ""
                                   : moves_lanes_in_boxes(st, chip)         ? ", lines aligned"
                                   : shifts_lanes(st, chip)                 ? ", lines shifted"
                                                                            : "";
    const bool odd = st.kernel == family::batched_small && chip.kind == target::cuda && loses_matrices(st);
    const bool halved = st.kernel == family::batched_blocked && symmetry_of_c(st) != symmetry::none;
    out.layout = fmt::format(
        "{} {}*{}->{} in {} {}, C {}, A {}{}, B {}{}{}{}", name_of(st.kernel), type(st.x), type(st.y), type(0),
        arithmetic_of(st), st.op == assignment::assign ? "=" : "+=", layout_of(st, at(0)), layout_of(st, at(st.x)),
        st.x_conjugated ? " conj" : "", layout_of(st, at(st.y)), st.y_conjugated ? " conj" : "", lines,
        halved ? ", symmetric"
        : odd  ? ", off words"
               : "");
    const axis_class classes[] = {m, n, k};
    for (std::size_t c = 0; c < 3; ++c) out.sizes[c] = is_long(st, classes[c]) ? 0 : extent_of(st, classes[c]);
    out.strides =
        fmt::format("C {}, A {}, B {}", strides_of(st, at(0)), strides_of(st, at(st.x)), strides_of(st, at(st.y)));
    return out;
}

tuning_key with_columns_on_sectors(tuning_key key) {
    if (const auto at = key.layout.find(off_sectors); at != std::string::npos)
        key.layout.erase(at, off_sectors.size());
    return key;
}

std::string to_string(const tuning_key& key) {
    const auto size = [](std::int64_t s) { return s == 0 ? std::string("long") : fmt::format("{}", s); };
    return fmt::format("m={} n={} k={}, {}, {}", size(key.sizes[0]), size(key.sizes[1]), size(key.sizes[2]),
                       key.layout, name_of(key.batch));
}

} // namespace ricci::lowering
