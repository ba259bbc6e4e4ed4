// inside_range: which of elements one after another are inside of a padded position.
#pragma once

#include "ptx.cuh"

RICCI_FUNCTION long long divided_up(long long a, long long b) { // b > 0
    return a / b + (a % b > 0 ? 1 : 0);
}

/// Of elements [low, high), low from 0 on, those where 0 <= at + element*step < extent.
template <class Number>
RICCI_FUNCTION void narrow(long long at, long long step, long long extent, Number& low, Number& high) {
    long long first = 0, end = high;
    if (step == 0) {
        if (at < 0 || at >= extent) end = 0;
    } else if (step == 1) {
        first = -at, end = extent - at;
    } else if (step > 0) {
        first = divided_up(-at, step), end = divided_up(extent - at, step);
    } else {
        first = divided_up(at - extent + 1, -step), end = divided_up(at + 1, -step);
    }
    if (first > low) low = first < high ? static_cast<Number>(first) : high;
    if (end < high) high = end > low ? static_cast<Number>(end) : low;
}
