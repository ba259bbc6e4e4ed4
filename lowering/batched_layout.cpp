// batched_layout: how the operands of a batched product lie in a block's shared memory on a GPU.
#include "lowering/batched_layout.hpp"

#include "lowering/box_layout.hpp"
#include "lowering/families.hpp"
#include "lowering/gathers.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cstdlib>

namespace ricci::lowering {
namespace {

using enum axis_class;

/// What part of a span must be the operand's own. Gaps cost bandwidth, but element by element packed operands reach a
/// third of it.
constexpr double least_use = 0.3;

struct matrix {
    std::int64_t rows, columns, row_stride, column_stride;
    bool has_single_axes;
};

/// Strides of axes that do not step are 0: one row, or one column.
matrix matrix_of(const step& st, int o) {
    const auto rows = o == 2 ? k : m, columns = o == 1 ? k : n;
    const auto& strides = operand_of(st, o).stride;
    const auto stride = [&](axis_class c) {
        const auto axes = axes_of(st, c);
        return axes.size() == 1 && extent_of(st, c) > 1 ? strides[static_cast<std::size_t>(axes.front())] : 0;
    };
    return {extent_of(st, rows), extent_of(st, columns), stride(rows), stride(columns),
            axes_of(st, rows).size() < 2 && axes_of(st, columns).size() < 2};
}

/// The least number from `at` on that leaves `remainder`.
std::int64_t raised(std::int64_t at, std::int64_t modulus, std::int64_t remainder) {
    return at + ((remainder - at) % modulus + modulus) % modulus;
}

/// Elements from one line to the next: lines start at multiples of 16 bytes, and what a tensor core's tile reads at
/// once of them lies on different banks: eight lines of 16 bytes, or four neighbors of each of eight, by parts of a
/// warp where they are longer than 4 bytes.
std::int64_t line_pitch(std::int64_t length, std::int64_t bytes, bool along_k) {
    const auto rest = bytes == 2 || (bytes == 4 && along_k) ? 16 : bytes == 16 && along_k ? 64 : 32;
    return raised(length * bytes, 2 * rest, rest) / bytes;
}

staged_operand packed(const step& st, int o, const matrix& x) {
    staged_operand out;
    const auto& strides = operand_of(st, o).stride;
    const auto bytes = size_of(operand_of(st, o).type);
    bool shared = o != 0, aligned = x.has_single_axes && begins_at_word(operand_of(st, o));
    for (const auto b : axes_of(st, batch)) {
        const auto stride = strides[static_cast<std::size_t>(b)];
        shared = shared && stride == 0;
        aligned = aligned && stride * bytes % 16 == 0;
    }
    for (const auto& g : operand_of(st, o).gathers) shared = false, aligned = aligned && g.stride * bytes % 16 == 0;
    // what is left of a padded line comes number by number, of 2 bytes too slowly
    const auto is_line = [&](std::int64_t step, std::int64_t length, std::int64_t between) {
        return aligned && step == 1 && (length * bytes % 16 == 0 || (bytes > 2 && length * bytes > 16)) &&
               between * bytes % 16 == 0;
    };
    if (is_line(x.row_stride, x.rows, x.column_stride)) {
        out.line = x.rows;
        out.column = line_pitch(x.rows, bytes, o == 2);
        out.length = out.column * x.columns;
    } else if (is_line(x.column_stride, x.columns, x.row_stride)) {
        out.line = x.columns;
        out.row = line_pitch(x.columns, bytes, o == 1);
        out.length = out.row * x.rows;
    } else {
        out.column = x.rows | 1; // neighbors in a row on different banks
        out.length = out.column * (x.columns - 1) + x.rows;
    }
    out.slot = shared ? 0 : out.line > 0 ? out.length : out.column * x.columns;
    return out;
}

/// Whether a warp's accesses to a span would wait for each other so long that lines of their own are faster: half and
/// bfloat16 columns a multiple of 128 bytes apart, or of 64 where they are longer than that, c64 of 256, f32 with
/// gaps of 64 (58 to 91 % of the triad instead of 43 to 58, on an H200). Others run at the memory's speed as spans
/// (measured on an H100).
bool has_crowded_banks(const step& st, int o, const staged_operand& lines, const matrix& x) {
    const auto type = operand_of(st, o).type;
    const bool of_columns = x.row_stride == 1;
    const auto between = of_columns ? x.column_stride : x.row_stride, bytes = between * size_of(type);
    const bool has_gaps = between > (of_columns ? x.rows : x.columns);
    return lines.line > 0 && ((size_of(type) == 2 && bytes % (bytes > 128 ? 64 : 128) == 0) ||
                              (type == scalar_type::c64 && bytes % 256 == 0) ||
                              (type == scalar_type::f32 && has_gaps && bytes % 64 == 0));
}

/// Makes a packed operand a run, where that is faster: few gaps, none in C, and no crowded banks.
void take_run(const step& st, int o, const matrix& x, staged_operand& staged) {
    const auto length = (x.rows - 1) * x.row_stride + (x.columns - 1) * x.column_stride + 1, own = x.rows * x.columns;
    if (o == 0 ? length != own : static_cast<double>(own) < least_use * static_cast<double>(length)) return;
    if (has_crowded_banks(st, o, staged, x)) return;
    const auto bytes = size_of(operand_of(st, o).type), part = size_of(real_of(operand_of(st, o).type));
    const auto slot = (length * bytes + 16 - part + 15) / 16 * 16 / bytes;
    staged = {false, slot, x.row_stride, x.column_stride, length, 0, true};
}

} // namespace

bool has_places(const step& st) { return axes_of(st, batch).size() > 1 || is_gathered(st); }

batched_layout batched_layout_of(const step& st) {
    batched_layout out;
    out.all_steps = extent_of(st, k);
    const auto batches = axes_of(st, batch);
    for (int o = 0; o < 3; ++o) {
        const auto x = matrix_of(st, o);
        auto& staged = out.operands[static_cast<std::size_t>(o)];
        staged = packed(st, o, x);
        const bool steps_up = (x.rows == 1 || x.row_stride > 0) && (x.columns == 1 || x.column_stride > 0);
        if (!steps_up || !x.has_single_axes) continue;
        if (const bool gathered = !operand_of(st, o).gathers.empty(); gathered || batches.size() > 1) {
            if (gathered || (staged.line == 0 && staged.slot > 0)) take_run(st, o, x, staged);
            continue;
        }
        const auto slot = batches.empty() ? 0 : operand_of(st, o).stride[static_cast<std::size_t>(batches.front())];
        if (slot < 0) continue;
        const auto length = (x.rows - 1) * x.row_stride + (x.columns - 1) * x.column_stride + 1;
        const auto taken = static_cast<double>(std::max(slot, length)), own = static_cast<double>(x.rows * x.columns);
        const bool has_a_matrix_each = slot >= length || (slot == 0 && (o != 0 || batches.empty()));
        if (!has_a_matrix_each || own < least_use * taken || has_crowded_banks(st, o, staged, x)) continue;
        staged = {true, slot, x.row_stride, x.column_stride, length, 0, false};
        if (o == 0) out.c_is_dense = length == x.rows * x.columns && (slot == length || batches.empty());
    }
    return out;
}

void realign(const step& st, const batched_tile& t, batched_layout& layout) {
    const auto ek = extent_of(st, k), whole_k = up(ek, 8) * 8;
    layout.realigned = true;
    layout.all_steps = whole_k;
    for (int o = 1; o < 3; ++o) {
        auto& x = layout.operands[static_cast<std::size_t>(o)];
        auto& again = layout.again[static_cast<std::size_t>(o)];
        const bool rows_are_lines = x.column == 1, along_k = rows_are_lines == (o == 1);
        const bool has_columns = t.columns_apart && (o == 1) == t.c_transposed; // of the tiles
        const auto tiles = has_columns ? t.tile_n : 1;
        const auto side = extent_of(st, o == 1 ? m : n), whole_side = up(side, 8 * tiles) * 8 * tiles;
        again.tiles_in_turn = has_columns ? tiles : 0, again.columns_are_lines = has_columns && along_k;
        again.lines = along_k ? side : ek, again.length = along_k ? ek : side;
        again.all_lines = along_k ? side : whole_k, again.all_length = along_k ? whole_k : whole_side;
        again.from_pitch = rows_are_lines ? x.row : x.column;
        again.pitch = raised(again.all_length, 16, 8); // eight lines, 16 bytes of each: all banks
        again.elements = (along_k ? whole_side : whole_k) * again.pitch;
        again.slot = x.slot == 0 ? 0 : again.elements;
        (rows_are_lines ? x.row : x.column) = again.pitch;
    }
}

batched_layout batched_layout_of(const step& st, const batched_tile& t) {
    auto out = batched_layout_of(st);
    if (t.realigned) realign(st, t, out);
    return out;
}

bool can_realign(const step& st, const batched_layout& layout) {
    if (!layout.operands[0].is_span || span_fragments(st, layout) != fragment_load::elements) return false;
    for (int o = 1; o < 3; ++o) {
        const auto& x = layout.operands[static_cast<std::size_t>(o)];
        if (size_of(operand_of(st, o).type) != 2 || (!x.is_span && !x.is_run) || (x.row != 1 && x.column != 1))
            return false;
    }
    return true;
}

namespace {

std::int64_t region_bytes(const step& st, const batched_layout& layout, int o, std::int64_t products) {
    const auto& staged = layout.operands[static_cast<std::size_t>(o)];
    const auto last = staged.is_run ? staged.slot : staged.length;
    const auto bytes = ((products - 1) * staged.slot + last) * size_of(operand_of(st, o).type);
    return (bytes + 127) / 128 * 128 + (staged.is_span ? 128 : 0); // a span lies at its address modulo 128
}

std::int64_t again_bytes(const batched_layout& layout, std::size_t o, std::int64_t products) {
    const auto& x = layout.again[o];
    return ((products - 1) * x.slot + x.elements) * 2 / 128 * 128 + 128;
}

} // namespace

batched_regions regions_of(const step& st, const batched_layout& layout, std::int64_t products) {
    batched_regions out;
    out.end = barrier_bytes;
    for (std::size_t o = 0; o < 3; ++o) {
        if (layout.realigned && o == 0) continue;
        auto bytes = region_bytes(st, layout, static_cast<int>(o), products);
        if (layout.realigned)
            bytes =
                std::max(bytes, o == 1 ? again_bytes(layout, 2, products) : region_bytes(st, layout, 0, products));
        out.staged[o] = out.end;
        out.end += bytes;
    }
    if (layout.realigned) {
        out.again[2] = out.staged[1], out.staged[0] = out.staged[2];
        out.again[1] = out.end;
        out.end += again_bytes(layout, 1, products);
    }
    return out;
}

std::int64_t batched_shared_bytes(const step& st, const batched_layout& layout, std::int64_t products) {
    return regions_of(st, layout, products).end + (has_places(st) ? products * 3 * 8 : 0);
}

namespace {

/// The smallest step of an operand along axes of one class, 0 if it has none.
std::int64_t nearest_step(const step& st, const operand& x, axis_class c) {
    std::int64_t nearest = 0;
    for (const auto a : axes_of(st, c)) {
        const auto stride = std::abs(x.stride[static_cast<std::size_t>(a)]);
        if (stride != 0 && st.axes[static_cast<std::size_t>(a)].extent > 1 && (nearest == 0 || stride < nearest))
            nearest = stride;
    }
    return nearest;
}

bool runs_along_k(panel_lines l) { return l == panel_lines::k || l == panel_lines::whole_k; }
bool is_whole(panel_lines l) { return l == panel_lines::whole_other || l == panel_lines::whole_k; }

/// Whole panels have no room at their lines' ends: they are read by more than elements only where lines end with a
/// tile.
fragment_load fragments_of(const step& st, const panel_layout& layout, std::int64_t k_panel, std::int64_t rows,
                           std::int64_t columns) {
    if (k_panel % 16 != 0) return fragment_load::elements;
    const auto bytes = size_of(operand_of(st, 1).type); // Y's too: the tensor cores take operands of one type
    const bool parts_fit = bytes == 4 || bytes == 8;
    bool fours = parts_fit, matrices = bytes == 2;
    for (int o = 1; o < 3; ++o) {
        const auto lines = layout.lines[static_cast<std::size_t>(o)];
        const auto length = runs_along_k(lines) ? k_panel : o == 1 ? rows : columns;
        if (!runs_along_k(lines)) fours = false;
        if (is_whole(lines) && length % 8 != 0) matrices = fours = false;
    }
    return matrices ? fragment_load::matrices : fours ? fragment_load::fours : fragment_load::elements;
}

/// Elements from one line to the next: lines start at multiples of 16 bytes, and those that a warp reads at once lie
/// on different banks.
std::int64_t padded_pitch(std::int64_t length, std::int64_t bytes, fragment_load fragments) {
    if (fragments == fragment_load::matrices) return raised(length, 16, 8);           // eight lines, 16 bytes of each
    if (fragments == fragment_load::fours) return bytes == 4 ? raised(length, 32, 16) // two lines, 64 bytes of each
                                                             // two lines, every other 16 bytes of 128
                                                             : raised(length, 4, 2);
    if (bytes == 16) return length | 1;
    const auto around = std::max<std::int64_t>(128 / bytes, 16); // four neighbors in eight lines
    return raised(length, around / 2, around / 4);
}

} // namespace

panel_layout panel_layout_of(const step& st, batched_core core, std::int64_t k_panel, std::int64_t rows,
                             std::int64_t columns, bool boxed) {
    panel_layout out;
    if (boxed) {
        out.by_bulk = true;
        out.fragments = fragment_load::boxes;
        for (int o = 1; o < 3; ++o) {
            const auto at = static_cast<std::size_t>(o);
            const auto elements = box_elements(size_of(operand_of(st, o).type));
            out.lines[at] = panel_lines::boxes;
            out.row[at] = o == 1 ? elements : 1, out.column[at] = o == 1 ? 1 : elements;
            out.pitch[at] = elements;
            out.region[at] = out.stage_bytes;
            out.stage_bytes += k_panel / elements * box_bytes(o == 1 ? rows : columns);
        }
        return out;
    }
    for (int o = 1; o < 3; ++o) {
        const auto& x = operand_of(st, o);
        const auto side = o == 1 ? m : n;
        const auto along_k = nearest_step(st, x, k), along_side = nearest_step(st, x, side);
        const auto other = o == 1 ? rows : columns;
        const bool single_axes =
            st.kernel != family::gett && axes_of(st, side).size() < 2 && axes_of(st, k).size() < 2;
        const auto goes_up = [&](axis_class c) {
            return axes_of(st, c).empty() || x.stride[static_cast<std::size_t>(axes_of(st, c).front())] >= 0;
        };
        // Lines that the tensor cores can be given room between cost the copy nothing where they are whole 16 bytes.
        // But bulk copies bring whole panels, which is faster for short lines whatever their banks.
        const auto may_be_whole = [&](std::int64_t length) {
            constexpr std::int64_t longest_elements = 24, longest_bytes = 128;
            const auto bytes = length * size_of(x.type);
            const bool by_bulk = st.kernel == family::tall_skinny_atb &&
                                 (length <= longest_elements || (bytes <= longest_bytes && size_of(x.type) > 2));
            return core == batched_core::fma || bytes % 16 != 0 || bytes < 32 || by_bulk;
        };
        auto& lines = out.lines[static_cast<std::size_t>(o)];
        lines = along_k != 0 && (along_side == 0 || along_k < along_side) ? panel_lines::k : panel_lines::other;
        if (single_axes && goes_up(k) && goes_up(side)) {
            const auto ek = extent_of(st, k);
            if (lines == panel_lines::other && other == extent_of(st, side) && (other == 1 || along_side == 1) &&
                along_k == other && may_be_whole(other))
                lines = panel_lines::whole_other;
            const bool all_of_k = k_panel == ek && st.kernel != family::tall_skinny_atb; // whose k is an argument
            if (lines == panel_lines::k && all_of_k && along_k == 1 && along_side == ek && may_be_whole(ek))
                lines = panel_lines::whole_k;
        }
    }
    out.by_bulk = st.kernel == family::tall_skinny_atb;
    out.fragments =
        core == batched_core::mma ? fragments_of(st, out, k_panel, rows, columns) : fragment_load::elements;
    for (int o = 1; o < 3; ++o) {
        const auto at = static_cast<std::size_t>(o);
        const auto bytes = size_of(operand_of(st, o).type);
        const auto other = o == 1 ? rows : columns;
        const bool k_fastest = runs_along_k(out.lines[at]), whole = is_whole(out.lines[at]);
        auto& pitch = out.pitch[at];
        pitch = k_fastest ? k_panel : other;
        if (!whole) pitch = padded_pitch(pitch, bytes, out.fragments);
        const bool k_is_row = o == 2;
        (k_fastest == k_is_row ? out.row : out.column)[at] = 1;
        (k_fastest == k_is_row ? out.column : out.row)[at] = pitch;
        out.by_bulk = out.by_bulk && out.lines[at] == panel_lines::whole_other && k_panel * other * bytes % 16 == 0;
        out.region[at] = out.stage_bytes;
        // the last 16 bytes copied may end behind
        out.stage_bytes += ((k_fastest ? other : k_panel) * pitch * bytes + 15 + 127) / 128 * 128;
    }
    return out;
}

panel_layout panel_layout_of(const step& st, const batched_tile& t) {
    const bool has_rows = st.kernel == family::tall_skinny_ab || st.kernel == family::gett;
    const auto rows = has_rows ? t.products : extent_of(st, m);
    auto out = panel_layout_of(st, t.core, t.k_panel, rows, t.panel, t.boxed);
    if (st.kernel == family::tall_skinny_atb && t.realigned) out.by_bulk = true;
    return out;
}

namespace {

/// Whether X and Y lie so that all their lines start at multiples of 16 bytes where the first ones do.
bool has_even_lines(const step& st, const batched_layout& layout) {
    if (extent_of(st, k) % 8 != 0) return false;
    for (int o = 1; o < 3; ++o) {
        const auto& x = layout.operands[static_cast<std::size_t>(o)];
        const bool rows_are_lines = x.column == 1, columns_are_lines = x.row == 1;
        const auto pitch = rows_are_lines ? x.row : x.column;
        const auto length = rows_are_lines == (o == 1) ? extent_of(st, k) : extent_of(st, o == 1 ? m : n);
        if (size_of(operand_of(st, o).type) != 2 || (!rows_are_lines && !columns_are_lines) || pitch % 8 != 0 ||
            x.slot % 8 != 0 || length % 8 != 0)
            return false;
    }
    return true;
}

bool begin_at_words(const step& st) { return begins_at_word(operand_of(st, 1)) && begins_at_word(operand_of(st, 2)); }

} // namespace

fragment_load span_fragments(const step& st, const batched_layout& layout) {
    return has_even_lines(st, layout) && begin_at_words(st) ? fragment_load::matrices : fragment_load::elements;
}

bool loses_matrices(const step& st) {
    return !begin_at_words(st) && has_even_lines(st, batched_layout_of(st));
}

} // namespace ricci::lowering
