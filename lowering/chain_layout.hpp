// chain_layout: where a chain's slots, spans and matrices lie in a block's memory.
#pragma once

#include "lowering/chain.hpp"
#include "lowering/machine.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// Finds out where each memory begins for the chain, and which are spans: slices that lie one behind another, of
/// which the chain uses most; their views then begin at the slice's first element. Of a written memory all is. Index
/// tables are moved so on a GPU only: a CPU's vectors do not hold their integers.
void find_spans(chain& c, bool on_gpu);

/// For each phase whether a GPU's threads must wait for each other before it: it writes what a phase since they did
/// so last has read or written, or reads what one has written.
std::vector<char> waits_of(const chain& c);

/// Bytes from the start of a block's memory; slots, spans and their users' lifetimes decide what shares a place.
struct chain_layout {
    std::vector<std::int64_t> span_region;   ///< by memory; -1: none
    std::vector<std::int64_t> slot_region;   ///< by slot
    std::vector<std::int64_t> slot_step;     ///< numbers from one element's slot to the next one's
    /// Of a CPU, by memory and by slot: numbers behind which one is left out, so that those that lie as far apart do
    /// not share a set of the L1 cache; 0: none is.
    std::vector<std::int64_t> span_plane, slot_plane;
    std::vector<std::int64_t> matrix_region; ///< by matrix; -1: an element's own, or constants
    std::vector<std::int64_t> matrix_pitch; ///< numbers from one row to the next: rows start at multiples of 16 bytes
    std::int64_t bytes = 0;
};

/// In a GPU's shared memory: spans as they lie in memory, at their address modulo 128 bytes, behind a barrier.
chain_layout shared_layout_of(const chain& c);
/// In a CPU's cache: a vector of `lanes` elements' numbers for each, spans too; matrices as single numbers.
chain_layout vector_layout_of(const chain& c, int lanes, const machine& chip);

/// Where number n lies of a region with such planes.
constexpr std::int64_t in_planes(std::int64_t n, std::int64_t plane) { return plane > 0 ? n + n / plane : n; }
/// What a stride is there: one that goes from plane to plane, or stays in one.
constexpr std::int64_t stride_in_planes(std::int64_t stride, std::int64_t plane) {
    return plane > 0 && stride % plane == 0 ? stride + stride / plane : stride;
}

/// The first and the last element that is reached from one on.
struct chain_reach {
    std::int64_t first = 0, last = -1;
    void go_along(std::int64_t stride, std::int64_t extent) { (stride < 0 ? first : last) += stride * (extent - 1); }
    void go_along(const std::vector<std::int64_t>& strides, const std::vector<std::int64_t>& extents) {
        for (std::size_t a = 0; a < strides.size(); ++a) go_along(strides[a], extents[a]);
    }
};
/// Of an operand's view in one slice.
chain_reach reach_of(const chain& c, const chain_view& v);

} // namespace ricci::lowering
