// tall_skinny_atb_threads: C (+)= alpha X^T Y with a long k and small m and n, by multiply-adds. A thread takes steps
// of the sum from memory straight into its registers, where it has sums of all of C; the lanes of a warp then share
// these out, and slice_sums.cuh adds up.
// Constants: product.hpp's, slice_sums.cuh's, and
//   blocks_of_an_sm    that fit together: a launch has as many of each
//   k_lane             neighboring steps of a thread
//   k_unrolled         times as many whose numbers are on their way
//   x_vectors, y_vectors   what is moved by accesses of up to 16 bytes, if pointers and strides allow: 1 neighbors of
//                          the steps in a column;
//                      2 all of neighboring steps, which follow one another without a gap; 0 single elements
// Where they do not allow it, and at the end of k, steps are taken one by one, neighboring ones by neighboring
// threads.
#pragma once

#include "slice_sums.cuh"
#include "neighbors.cuh"
#include "read_ahead.cuh"
#include "reduce.cuh"

/// A thread's numbers of one operand. O: 1 X, 2 Y.
template <int O, class Element, int Sides, int Vectors> class thread_numbers {
    static constexpr int at_once = Vectors == 2   ? k_lane * Sides
                                   : Vectors == 1 ? k_lane
                                                  : 1,
                         accesses = k_lane * Sides / at_once;
    using vector = kept_neighbors<Element, at_once>;

  public:
    static RICCI_FUNCTION bool allows_vectors(const arguments& a) {
        const void* const first = O == 1 ? a.x : a.y;
        const long long between = Vectors == 1 ? side_offset(a, 1) : 0;
        return have_aligned_lines<Element, at_once>(first, between);
    }

    /// Steps [l, l + k_lane).
    RICCI_FUNCTION void load(const arguments& a, long long l) {
        const Element* const first = static_cast<const Element*>(O == 1 ? a.x : a.y);
        RICCI_UNROLL
        for (int v = 0; v < accesses; ++v) {
            const long long offset = Vectors == 2   ? l * Sides
                                     : Vectors == 1 ? k_offset(a, O - 1, l) + side_offset(a, v)
                                                    : k_offset(a, O - 1, l + v / Sides) + side_offset(a, v % Sides);
            numbers_[v] = load_neighbors<Element, at_once>(first + offset);
        }
    }

    RICCI_FUNCTION Element at(int step, int side) const {
        return Vectors == 2   ? numbers_[0].at(step * Sides + side)
               : Vectors == 1 ? numbers_[side].at(step)
                              : numbers_[step * Sides + side].at(0);
    }

  private:
    static RICCI_FUNCTION long long side_offset(const arguments& a, int i) {
        return O == 1 ? m_offset(a, 1, i) : n_offset(a, 1, i);
    }

    vector numbers_[accesses];
};

/// Shares sums out between the lanes `Distance` apart, and those nearer: each keeps the total of some, elements
/// [begin, end).
template <int Width, int Distance> RICCI_FUNCTION void share_out(compute* sums, int& begin, int& end) {
    if constexpr (Distance > 0) {
        constexpr int half = (Width + 1) / 2;
        const bool high = (threadIdx.x & Distance) != 0;
        RICCI_UNROLL
        for (int i = 0; i < half; ++i) {
            const compute lower = sums[i], upper = i + half < Width ? sums[i + half] : from_real<compute>(0, 0);
            sums[i] = (high ? upper : lower) + shuffle_xor(high ? lower : upper, Distance);
        }
        if (high) begin += half;
        else end = end < begin + half ? end : begin + half;
        share_out<half, Distance / 2>(sums, begin, end);
    }
}
RICCI_FUNCTION constexpr int kept_by_lane(int width, int distance) {
    return distance == 0 ? width : kept_by_lane((width + 1) / 2, distance / 2);
}

/// Adds a step's products; x(i), y(j): its numbers.
template <class X, class Y> RICCI_FUNCTION void add_step(compute (&sums)[c_elements], const X& x, const Y& y) {
    constexpr int rows = static_cast<int>(m), columns = static_cast<int>(n);
    compute left[rows];
    RICCI_UNROLL
    for (int i = 0; i < rows; ++i)
        left[i] = x_conjugated ? conjugate(load_as<compute>(x(i))) : load_as<compute>(x(i));
    RICCI_UNROLL
    for (int j = 0; j < columns; ++j) {
        const compute right = y_conjugated ? conjugate(load_as<compute>(y(j))) : load_as<compute>(y(j));
        RICCI_UNROLL
        for (int i = 0; i < rows; ++i) add_product(sums[j * rows + i], left[i], right);
    }
}

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_tall_skinny_atb_threads(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    constexpr int unit = k_lane * threads_per_block;
    const long long block = block_number();
    if (block >= a.blocks) return;
    const own_steps own = steps_of_block(a, block, unit);
    compute sums[c_elements];
    RICCI_UNROLL
    for (int e = 0; e < c_elements; ++e) sums[e] = from_real<compute>(0, 0);

    using x_numbers = thread_numbers<1, x_element, static_cast<int>(m), x_vectors>;
    using y_numbers = thread_numbers<2, y_element, static_cast<int>(n), y_vectors>;
    const int units = x_numbers::allows_vectors(a) && y_numbers::allows_vectors(a)
                          ? static_cast<int>((own.last - own.first) / unit)
                          : 0;
    x_numbers xs[k_unrolled];
    y_numbers ys[k_unrolled];
    const auto load = [&](int into, int u) {
        const long long l = own.first + static_cast<long long>(u) * unit + static_cast<int>(threadIdx.x) * k_lane;
        xs[into].load(a, l), ys[into].load(a, l);
    };
    read_ahead<k_unrolled>(units, load, [&](int b) {
        RICCI_UNROLL
        for (int s = 0; s < k_lane; ++s)
            add_step(
                sums, [&](int i) { return xs[b].at(s, i); }, [&](int j) { return ys[b].at(s, j); });
    });
    RICCI_UNROLL_2
    for (long long l = own.first + static_cast<long long>(units) * unit + threadIdx.x; l < own.last;
         l += threads_per_block)
        add_step(sums, [&](int i) { return static_cast<const x_element*>(a.x)[x_offset(a, i, l)]; },
                 [&](int j) { return static_cast<const y_element*>(a.y)[y_offset(a, l, j)]; });

    int begin = 0, end = c_elements;
    share_out<c_elements, 16>(sums, begin, end);
    compute* const of_slices = reinterpret_cast<compute*>(memory);
    RICCI_UNROLL
    for (int e = 0; e < kept_by_lane(c_elements, 16); ++e)
        if (begin + e < end) of_slices[threadIdx.x / 32 * c_elements + begin + e] = sums[e];
    leave_sums(a, block, of_slices, [](int, int, compute sum) { return sum; });
}
