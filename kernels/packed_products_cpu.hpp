// packed_products: several tiny products at once on a CPU, each a few lanes of vectors. C's elements of a group of
// products, one behind another, fill whole vectors; for each step of the sum the elements of X and of Y that go with
// them are brought to their lanes by a constant permutation of what was loaded.
//
// Each operand's products must lie one behind another without gaps, C's elements along m first.
// Constants: product.hpp's; products_per_block, the products of a group, whose elements of C are whole vectors;
// 1: none are packed.
#pragma once

#include "register_tile_cpu.hpp"

constexpr int group = products_per_block;
constexpr int packed_lanes = simd_lanes<real>;
using packed_vector = simd<real, packed_lanes>;

/// Elements between products of C, X, Y where there are no gaps.
constexpr long long dense_step[3] = {m * n, m * k, k * n};

/// Where the lanes of a vector of C find their elements of X or Y for a step of the sum, from the group's first.
struct lane_sources {
    int lane[packed_lanes] = {};
    int lowest = 0, highest = 0;
    int period = packed_lanes; ///< the least power of two of neighbors that all lanes repeat in order
};

/// Of C's vector v, of X (operand 1) or Y (2), for step l.
constexpr lane_sources find_sources(int operand, int v, int l) {
    lane_sources out;
    constexpr int em = m, en = n;
    for (int t = 0; t < packed_lanes; ++t) {
        const int element = v * packed_lanes + t, product = element / (em * en);
        const int i = element % em, j = element / em % en;
        const int at = static_cast<int>(product * dense_step[operand] +
                                        (operand == 1 ? i * m_stride[1][0] + l * k_stride[0][0]
                                                      : j * n_stride[1][0] + l * k_stride[1][0]));
        out.lane[t] = at;
        out.lowest = t == 0 || at < out.lowest ? at : out.lowest;
        out.highest = t == 0 || at > out.highest ? at : out.highest;
    }
    for (int p = 2; p < packed_lanes && out.period == packed_lanes; p *= 2) {
        bool repeats = true;
        for (int t = 0; t < packed_lanes; ++t) repeats = repeats && out.lane[t] == out.lane[0] + t % p;
        if (repeats) out.period = p;
    }
    return out;
}
template <int Operand, int V, int L> constexpr lane_sources sources = find_sources(Operand, V, L);

/// A pattern of sources in two loaded vectors that begin at First and Second.
template <const lane_sources& Sources, int First, int Second> struct in_two {
    static constexpr int at(int t) {
        const int s = Sources.lane[t];
        return s >= First && s < First + packed_lanes ? s - First : packed_lanes + s - Second;
    }
};
/// The lanes of `Sources` of a group of `Elements` that begins at `from`.
template <const lane_sources& Sources, int Elements, class E>
RICCI_FUNCTION packed_vector brought_to_lanes(const E* from) {
    constexpr int w = packed_lanes, low = Sources.lowest, high = Sources.highest;
    constexpr int block = low / w * w; // whole blocks from the start: loaded once for many
    if constexpr (Sources.period < w) {
        if constexpr (is_same<E, real>) return load_repeated<real, w, Sources.period>(from + low);
        else if constexpr (is_narrow<E>) return load_widened_repeated<w, Sources.period>(from + low);
        else return repeat_lanes<real, w, Sources.period>(load_vector<Sources.period, Sources.period>(from + low));
    } else if constexpr (high < block + w || high - low < w) {
        constexpr int wanted = high < block + w ? block : low, start = wanted + w <= Elements ? wanted : Elements - w;
        const auto all = load_vector<w, w>(from + start);
        return shuffled<in_two<Sources, start, start>, real, w>(all, all);
    } else {
        constexpr bool whole = high < block + 2 * w && block + 2 * w <= Elements;
        constexpr int first = whole ? block : low, second = whole ? block + w : high - w + 1;
        return shuffled<in_two<Sources, first, second>, real, w>(load_vector<w, w>(from + first),
                                                                 load_vector<w, w>(from + second));
    }
}

/// C's of `Group` products (op)= alpha * X*Y.
template <int Group>
RICCI_FUNCTION void product_group(const arguments& a, const x_element* x, const y_element* y, c_element* c) {
    static_assert(Group == 1 || (m_stride[1][0] != argument && k_stride[0][0] != argument &&
                                 k_stride[1][0] != argument && n_stride[1][0] != argument));
    constexpr int vectors = static_cast<int>(Group * dense_step[0]) / packed_lanes;
    for_each_of<vectors>([&](auto v) RICCI_INLINED {
        packed_vector sum{};
        for_each_of<static_cast<int>(k)>([&](auto l) RICCI_INLINED {
            sum += brought_to_lanes<sources<1, v, l>, Group * dense_step[1]>(x) *
                   brought_to_lanes<sources<2, v, l>, Group * dense_step[2]>(y);
        });
        if constexpr (scaled) sum = sum * static_cast<real>(a.alpha[0]);
        if constexpr (negative) sum = -sum;
        c_element* to = c + v * packed_lanes;
        if constexpr (accumulate) sum = times_beta(a, load_vector<packed_lanes, packed_lanes>(to)) + sum;
        store_vector<packed_lanes, packed_lanes>(to, sum);
    });
}
