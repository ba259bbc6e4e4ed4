// read_ahead: a loop whose numbers come from memory into registers `Ahead` turns before they are used.
#pragma once

#include "ptx.cuh"

/// For turns [0, turns): load(place, turn) asks for a turn's numbers, use(place) takes them when the turn has come;
/// `place`, of Ahead, is constant where it stands in the code.
template <int Ahead, class Load, class Use>
RICCI_FUNCTION void read_ahead(int turns, const Load& load, const Use& use) {
    RICCI_UNROLL
    for (int b = 0; b < Ahead; ++b)
        if (b < turns) load(b, b);
    RICCI_UNROLL_ONCE
    for (int u = 0; u < turns; u += Ahead) {
        RICCI_UNROLL
        for (int b = 0; b < Ahead; ++b) {
            if (u + b >= turns) break;
            use(b);
            if (u + b + Ahead < turns) load(b, u + b + Ahead);
        }
    }
}
