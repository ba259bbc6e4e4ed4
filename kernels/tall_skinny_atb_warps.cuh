// tall_skinny_atb_warps: C (+)= alpha X^T Y with a long k, by the tensor cores. Warps take X and Y from memory
// straight into their registers, as the tensor cores want them: any steps of the sum may stand for a product's, as
// long as X and Y agree. A warp has sums of C, or of a part of it: then the warps of a slice read the same steps,
// which come from the L1 cache but once. slice_sums.cuh adds up.
//
// With q = lane % 4 and h = lane / 4, a lane holds of X and Y the rows and columns of its slots, one each, and of
// every 4*k_lane steps k_lane. Rows and steps are dealt to lanes so that a lane's numbers are neighbors in memory.
// Constants: product.hpp's, slice_sums.cuh's, and
//   blocks_of_an_sm    that fit together: a launch has as many of each
//   parts[3]           warps of a slice among which the rows of X [1], the columns of Y [2] are divided
//   slots[3]           of a lane: of the 8 * slots of a warp one in eight is its own
//   vector[3]          slots whose rows or columns are neighbors, which are taken at once; 1 also where neighbors in
//                      memory are steps
//   along_k[3]         whether neighbors in memory are steps, of which k_lane are taken at once
//   k_lane             steps of a lane
//   k_unrolled         times 4*k_lane steps whose numbers are on their way
// Where pointers or strides do not allow vectors, and at the end of k, elements are taken one by one.
#pragma once

#include "slice_sums.cuh"
#include "mma_numbers.cuh"
#include "neighbors.cuh"
#include "read_ahead.cuh"

using mma = mma_of<x_type>;
using number = mma::number;

constexpr int warps = threads_per_block / 32, k_block = 4 * k_lane, products_of_block = k_lane / mma::elements;
constexpr int row_tiles = slots[1] / mma::lane_rows, column_tiles = slots[2];
constexpr bool is_split = mma::passes > 1, is_float = mma::elements == 2; ///< f32, split or rounded
constexpr bool lanes_have_neighbors = along_k[1] || along_k[2];
static_assert(warps == slices * parts[1] * parts[2], "each warp has a part of C and a slice of k");

/// A lane's numbers of one operand. O: 1 X, 2 Y.
template <int O, class Element> class lane_numbers {
    static constexpr int sides = static_cast<int>(O == 1 ? m : n), group = vector[O],
                         at_once = along_k[O] ? k_lane : group;
    static constexpr int accesses = slots[O] * k_lane / at_once;

  public:
    RICCI_FUNCTION lane_numbers(const arguments& a, int part)
        : a_(a), lane_(threadIdx.x % 32), first_(static_cast<const Element*>(O == 1 ? a.x : a.y)),
          begin_(part * 8 * slots[O]) {}

    RICCI_FUNCTION bool allows_vectors() const {
        if ((O == 1 ? m_axes : n_axes) > 1) return false;
        const bool lie_so = along_k[O] ? k_offset(a_, O - 1, 1) == 1 : group == 1 || side_offset(1) == 1;
        return lie_so &&
               have_aligned_lines<Element, at_once>(first_, along_k[O] ? side_offset(1) : k_offset(a_, O - 1, 1));
    }

    /// Of slot `s` and position `p` of 8 in a tile: which row or column; some do not exist.
    RICCI_FUNCTION int side_of(int s, int p) const { return begin_ + s / group * 8 * group + p * group + s % group; }

    /// The lane's of steps [l, l + k_block) for block `b` of those on their way. For rows and columns that do not
    /// exist it takes the last.
    RICCI_FUNCTION void load(int b, long long l) {
        RICCI_UNROLL
        for (int v = 0; v < accesses; ++v) {
            const int slot = along_k[O] ? v : v % (slots[O] / group) * group,
                      e = along_k[O] ? 0 : v / (slots[O] / group);
            numbers_[b][v] = load_neighbors<Element, at_once>(first_ + k_offset(a_, O - 1, l + step_of(e)) +
                                                              side_offset(existing(side_of(slot, lane_ / 4))));
        }
    }
    RICCI_FUNCTION Element at(int b, int s, int e) const {
        return along_k[O] ? numbers_[b][s].at(e) : numbers_[b][e * (slots[O] / group) + s / group].at(s % group);
    }

    /// One of steps [l, l + 4 * mma::elements), zero from `end` on.
    RICCI_FUNCTION Element one(int s, int e, long long l, long long end) const {
        const long long step = l + lane_ % 4 * mma::elements + e;
        return step < end ? first_[k_offset(a_, O - 1, step) +
                                   side_offset(existing(side_of(s / group * group, lane_ / 4)) + s % group)]
                          : Element{};
    }

  private:
    RICCI_FUNCTION int step_of(int e) const {
        return lanes_have_neighbors ? lane_ % 4 * k_lane + e : 4 * e + lane_ % 4;
    }
    RICCI_FUNCTION static int existing(int side) { return side < sides - group ? side : sides - group; }
    RICCI_FUNCTION long long side_offset(int i) const { return O == 1 ? m_offset(a_, 1, i) : n_offset(a_, 1, i); }

    const arguments& a_;
    int lane_;
    const Element* first_;
    int begin_;
    kept_neighbors<Element, at_once> numbers_[k_unrolled][accesses];
};

/// A warp's sums.
class warp_sums {
  public:
    RICCI_FUNCTION warp_sums() { clear_sums(sums_); }

    /// Adds a product of the tensor cores for each tile; x(slot, element), y(slot, element): the lane's.
    template <class X, class Y> RICCI_FUNCTION void add(const X& x, const Y& y) {
        number left[row_tiles][mma::lane_rows][mma::elements], right[column_tiles][mma::elements];
        RICCI_UNROLL
        for (int s = 0; s < slots[1]; ++s)
            RICCI_UNROLL
            for (int e = 0; e < mma::elements; ++e)
                left[s / mma::lane_rows][s % mma::lane_rows][e] = mma::read(x(s, e), least_);
        RICCI_UNROLL
        for (int s = 0; s < slots[2]; ++s)
            RICCI_UNROLL
            for (int e = 0; e < mma::elements; ++e) right[s][e] = mma::read(y(s, e), least_);
        add_tiles<0>(left, right);
        if constexpr (is_split) add_tiles<1>(left, right), add_tiles<2>(left, right);
    }

    /// Calls f(slot of X, position, slot of Y, position, sum) for the lane's sums; NaN where numbers were too small
    /// to be split.
    template <class F> RICCI_FUNCTION void each(const F& f) const {
        compute spoilt = 0;
        if constexpr (is_split)
            if (__any_sync(0xffffffffu, has_lost_bits<mma>(least_))) spoilt = float_of(0x7fffffffu);
        const int h = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
        RICCI_UNROLL
        for (int r = 0; r < row_tiles; ++r)
            RICCI_UNROLL
            for (int t = 0; t < column_tiles; ++t)
                RICCI_UNROLL
                for (int i = 0; i < 2 * mma::lane_rows; ++i)
                    f(r * mma::lane_rows + i / 2, h, t, 2 * q + i % 2,
                      is_split ? sums_[r][t][i] + spoilt : sums_[r][t][i]);
    }

  private:
    template <int Pass>
    RICCI_FUNCTION void add_tiles(const number (&left)[row_tiles][mma::lane_rows][mma::elements],
                                  const number (&right)[column_tiles][mma::elements]) {
        RICCI_UNROLL
        for (int r = 0; r < row_tiles; ++r)
            RICCI_UNROLL
            for (int t = 0; t < column_tiles; ++t) mma::multiply<Pass>(sums_[r][t], left[r], right[t]);
    }

    unsigned least_ = 0xffffffffu;
    mma::sum sums_[row_tiles][column_tiles][2 * mma::lane_rows];
};

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_tall_skinny_atb_warps(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    constexpr int unit = slices * k_block;
    const long long block = block_number();
    if (block >= a.blocks) return;
    const int warp = threadIdx.x / 32, slice = warp / (parts[1] * parts[2]);
    const own_steps own = steps_of_block(a, block, unit);
    lane_numbers<1, x_element> x(a, warp % parts[1]);
    lane_numbers<2, y_element> y(a, warp / parts[1] % parts[2]);
    warp_sums sums;

    const int units = x.allows_vectors() && y.allows_vectors() ? static_cast<int>((own.last - own.first) / unit) : 0;
    const auto load = [&](int into, int u) {
        const long long l = own.first + static_cast<long long>(u) * unit + slice * k_block;
        x.load(into, l), y.load(into, l);
    };
    read_ahead<k_unrolled>(units, load, [&](int b) {
        RICCI_UNROLL
        for (int p = 0; p < products_of_block; ++p)
            sums.add([&](int s, int e) { return x.at(b, s, p * mma::elements + e); },
                     [&](int s, int e) { return y.at(b, s, p * mma::elements + e); });
    });
    constexpr int short_block = 4 * mma::elements;
    RICCI_UNROLL_ONCE
    for (long long l = own.first + static_cast<long long>(units) * unit + slice * short_block; l < own.last;
         l += slices * short_block)
        sums.add([&](int s, int e) { return x.one(s, e, l, own.last); },
                 [&](int s, int e) { return y.one(s, e, l, own.last); });

    compute* const of_slices = reinterpret_cast<compute*>(memory);
    sums.each([&](int row_slot, int row_position, int column_slot, int column_position, compute sum) {
        const int i = x.side_of(row_slot, row_position), j = y.side_of(column_slot, column_position);
        if (i < m && j < n) of_slices[slice * c_elements + j * static_cast<int>(m) + i] = sum;
    });
    leave_sums(a, block, of_slices, [&](int i, int j, compute sum) {
        return is_float && !is_finite(sum) ? sum_of_steps(a, own, i, j) : sum;
    });
}
