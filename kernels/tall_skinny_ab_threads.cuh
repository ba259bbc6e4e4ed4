// tall_skinny_ab_threads: C = X*Y with a long m of one axis and small n and k, by multiply-adds. A thread takes rows
// of X from memory into its registers, and sends its rows of C from there: nothing but Y goes through shared memory,
// and that not where it is tiny.
// Constants: product.hpp's, and
//   threads_per_block
//   tile_m             rows a thread, of which `row_vector` at a time are neighbors
//   k_unrolled         steps of the sum whose numbers of X a thread asks for at once
//   x_vectors, c_vectors   what of X and C is moved by accesses of up to 16 bytes, if pointers and strides allow: 1
//                          neighbors of the rows
//                      in a column; 2 all of neighboring rows, which follow one another without a gap (of X only with
//                      all steps at once);
//                      0 single elements
// Where they do not allow it, and at the end of m, elements are moved one by one, neighboring rows by neighboring
// threads.
#pragma once

#include "product_neighbors.cuh"

constexpr int columns = static_cast<int>(n), steps = static_cast<int>(k);
constexpr int padded_steps = (steps + k_unrolled - 1) / k_unrolled * k_unrolled;
constexpr int y_pitch =
    (columns * static_cast<int>(sizeof(compute)) + 15) / 16 * 16 / static_cast<int>(sizeof(compute));
constexpr int rows_of_threads = tile_m * threads_per_block;
/// Each thread then reads Y itself, and threads need not wait for each other.
constexpr bool y_is_tiny = padded_steps == k_unrolled && columns * steps * static_cast<int>(sizeof(compute)) <= 64;

/// A thread's rows. `vectors`: whether pointers and strides allow vectors, and all rows of the block exist.
class thread_rows {
    static constexpr int groups = tile_m / row_vector;
    static constexpr int x_part = 16 / static_cast<int>(sizeof(x_element)),
                         c_part = 16 / static_cast<int>(sizeof(c_element));
    using x_numbers = x_element[tile_m][k_unrolled];

  public:
    RICCI_FUNCTION thread_rows(const arguments& a, long long first, int own, bool vectors)
        : a_(a), x_(static_cast<const x_element*>(a.x) + m_offset(a, 1, first)),
          c_(static_cast<c_element*>(a.c) + m_offset(a, 0, first)), own_(own), vectors_(vectors) {
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int j = 0; j < columns; ++j) sums_[r][j] = from_real<compute>(0, 0);
    }

    /// Adds X*Y: y(step, column). `before_y` is called when the first numbers of X have been asked for.
    template <class Y, class Before> RICCI_FUNCTION void multiply(const Y& y, const Before& before_y) {
        x_numbers now;
        load(0, now);
        if constexpr (accumulate) prefetch();
        before_y();
        RICCI_UNROLL_ONCE
        for (int base = 0; base < steps; base += k_unrolled) {
            x_numbers next;
            if (base + k_unrolled < steps) load(base + k_unrolled, next);
            add(now, [&](int l, int j) { return y(base + l, j); });
            if (base + k_unrolled >= steps) break;
            RICCI_UNROLL
            for (int e = 0; e < tile_m * k_unrolled; ++e)
                now[e / k_unrolled][e % k_unrolled] = next[e / k_unrolled][e % k_unrolled];
        }
    }

    RICCI_FUNCTION void store() const {
        RICCI_UNROLL
        for (int g = 0; g < groups; ++g) {
            const int row = row_of(g);
            if (c_vectors == 2 && vectors_) {
                RICCI_UNROLL
                for (int p = 0; p + c_part <= row_vector * columns; p += c_part) {
                    compute part[c_part];
                    RICCI_UNROLL
                    for (int i = 0; i < c_part; ++i)
                        part[i] = sums_[g * row_vector + (p + i) / columns][(p + i) % columns];
                    update_neighbors(a_, c_ + row * columns + p, part);
                }
                continue;
            }
            RICCI_UNROLL
            for (int j = 0; j < columns; ++j) {
                if (c_vectors == 1 && vectors_) {
                    compute part[row_vector];
                    RICCI_UNROLL
                    for (int i = 0; i < row_vector; ++i) part[i] = sums_[g * row_vector + i][j];
                    update_neighbors(a_, c_ + row + n_offset(a_, 0, j), part);
                    continue;
                }
                RICCI_UNROLL
                for (int i = 0; i < row_vector; ++i)
                    if (row + i < own_) update(a_, c_[c_offset(a_, row + i, j)], sums_[g * row_vector + i][j]);
            }
        }
    }

  private:
    /// The first of group `g`'s rows, within the block.
    static RICCI_FUNCTION int row_of(int g) {
        return (g * threads_per_block + static_cast<int>(threadIdx.x)) * row_vector;
    }

    /// Steps beyond the sum are zero, rows beyond m the last one.
    RICCI_FUNCTION void load(int base, x_numbers& xs) const {
        RICCI_UNROLL
        for (int g = 0; g < groups; ++g) {
            const int row = row_of(g);
            if (x_vectors == 2 && vectors_) {
                RICCI_UNROLL
                for (int p = 0; p + x_part <= row_vector * steps; p += x_part) {
                    const auto v = *reinterpret_cast<const neighbors<x_element, x_part>*>(x_ + row * steps + p);
                    RICCI_UNROLL
                    for (int i = 0; i < x_part; ++i) xs[g * row_vector + (p + i) / steps][(p + i) % steps] = v.e[i];
                }
                continue;
            }
            RICCI_UNROLL
            for (int l = 0; l < k_unrolled; ++l) {
                const bool inside = steps % k_unrolled == 0 || base + l < steps;
                if (x_vectors == 1 && vectors_) {
                    neighbors<x_element, row_vector> v{};
                    if (inside)
                        v = *reinterpret_cast<const neighbors<x_element, row_vector>*>(x_ + row +
                                                                                       k_offset(a_, 0, base + l));
                    RICCI_UNROLL
                    for (int i = 0; i < row_vector; ++i) xs[g * row_vector + i][l] = v.e[i];
                    continue;
                }
                RICCI_UNROLL
                for (int i = 0; i < row_vector; ++i)
                    xs[g * row_vector + i][l] =
                        inside ? x_[x_offset(a_, row + i < own_ ? row + i : own_ - 1, base + l)] : x_element{};
            }
        }
    }

    template <class Y> RICCI_FUNCTION void add(const x_numbers& xs, const Y& y) {
        RICCI_UNROLL
        for (int l = 0; l < k_unrolled; ++l) {
            compute xv[tile_m];
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) {
                xv[r] = load_as<compute>(xs[r][l]);
                if constexpr (x_conjugated) xv[r] = conjugate(xv[r]);
            }
            RICCI_UNROLL
            for (int j = 0; j < columns; ++j) {
                const compute yv = y(l, j);
                RICCI_UNROLL
                for (int r = 0; r < tile_m; ++r) sums_[r][j] += xv[r] * yv;
            }
        }
    }

    /// C is read last: meanwhile it comes as far as the L2 cache.
    RICCI_FUNCTION void prefetch() const {
        if (c_vectors != 1 || !vectors_ || threadIdx.x * row_vector * sizeof(c_element) % 128 != 0) return;
        RICCI_UNROLL
        for (int g = 0; g < groups; ++g)
            RICCI_UNROLL
            for (int j = 0; j < columns; ++j) prefetch_part(c_ + row_of(g) + n_offset(a_, 0, j), 0);
    }

    const arguments& a_;
    const x_element* x_;
    c_element* c_;
    int own_;
    bool vectors_;
    compute sums_[tile_m][columns];
};

extern "C" __global__ void __launch_bounds__(threads_per_block)
    ricci_tall_skinny_ab_threads(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    const long long first = block_number() * rows_of_threads, rows = row_count(a);
    if (first >= rows) return;
    const int own = rows - first < rows_of_threads ? static_cast<int>(rows - first) : rows_of_threads;
    bool vectors = own == rows_of_threads;
    // What a single line would step over to the next is any number.
    if constexpr (x_vectors == 1)
        vectors = vectors && have_aligned_lines<x_element, row_vector>(a.x, steps == 1 ? 0 : k_offset(a, 0, 1));
    if constexpr (x_vectors == 2)
        vectors = vectors && have_aligned_lines<x_element, 16 / static_cast<int>(sizeof(x_element))>(a.x, 0);
    if constexpr (c_vectors == 1)
        vectors = vectors && have_aligned_lines<c_element, row_vector>(a.c, columns == 1 ? 0 : n_offset(a, 0, 1));
    if constexpr (c_vectors == 2)
        vectors = vectors && have_aligned_lines<c_element, 16 / static_cast<int>(sizeof(c_element))>(a.c, 0);
    thread_rows mine(a, first, own, vectors);
    if constexpr (y_is_tiny) {
        mine.multiply([&](int l, int j) { return load_y(a.y, y_offset(a, l, j)); }, [] {});
    } else {
        compute* const ys = reinterpret_cast<compute*>(memory);
        mine.multiply([&](int l, int j) { return ys[l * y_pitch + j]; },
                      [&] {
                          RICCI_UNROLL_2
                          for (int e = threadIdx.x; e < padded_steps * columns; e += threads_per_block) {
                              const int l = e % padded_steps, j = e / padded_steps;
                              ys[l * y_pitch + j] =
                                  l < steps ? load_y(a.y, y_offset(a, l, j)) : from_real<compute>(0, 0);
                          }
                          __syncthreads();
                      });
    }
    mine.store();
}
