// lanes_product: interleaved products as the models of their kernels see them.
#include "lowering/lanes_product.hpp"

#include "lowering/families.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr std::int64_t least_sums = 24, most_sums = 64; ///< 4-byte registers of a thread
constexpr std::int64_t longest_side = 8;                ///< elements of a thread
constexpr std::int64_t most_neighbors = 2;              ///< products of a thread

bool is_for_all(const step& st, std::int32_t o) {
    return st.operands[static_cast<std::size_t>(o)].stride[static_cast<std::size_t>(axes_of(st, batch).front())] == 0;
}

std::vector<std::int64_t> sides_of(std::int64_t extent) {
    std::vector<std::int64_t> out;
    for (std::int64_t side = 1; side <= std::min(extent, longest_side); ++side)
        if (4 * up(extent, side) * side <= 5 * extent) out.push_back(side); // at most a fifth of the work for nothing
    return out;
}

/// Small and narrow tiles read shared memory more often: only where a product leaves nothing better.
bool is_worth_a_try(std::int64_t tm, std::int64_t tn, std::int64_t neighbors, const product_sizes& s) {
    const auto sums = tm * tn * neighbors * s.words;
    const bool is_small = sums < least_sums && tm < std::min(s.m, longest_side) && tn < std::min(s.n, longest_side);
    const bool is_narrow = 4 * std::min(tm, tn) < std::max(tm, tn) && 4 * std::min(s.m, s.n) >= std::max(tm, tn);
    return sums <= most_sums && !is_small && !is_narrow;
}

} // namespace

std::vector<std::array<std::int64_t, 3>> thread_tiles(const lanes_product& p) {
    const auto& s = p.s;
    const auto widest = std::max({s.c_bytes, s.x_bytes, s.y_bytes});
    std::vector<std::array<std::int64_t, 3>> out;
    // 2-byte elements are halves of words.
    for (std::int64_t neighbors = widest == 2 ? 2 : 1; neighbors <= (widest <= 4 ? most_neighbors : 1); ++neighbors)
        for (const auto tm : sides_of(s.m))
            for (const auto tn : sides_of(s.n))
                if (is_worth_a_try(tm, tn, neighbors, s)) out.push_back({tm, tn, neighbors});
    return out;
}

std::vector<std::int64_t> parts_of(std::int64_t tiles) {
    std::vector<std::int64_t> out;
    for (std::int64_t parts = 1; parts <= 8; ++parts)
        if (const auto part = up(tiles, parts);
            20 * up(tiles, part) * part <= 23 * tiles && (out.empty() || part != out.back()))
            out.push_back(part);
    return out;
}

lanes_product::lanes_product(const step& st)
    : s(sizes_of(st)), x_for_all(is_for_all(st, st.x)), y_for_all(is_for_all(st, st.y)),
      accumulates(st.op != assignment::assign), batches(static_cast<double>(extent_of(st, batch))) {
    least_bytes = s.c_bytes;
    if (!x_for_all) least_bytes = std::min(least_bytes, s.x_bytes);
    if (!y_for_all) least_bytes = std::min(least_bytes, s.y_bytes);
    x_taken = x_for_all ? 0 : static_cast<double>(s.m * s.k * s.x_bytes);
    y_taken = y_for_all ? 0 : static_cast<double>(s.k * s.n * s.y_bytes);
    c_taken = static_cast<double>(s.m * s.n * s.c_bytes) * (accumulates ? 2 : 1);
}

std::int64_t warps_with(std::int64_t registers) {
    return 4 * (registers_of_an_sm / 4 / (up(registers, 8) * 8 * warp));
}

} // namespace ricci::lowering
