// batched_work: what a block of batched_small has to do for a product besides moving it: instructions, accesses to
// shared memory, tensor cores' products, registers.
#include "lowering/batched_work.hpp"

#include "lowering/bank_conflicts.hpp"
#include "lowering/families.hpp"
#include "lowering/mma_shape.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ricci::lowering {
namespace {

using enum axis_class;

// Fitted together with batched_model.cpp's.
/// Of a number of C, of the tensor cores' more: where each is asked whether it exists, columns apart; times, in a
/// kernel that realigns.
constexpr double c_instructions = 4.2, exists_instructions = 1.6, realigned_c = 2.7;
constexpr double assigned_c = 0.5;       ///< of c_instructions, where C is not read
constexpr double complex_multiply = 1.2; ///< times, a multiply-add of a complex one's four
constexpr double realign_instructions = 9.5, realign_wavefronts = 4; ///< of 32 words

double c_instructions_of(const step& st) {
    return c_instructions * (st.op == assignment::assign ? assigned_c : 1);
}
/// Of a register of sums, as the compiler takes them.
constexpr double registers_of_sum(const mma_shape& mma) {
    return mma.element_bytes == 2 ? 0.93 : mma.element_bytes == 4 ? 1.67 : 1.18;
}

/// To bring one number into the form that a product of the tensor cores takes, as counted in the machine code: those
/// of f32 are split, those of 2 bytes packed.
struct loading {
    double instructions;
    double branch; ///< more where lanes differ in whether it is behind the sum's end
};
constexpr loading loading_of(const mma_shape& mma) {
    return mma.element_bytes == 4 ? loading{6.7, 8} : mma.element_bytes == 2 ? loading{2.7, 3} : loading{1, 8};
}

/// Complex numbers are read as their parts.
int access_bytes(int element_bytes, bool complex_element) {
    return complex_element ? element_bytes / 2 : element_bytes;
}

batched_work work_of_fma(const step& st, const product_sizes& s, const batched_layout& layout,
                         const batched_tile& t) {
    // no bindings: clang 14 cannot capture those
    const auto &c = layout.operands[0], &x = layout.operands[1], &y = layout.operands[2];
    const std::int64_t row_threads = up(s.m, t.tile_m), column_threads = up(s.n, t.tile_n),
                       threads = row_threads * column_threads;
    struct place {
        std::int64_t product, i, j;
    };
    const auto place_of = [&](int lane) {
        const auto p = lane / threads, in = lane % threads;
        return t.rows_first ? place{p, in % row_threads, in / row_threads}
                            : place{p, in / column_threads, in % column_threads};
    };
    const auto access = [&](int element_bytes, scalar_type type, const auto& offset) {
        const bool parts = is_complex(type);
        const int bytes = access_bytes(element_bytes, parts);
        return (parts ? 2 : 1) * wavefronts(bytes, [&](int lane) { return offset(place_of(lane)) * element_bytes; });
    };
    const auto type = [&](std::int32_t o) { return st.operands[static_cast<std::size_t>(o)].type; };
    // At one step of the sum, not the first, whose zero offset hides conflicts of skewed sums.
    const auto step_of = [&](const place& p) { return t.skewed ? (s.k / 2 + p.i) % s.k : s.k / 2; };
    const double per_x = access(s.x_bytes, type(st.x), [&](const place& p) {
        return p.product * x.slot + p.i * x.row + step_of(p) * x.column;
    });
    const double per_y = access(s.y_bytes, type(st.y), [&](const place& p) {
        return p.product * y.slot + p.j * y.column + step_of(p) * y.row;
    });
    const double per_c =
        access(s.c_bytes, type(0), [&](const place& p) { return p.product * c.slot + p.i * c.row + p.j * c.column; });
    const double warps = static_cast<double>(threads) / warp;
    const double tile = t.tile_m * t.tile_n, loads = t.tile_m + t.tile_n;
    const double multiplies = tile * (s.complex ? 4 * complex_multiply : 1);
    const bool converts = s.x_bytes == 2 || s.y_bytes == 2;
    const auto parts = s.complex ? 2 : 1;
    batched_work w;
    w.shared = warps * (static_cast<double>(s.k) * (t.tile_m * per_x + t.tile_n * per_y) +
                        tile * per_c * (st.op == assignment::assign ? 1 : 2));
    w.issue = warps *
              (static_cast<double>(s.k) * (multiplies + loads * (converts ? 2 : parts) + (t.skewed ? 3 : 1)) +
               tile * c_instructions_of(st) * parts + 30) /
              4;
    w.arithmetic = warps * static_cast<double>(s.k) * multiplies / (s.doubles ? 2 : 4);
    w.threads = static_cast<double>(threads);
    w.registers = static_cast<int>(1.18 * tile * s.words) + 32;
    return w;
}

/// The warps of a product that the tensor cores compute, however they come to X and Y: see batched_mma.cuh.
struct mma_warps {
    std::int64_t rows, columns; ///< of what is computed
    double count;               ///< of a product
    double tiles;               ///< of a warp
    double c_shared, c_issue;   ///< of a warp: wavefronts and instructions from its last sum on
};

/// Of C, where its numbers have two bytes: update_c in batched_mma.cuh.
double c_read_at_once(const step& st, const batched_tile& t) {
    const bool reads = st.op != assignment::assign && size_of(operand_of(st, 0).type) == 2;
    return reads ? 4 * std::min(t.tile_n, 4) : 0;
}

/// From a lane's two columns of a tile to its neighbor's.
int columns_between_pairs(const batched_tile& t) { return 2 * (t.columns_apart ? t.tile_n : 1); }

mma_warps mma_warps_of(const step& st, const product_sizes& s, const staged_operand& c, const batched_tile& t,
                       const mma_shape& mma) {
    mma_warps out{};
    out.rows = t.c_transposed ? s.n : s.m, out.columns = t.c_transposed ? s.m : s.n;
    out.count = static_cast<double>(up(up(out.rows, mma.rows), t.tile_m) * up(up(out.columns, 8), t.tile_n));
    out.tiles = t.tile_m * t.tile_n;
    const auto c_row = t.c_transposed ? c.column : c.row, c_column = t.c_transposed ? c.row : c.column;
    const int c_parts = is_complex(st.operands[0].type) ? 2 : 1, parts = s.complex ? 2 : 1, lane_rows = mma.rows / 8;
    const double per_c = number_wavefronts(static_cast<int>(s.c_bytes) / c_parts, c_parts, [&](int lane) {
        return lane / 4 * c_row + lane % 4 * columns_between_pairs(t) * c_column;
    });
    out.c_shared = 2 * lane_rows * out.tiles * per_c * (st.op == assignment::assign ? 1 : 2);
    const double each = c_instructions_of(st) * (t.realigned ? realigned_c : 1) +
                        (t.columns_apart && out.columns % (8 * t.tile_n) != 0 ? exists_instructions : 0);
    out.c_issue = 2 * each * lane_rows * out.tiles * parts + 40;
    return out;
}

/// Of 16 steps of the sum a warp reads 16 rows or columns at once, free of bank conflicts.
batched_work work_of_matrices(const step& st, const mma_warps& warps, double blocks, const batched_tile& t,
                              const mma_shape& mma) {
    const double tiles = warps.tiles, loads = t.tile_m + static_cast<double>(up(t.tile_n, 2));
    batched_work w;
    w.shared = warps.count * (blocks * loads * 4 + warps.c_shared);
    w.issue = warps.count * (blocks * (tiles + loads + 4) + warps.c_issue) / 4;
    w.arithmetic = warps.count * blocks * tiles * mma.cycles;
    w.threads = warps.count * warp;
    w.registers = static_cast<int>(1.12 * 4 * tiles + 1.2 * c_read_at_once(st, t)) + 25;
    return w;
}

/// Before that all threads copy X and Y, two numbers at a time. Columns that change places with others go by four.
batched_work work_of_realigned(const step& st, const mma_warps& warps, const batched_layout& layout,
                                const batched_tile& t, const mma_shape& mma) {
    double words = 0;
    for (const auto& x : {layout.again[1], layout.again[2]})
        words += static_cast<double>(x.all_lines * x.all_length / 2) / (x.slot == 0 ? t.products : 1);
    const double moves = t.tile_n == 1 ? 1 : 4.0 * static_cast<double>(up(t.tile_n, 4)) / t.tile_n;
    batched_work w = work_of_matrices(st, warps, static_cast<double>(layout.all_steps) / 16, t, mma);
    // Fitted to 250 kernels on an H100 (2026-11-26): a tile of an odd number of columns keeps an address for each,
    // and of those with 13 and 15 only one block of 256 threads has room on an SM.
    const double odd_columns = t.tile_n % 2 != 0 && t.tile_n >= 5 ? 3 * t.tile_n : 0;
    w.registers = static_cast<int>(1.25 * 4 * t.tile_m * t.tile_n + odd_columns + 1.2 * c_read_at_once(st, t)) + 22;
    w.shared += realign_wavefronts * words / warp;
    w.copies = realign_instructions * moves * words / warp;
    return w;
}

/// Numbers come one by one, from where they were copied to.
batched_work work_of_elements(const step& st, const mma_warps& warps, const product_sizes& s,
                              const batched_layout& layout, const batched_tile& t, const mma_shape& mma) {
    // Left and right factor of what is computed.
    const auto& left = layout.operands[t.c_transposed ? 2 : 1];
    const auto& right = layout.operands[t.c_transposed ? 1 : 2];
    const auto l_row = t.c_transposed ? left.column : left.row, l_k = t.c_transposed ? left.row : left.column;
    const auto r_column = t.c_transposed ? right.row : right.column, r_k = t.c_transposed ? right.column : right.row;
    const int parts = s.complex ? 2 : 1, lane_rows = mma.rows / 8;
    const auto k_at = [&](int lane) {
        return std::min<std::int64_t>(lane % 4 * steps_between_lanes(t.k_apart), s.k - 1);
    };
    const auto read = [&](std::int64_t extent, std::int64_t stride, std::int64_t k_stride, int pair_step) {
        return number_wavefronts(mma.element_bytes, parts, [&](int lane) {
            const std::int64_t at = lane / 8 * pair_step + lane / 4 % 2;
            return std::min(at, extent - 1) * stride + k_at(lane) * k_stride;
        });
    };
    const double per_left = read(warps.rows, l_row, l_k, 2),
                 per_right = read(warps.columns, r_column, r_k, columns_between_pairs(t));
    // Of each 16 steps of the sum a lane has four, in as many products as `splits`; whole products are left out at
    // the end.
    const auto remainder = s.k % 16;
    const double rest =
        t.k_apart > 0 ? std::min<double>(4, static_cast<double>(remainder)) : static_cast<double>(up(remainder, 4));
    const double elements = 4 * static_cast<double>(s.k / 16) + std::ceil(rest * mma.splits / 4) * 4 / mma.splits;
    const double products = elements * mma.splits / 4, tiles = warps.tiles, loads = t.tile_m * lane_rows + t.tile_n;
    const double multiplies = products * tiles * (s.complex ? 4 : 1);
    // Numbers that a lane reads where others may be behind the sum's end.
    const double branches = t.k_apart > 0 ? std::min<double>(4, static_cast<double>(remainder)) : s.k % 4 > 0 ? 1 : 0;
    const loading number = loading_of(mma);
    batched_work w;
    const double per_element = t.tile_m * lane_rows * per_left + t.tile_n * per_right;
    w.shared = warps.count * (elements * per_element + warps.c_shared);
    const double reading = (elements * number.instructions + branches * number.branch) * loads * parts;
    w.issue = warps.count * (multiplies * mma.repeats + reading + warps.c_issue) / 4;
    w.arithmetic = warps.count * multiplies * mma.cycles;
    w.threads = warps.count * warp;
    // The compiler reads the numbers of up to twelve steps ahead, and has columns apart ask for each number of C.
    const double sum_registers = 2 * lane_rows * tiles * parts * (mma.element_bytes == 8 ? 2 : 1);
    w.registers = static_cast<int>(registers_of_sum(mma) * sum_registers +
                                   0.55 * loads * parts * std::min(elements, 12.0) + 0.9 * c_read_at_once(st, t) +
                                   (t.columns_apart ? tiles : 0)) +
                  19;
    return w;
}

batched_work work_of_mma(const step& st, const product_sizes& s, const batched_layout& layout, const batched_tile& t,
                         const mma_shape& mma) {
    const auto warps = mma_warps_of(st, s, layout.operands[0], t, mma);
    if (layout.realigned) return work_of_realigned(st, warps, layout, t, mma);
    return mma.element_bytes == 2 && span_fragments(st, layout) == fragment_load::matrices
               ? work_of_matrices(st, warps, static_cast<double>(up(s.k, 8)) / 2, t, mma)
               : work_of_elements(st, warps, s, layout, t, mma);
}

} // namespace

batched_work batched_work_of(const step& st, const product_sizes& s, const batched_layout& layout,
                             const batched_tile& t) {
    return t.core == batched_core::mma ? work_of_mma(st, s, layout, t, *mma_of(st, t))
                                       : work_of_fma(st, s, layout, t);
}

} // namespace ricci::lowering
