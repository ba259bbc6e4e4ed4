// families: the kernel families' parameters and limits.
#include "lowering/families.hpp"

#include "lowering/matrix_sizes.hpp"
#include "lowering/temporaries.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace ricci::lowering {

step with_sides_swapped(step st) {
    std::swap(st.x, st.y);
    std::swap(st.x_conjugated, st.y_conjugated);
    for (auto& c : st.classes) c = c == axis_class::m ? axis_class::n : c == axis_class::n ? axis_class::m : c;
    return st;
}

const operand& operand_of(const step& st, int o) {
    return st.operands[static_cast<std::size_t>(o == 0 ? 0 : o == 1 ? st.x : st.y)];
}

std::int64_t extent_of(const step& st, axis_class c) {
    std::vector<char> marked(st.axes.size(), 0);
    for (std::size_t a = 0; a < marked.size(); ++a) marked[a] = st.classes[a] == c;
    return element_count(st.axes, marked);
}

std::int64_t largest_side(const step& st) {
    using enum axis_class;
    return std::max({extent_of(st, m), extent_of(st, n), extent_of(st, k)});
}

std::vector<std::int32_t> axes_of(const step& st, axis_class c) {
    std::vector<std::int32_t> out;
    for (std::size_t a = 0; a < st.classes.size(); ++a)
        if (st.classes[a] == c) out.push_back(static_cast<std::int32_t>(a));
    return out;
}

bool is_long(const step& st, axis_class c) {
    return (st.kernel == family::tall_skinny_atb && c == axis_class::k) ||
           (st.kernel == family::tall_skinny_ab && c == axis_class::m);
}

namespace {

/// Whether an operand's columns along the long axis start at other places than multiples of so many bytes.
bool has_columns_off(const step& st, std::int64_t line) {
    for (int o = 0; o < 3; ++o) {
        const auto& x = operand_of(st, o);
        const auto bytes = size_of(x.type);
        bool along = false, off = false;
        for (std::size_t a = 0; a < st.axes.size(); ++a) {
            if (st.axes[a].extent == 1) continue;
            if (is_long(st, st.classes[a]))
                along = along || std::abs(x.stride[a]) == 1;
            else
                off = off || x.stride[a] * bytes % line != 0;
        }
        if (along && off) return true;
    }
    return false;
}

constexpr std::int64_t piece = 16, sector = 32; // bytes: of an access and of the copy engine, of memory

} // namespace

bool has_columns_off_lines(const step& st) { return has_columns_off(st, piece); }
bool has_columns_off_sectors(const step& st) { return !has_columns_off_lines(st) && has_columns_off(st, sector); }

std::int64_t least_changing_stride(const step& st, std::int32_t operand) {
    const auto& at = st.operands[static_cast<std::size_t>(operand)];
    const bool of_matrices = st.matrices.task != matrix_task::none;
    const auto batch = of_matrices ? batch_of_matrices(st) : std::vector<std::int32_t>();
    const auto may_change = [&](std::size_t a) {
        if (of_matrices) return std::find(batch.begin(), batch.end(), static_cast<std::int32_t>(a)) != batch.end();
        return st.classes[a] == axis_class::batch || is_long(st, st.classes[a]);
    };
    std::int64_t least = INT64_MAX;
    for (std::size_t a = 0; a < st.axes.size(); ++a)
        if (const auto s = std::abs(at.stride[a]); s != 0 && may_change(a))
            least = std::min(least, st.axes[a].extent == 1 ? s : s + 1);
    for (const auto& g : at.gathers)
        if (g.stride != 0) least = std::min(least, std::abs(g.stride) + 1);
    return least;
}

std::int64_t single_step(const step& st, std::int32_t operand, axis_class c) {
    const auto axes = axes_of(st, c);
    return axes.size() == 1
               ? st.operands[static_cast<std::size_t>(operand)].stride[static_cast<std::size_t>(axes.front())]
               : 0;
}

} // namespace ricci::lowering
