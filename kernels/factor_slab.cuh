// factor_slab: a block's matrices of one operand, to shared memory and back.
//
//   in_slabs    the batch's matrices lie one behind another without gaps, by columns or by rows: the block's are one
//               span, one bulk copy each way (span_copy.cuh), and lie in shared memory as in memory
//   else        element by element, neighbors in memory (of a column, a row, or the batch) by neighboring threads;
//               in shared memory by columns, `Lead` elements from one to the next
//
// Of Cholesky's matrices only the lower triangle moves element by element; with a span the upper one goes back as it
// came. All functions are called by the whole block.
//
//     using slab = matrix_slab<matrix_role, m, n>;
//     slab matrices(a, memory + 128, first, count);       // slab::bytes of shared memory, from a multiple of 128 on
//     slab_barrier& loaded = *reinterpret_cast<slab_barrier*>(memory);
//     matrices.start_loading(a, loaded);
//     ...                                                 // what needs no matrix
//     matrices.finish_loading(loaded);                    // now element (i, j) of the block's matrix p is
//     matrices.matrix(p)[i * slab::along + j * slab::across]
//     matrices.store(a);                                  // waits for all threads first
#pragma once

#include "factor.hpp"
#include "span_copy.cuh"

/// The block's first matrix, and how many it has.
struct block_share {
    long long first;
    int count;
};
RICCI_FUNCTION block_share share_of_block(const arguments& a) {
    const long long first = block_number() * matrices_of_block, left = a.matrices - first;
    return {first, left < 0 ? 0 : left < matrices_of_block ? static_cast<int>(left) : matrices_of_block};
}

#if RICCI_BULK_COPIES
using slab_barrier = copy_barrier;
#else
struct slab_barrier {
    unsigned long long unused;
};
#endif

/// Lead: elements between columns where it is no span. Groups: into how many parts a span is cut, each Shift bytes (a
/// multiple of 16) further than the one before would put it, so that threads of different groups find their matrices
/// on different banks; matrices of a multiple of 16 bytes then always begin at one. Else a span lies congruent to its
/// address, as span_copy has it.
/// Aligned: a span lies at a multiple of 16 bytes in shared memory in any case.
template <int Role, int Rows, int Columns, int Lead = Rows, int Groups = 1, int Shift = 16, bool Aligned = (Groups > 1)>
class matrix_slab {
  public:
    using type = typename role_element<Role>::type;
    static constexpr int size = static_cast<int>(sizeof(type));
    static constexpr bool is_span = in_slabs && Role == matrix_role;
    /// Elements in shared memory from a row, a column, a matrix to the next. Matrices that are no span begin at odd
    /// multiples of 16 bytes from one another, for threads along the batch.
    static constexpr int along = is_span ? static_cast<int>(matrix_step[Role][0]) : 1,
                         across = is_span ? static_cast<int>(matrix_step[Role][1]) : Lead,
                         apart = is_span ? Rows * Columns : ((Lead * Columns * size + 15) / 16 | 1) * 16 / size;
    static constexpr int of_group = (matrices_of_block + Groups - 1) / Groups; ///< matrices
    static constexpr int bytes = (matrices_of_block * apart * size + 127 + Shift * Groups + 127) / 128 * 128;
    /// Whether a span may begin or end within 16 bytes.
    static constexpr bool has_ends = !Aligned || Rows * Columns * size % 16 != 0;
    static_assert(Groups == 1 || !is_span || of_group * Rows * Columns * size % 16 == 0, "groups can be moved apart");

    RICCI_FUNCTION matrix_slab(const arguments& a, unsigned char* region, long long first, int count)
        : at_(first), count_(count) {
        if constexpr (is_span) {
            global_ = static_cast<type*>(a.data[Role]) + first * (Rows * Columns); // without divisions
            unsigned char* const congruent = place_in(region, global_);
            first_ = reinterpret_cast<type*>(Aligned ? congruent - address_of(congruent) % 16 : congruent);
        } else {
            first_ = reinterpret_cast<type*>(region);
        }
    }

    RICCI_FUNCTION type* matrix(int p) const {
        return first_ + p * apart + (Groups == 1 || !is_span ? 0 : p / of_group * (Shift / size));
    }
    /// The matrix of thread, or of lanes, number t: those of neighbors lie in different groups.
    static RICCI_FUNCTION int matrix_of_thread(int t) {
        return Groups == 1 || !is_span ? t : t % Groups * of_group + t / Groups;
    }

    RICCI_FUNCTION void start_loading(const arguments& a, [[maybe_unused]] slab_barrier& loaded) const {
        if constexpr (is_span) {
            if (!moves_in_bulk()) {
                copy_elements(true);
                return;
            }
#if RICCI_BULK_COPIES
            if (threadIdx.x == 0) start_barrier(loaded, 1);
            // for compute-sanitizer's racecheck, which takes the lane that started the barrier for another
            if (threadIdx.x < 32) __syncwarp();
            if (threadIdx.x == 0) {
                int expected = has_ends ? 0 : count_ * (Rows * Columns * size);
                if constexpr (has_ends)
                    each_group([&](type*, type*, span_parts parts) { expected += parts.middle; });
                arrive_expecting(loaded, expected);
                each_group([&](type* here, type* there, span_parts parts) {
                    if (parts.middle > 0)
                        bulk_load(middle_of(here, parts), middle_of(there, parts), parts.middle, loaded);
                });
            }
#endif
            if constexpr (has_ends || !RICCI_BULK_COPIES)
                each_group([&](type* here, type* there, span_parts parts) {
                    copy_ends<unit_of<type>>(here, there, parts);
#if !RICCI_BULK_COPIES
                    copy_middle(here, there, parts);
#endif
                });
        } else {
            each_element(a, [](type& here, const type& there) { here = there; });
        }
    }

    RICCI_FUNCTION void finish_loading([[maybe_unused]] slab_barrier& loaded) const {
        __syncthreads();
#if RICCI_BULK_COPIES
        if constexpr (is_span)
            if (moves_in_bulk()) wait_barrier(loaded, 0);
#endif
    }

    RICCI_FUNCTION void store(const arguments& a) const {
        if constexpr (is_span) {
            if (!moves_in_bulk()) {
                __syncthreads();
                copy_elements(false);
                return;
            }
#if RICCI_BULK_COPIES
            show_to_copy_engine();
            __syncthreads();
            if (threadIdx.x == 0)
                each_group([&](type* here, type* there, span_parts parts) {
                    if (parts.middle > 0) bulk_store(middle_of(there, parts), middle_of(here, parts), parts.middle);
                });
            if constexpr (has_ends)
                each_group(
                    [&](type* here, type* there, span_parts parts) { copy_ends<unit_of<type>>(there, here, parts); });
            if (threadIdx.x == 0) wait_bulk_stores();
#else
            __syncthreads();
            each_group([&](type* here, type* there, span_parts parts) {
                copy_ends<unit_of<type>>(there, here, parts);
                copy_middle(there, here, parts);
            });
#endif
        } else {
            __syncthreads();
            each_element(a, [](const type& here, type& there) { there = here; });
        }
    }

  private:
    static RICCI_FUNCTION unsigned long long address_of(const void* p) {
        return reinterpret_cast<unsigned long long>(p);
    }
    /// Else it lies at multiples of 16 bytes in shared memory only.
    RICCI_FUNCTION bool moves_in_bulk() const { return !Aligned || address_of(global_) % 16 == 0; }

    /// f(group's first matrix in shared memory, in memory, its parts).
    template <class F>
    RICCI_FUNCTION void each_group(const F& f) const {
        RICCI_UNROLL_ONCE
        for (int g = 0; g < Groups; ++g) {
            const int before = g * of_group, left = count_ - before, matrices = left < of_group ? left : of_group;
            if (matrices <= 0) break;
            type* const there = global_ + before * (Rows * Columns);
            const int all = matrices * (Rows * Columns * size);
            f(matrix(before), there, has_ends ? parts_of(there, all) : span_parts{0, all, 0});
        }
    }

    RICCI_FUNCTION void copy_elements(bool into_shared) const {
        RICCI_UNROLL_ONCE
        for (int e = threadIdx.x; e < count_ * Rows * Columns; e += threads_per_block) {
            type& here = matrix(e / (Rows * Columns))[e % (Rows * Columns)];
            if (into_shared)
                here = global_[e];
            else
                global_[e] = here;
        }
    }

    /// f(element here, in memory).
    template <class F>
    RICCI_FUNCTION void each_element(const arguments& a, const F& f) const {
        constexpr auto is_one = [](long long step) { return step == 1 || step == -1; };
        constexpr int fastest = Rows > 1 && is_one(matrix_step[Role][0])      ? 0
                                : Columns > 1 && is_one(matrix_step[Role][1]) ? 1
                                                                              : 2;
        constexpr int elements = Rows * Columns;
        const int all = (fastest == 2 ? matrices_of_block : count_) * elements;
        int last = -1;
        type* there = nullptr; // finding it may take divisions
        RICCI_UNROLL_2
        for (int e = threadIdx.x; e < all; e += threads_per_block) {
            const int p = fastest == 2 ? e % matrices_of_block : e / elements,
                      of_matrix = fastest == 2 ? e / matrices_of_block : e % elements,
                      i = fastest == 1 ? of_matrix / Columns : of_matrix % Rows,
                      j = fastest == 1 ? of_matrix % Columns : of_matrix / Rows;
            if (p >= count_ || (method == cholesky_method && Role == matrix_role && i < j)) continue;
            if (p != last) there = operand_of<Role>(a, at_ + p), last = p;
            f(matrix(p)[i * along + j * across], there[offset_of<Role>(a, i, j)]);
        }
    }

    long long at_;
    int count_;
    type* first_;
    type* global_ = nullptr; ///< of a span
};
