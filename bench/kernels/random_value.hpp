// random_value: the elements of a bench's operands, as a function of seed and place, alike on host and GPU.
#pragma once

#ifndef RICCI_FUNCTION
#define RICCI_FUNCTION inline
#endif

/// A number in (-1, 1) times scale*2^digits: an odd number of `digits` bits, of which none is zero, times `scale`.
/// Exact in a type of that many digits, so that it need not be stored to be known again.
RICCI_FUNCTION double random_value(unsigned long long seed, unsigned long long place, int digits, double scale) {
    // splitmix64 (Steele et al.)
    unsigned long long z = seed * 0xd1342543de82ef95ull + (place + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    const long long odd = static_cast<long long>(z >> (64 - digits)) * 2 + 1 - (1ll << digits);
    return static_cast<double>(odd) * scale;
}
