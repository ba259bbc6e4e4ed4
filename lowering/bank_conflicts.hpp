// bank_conflicts: how often a warp's access to shared memory waits for itself.
#pragma once

#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cstdint>

namespace ricci::lowering {

inline constexpr int banks = 32, bank_bytes = 4;

/// How many passes through shared memory a warp's access takes. `address`: lane -> byte address, or -1 for a lane
/// that sits out.
template <class Address>
double wavefronts(int bytes, const Address& address) {
    // 8-byte accesses go by half warps, 16-byte ones by quarters.
    const int lanes = bytes <= bank_bytes ? warp : warp * bank_bytes / bytes;
    double total = 0;
    for (int first = 0; first < warp; first += lanes) {
        std::int64_t words[banks][warp]; // that the access touches, by bank
        int in_bank[banks] = {}, most = 0;
        for (int lane = first; lane < first + lanes; ++lane) {
            const std::int64_t at = address(lane);
            if (at < 0) continue;
            for (std::int64_t w = at / bank_bytes; w <= (at + bytes - 1) / bank_bytes; ++w) {
                auto& count = in_bank[w % banks];
                std::int64_t* const known = words[w % banks];
                if (std::find(known, known + count, w) != known + count) continue;
                known[count++] = w;
                most = std::max(most, count);
            }
        }
        total += most;
    }
    return total;
}

/// The same of a matrix's numbers of `parts` parts of so many bytes. `element`: lane -> number of the element. Of two
/// numbers a word the matrix may begin with either.
template <class Element>
double number_wavefronts(int part_bytes, int parts, const Element& element) {
    const auto from = [&](std::int64_t first) {
        return parts * wavefronts(part_bytes, [&](int lane) { return (first + element(lane)) * part_bytes * parts; });
    };
    return part_bytes * parts == 2 ? (from(0) + from(1)) / 2 : from(0);
}

/// Steps of the sum from one lane's first number to its neighbor's, of a batched_tile's k_apart.
constexpr std::int64_t steps_between_lanes(std::int64_t k_apart) { return k_apart > 0 ? 4 * k_apart : 1; }

/// Of the k_apart that so many steps have room for the one with the least passes(k_apart), the smallest of them.
template <class Passes>
int least_apart(std::int64_t steps, const Passes& passes) {
    int best = 0;
    double fewest = passes(0);
    for (const int apart : {1, 2, 4}) {
        if (16 * apart > steps) break;
        if (const double own = passes(apart); own < fewest) best = apart, fewest = own;
    }
    return best;
}

} // namespace ricci::lowering
