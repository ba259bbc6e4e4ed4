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

} // namespace ricci::lowering
