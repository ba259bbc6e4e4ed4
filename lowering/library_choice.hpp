// library_choice: which products go to a BLAS: those that it takes, and computes faster than the kernels here.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Of a product with at most one axis each of m, n and k. `streams_slowly`: whether its own kernel on a GPU would be
/// batched_panels, or batched_stationary number by number.
bool fits_library(const step& st, const machine& chip, bool streams_slowly);

/// Of products that fits_library and batched_stationary take both: whether the former is the faster one.
bool library_beats_stationary(const step& st, const machine& chip);

/// Of a tall-skinny product A*B, its kernel tall_skinny_ab, m its long side: whether a BLAS takes it and is the faster
/// one.
bool library_beats_ab(const step& st, const machine& chip);

/// The same of columns of 2-byte numbers, before their rows are taken for a batch, tall_batch.hpp.
bool library_beats_rows(const step& st, const machine& chip);

/// Of products that batched_small takes too, and batched_stationary would copy number by number: whether the first is
/// faster than a BLAS.
bool whole_products_beat_library(const step& st, const machine& chip);

/// Whether batched_stationary would copy Y number by number where that is what its products wait for.
bool streams_numbers(const step& st);

/// cuBLAS 13.1 rounds a product to 2 bytes before it adds C, where C's columns begin at multiples of 16 bytes (every
/// such point of a sample was beyond one rounding, no other was): then the product is taken in f32, and added by a
/// step of its own.
bool library_rounds_twice(const step& st);

} // namespace ricci::lowering
