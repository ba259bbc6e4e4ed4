// factor_unknowns: a triangle's unknowns by lanes of a warp, which have some rows' right-hand sides each in registers.
//
// An unknown goes from its row's lane to the others by a shuffle, which is all that a step waits for: no barrier, no
// shared memory. All lanes take it from all of their rows that the triangle may have there, with whatever lies beyond
// its diagonal from those that are done: what those had is kept as it is found.
#pragma once

#include "factor_elements.hpp"
#include "factor_shuffles.cuh"

#if RICCI_ON_GPU
#define RICCI_UNROLL_STEPS _Pragma("unroll steps_at_once")
#else
#define RICCI_UNROLL_STEPS
#endif

/// The unknown that a lane has in line h; the last one where it has none there.
template <int Count, int Lanes> RICCI_FUNCTION int unknown_of(int lane, int h) {
    return Lanes * (h + 1) <= Count ? lane + Lanes * h : smaller_of(lane + Lanes * h, Count - 1);
}

/// y[h][side]: of row h * Lanes + the lane's number, and anything where that is no row. Unknowns from the last on
/// (Upward: of an upper triangle) or from the first, line by line.
///   of_triangle(h, k)         the lane's element of column k, in its row of line h
///   told(x, number)           x of the lane that has this number among the matrix's
///   divided(h, y)             y by the diagonal, of the lane's row of line h
///   keep(h, number, side, x)  the unknown of line h's row, if the lane has this number
template <int Count, int Lanes, bool Upward, int LinesDone = 0, int Lines, int Sides, class Triangle, class Shuffle,
          class Division, class Keep>
RICCI_FUNCTION void find_unknowns(element (&y)[Lines][Sides], const Triangle& of_triangle, const Shuffle& told,
                                  const Division& divided, const Keep& keep) {
    constexpr int line = Upward ? Lines - 1 - LinesDone : LinesDone, first = line * Lanes;
    // A constant, and lines are no loop: where one is to be unrolled by 3 and ends at the smaller of 3 and 2, which is
    // known when the loop around it is unrolled, NVRTC 13.0 makes three steps; likewise by 5.
    // (Lines without an unknown are of kernels for wide or tall matrices, which never call this.)
    constexpr int numbers = smaller_of(Lanes, Count - first);
    // of many sides the code would be long, and its numbers too many for registers
    [[maybe_unused]] constexpr int steps_at_once = at_least_one(Sides <= 2 ? numbers : smaller_of(numbers, 2));
    RICCI_UNROLL_STEPS
    for (int step = 0; step < numbers; ++step) {
        const int number = Upward ? numbers - 1 - step : step;
        element of_column[Lines];
        RICCI_UNROLL
        for (int h = 0; h < Lines; ++h)
            if (Upward ? h <= line : h >= line) of_column[h] = of_triangle(h, first + number);
        RICCI_UNROLL
        for (int s = 0; s < Sides; ++s) {
            const element own = divided(line, y[line][s]), unknown = told(own, number);
            keep(line, number, s, own);
            RICCI_UNROLL
            for (int h = 0; h < Lines; ++h)
                if (Upward ? h <= line : h >= line) subtract_product(y[h][s], of_column[h], unknown);
        }
    }
    if constexpr (LinesDone + 1 < Lines)
        find_unknowns<Count, Lanes, Upward, LinesDone + 1>(y, of_triangle, told, divided, keep);
}

/// Of find_unknowns: the lane's go to x[h][side].
template <class Sides>
RICCI_FUNCTION auto keep_in(Sides& x, int lane) {
    return [&x, lane](int h, int number, int s, element unknown) {
        if (lane == number) x[h][s] = unknown;
    };
}

#undef RICCI_UNROLL_STEPS
