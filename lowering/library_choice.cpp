// library_choice: which products go to a BLAS.
#include "lowering/library_choice.hpp"

#include "lowering/families.hpp"
#include "lowering/stationary_model.hpp"
#include "lowering/tuning_key.hpp"
#include "lowering/two_steps.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr std::int64_t largest_blas_size = 2147483647; ///< a BLAS counts in 32 bits

/// How much of a GPU a batch fills; a BLAS divides products between processors, the kernels here do not.
enum class batch_fill : std::uint8_t {
    few,    ///< a product for every fourth processor at most
    idle,   ///< fewer products than processors
    uneven, ///< fewer than two products, or little to do, for each processor
    full
};

batch_fill fill_of(const step& st, const machine& chip) {
    const auto products = extent_of(st, batch);
    if (4 * products <= chip.processors) return batch_fill::few;
    if (products < chip.processors) return batch_fill::idle;
    return batch_of(st, chip) == batch_class::many && products >= 2 * chip.processors ? batch_fill::full
                                                                                       : batch_fill::uneven;
}

/// m, n and k, if they are alike, from which on products that do not fill a GPU go to a BLAS: measured on an H200 in
/// batches of 1 to 1000 (docs/performance/gpu.md), c128 on an H100 before kernels started early. `columns`: X, Y and C
/// are stored by columns.
double least_side(scalar_type type, batch_fill fill, bool columns) {
    constexpr double never = 1 + static_cast<double>(largest_batched);
    struct by_fill {
        double few, idle, uneven;
    };
    const auto sides = [&]() -> by_fill {
        switch (type) {
        case scalar_type::f64: return {46, 56, never};
        case scalar_type::f32: return {columns ? 66.0 : 40.0, never, never};
        case scalar_type::c64: return {columns ? 40.0 : 28.0, columns ? 56.0 : 48.0, never};
        case scalar_type::c128: return {32, 32, 64};
        default: return {62, 100, 100};
        }
    }();
    return fill == batch_fill::few ? sides.few : fill == batch_fill::idle ? sides.idle : sides.uneven;
}

/// The same of any product: below, a call costs more than it gains. Smaller where panels or numbers would be
/// streamed, at two thirds of the memory's rate.
double least_side(const step& st, const machine& chip, bool streams_slowly) {
    constexpr double least = 96, in_two_steps = 64, slowly = 40, slowly_idle = 32;
    if (chip.kind != target::cuda) return least;
    if (library_rounds_twice(st)) return in_two_steps;
    const auto fill = fill_of(st, chip);
    const auto type = st.operands[static_cast<std::size_t>(st.x)].type;
    if (streams_slowly || st.math == math_mode::tf32)
        return fill == batch_fill::few || fill == batch_fill::idle ? slowly_idle : slowly;
    if (fill == batch_fill::full) return type == scalar_type::c128 ? slowly : least;
    const bool columns =
        single_step(st, st.x, m) == 1 && single_step(st, st.y, k) == 1 && single_step(st, 0, m) == 1;
    return least_side(type, fill, columns);
}

const operand& x_of(const step& st) { return st.operands[static_cast<std::size_t>(st.x)]; }
const operand& y_of(const step& st) { return st.operands[static_cast<std::size_t>(st.y)]; }

/// A CPU's BLAS has one type throughout, a GPU's has 2-byte operands too, summed in f32 and aligned to 4 bytes.
bool has_library_types(const step& st, const machine& chip) {
    const auto &c = st.operands[0], &x = x_of(st), &y = y_of(st);
    if (x.type != y.type) return false;
    if (size_of(x.type) > 2 || chip.kind == target::cpu) return c.type == x.type && c.type == st.compute;
    if (st.compute != scalar_type::f32 || (c.type != x.type && c.type != scalar_type::f32)) return false;
    return std::all_of(st.operands.begin(), st.operands.end(), begins_at_word);
}

/// Whether the kernels here are the faster ones up to their largest size: for 2-byte operands of a batch that fills a
/// GPU (docs/performance/gpu.md), or where a BLAS would take two steps.
bool has_faster_kernel(const step& st, const machine& chip) {
    if (chip.kind != target::cuda || size_of(x_of(st).type) > 2 || axes_of(st, batch).empty() ||
        largest_side(st) > largest_batched)
        return false;
    const auto fill = fill_of(st, chip);
    return fill == batch_fill::full || library_rounds_twice(st);
}

/// Unit strides where a BLAS wants them.
bool has_library_strides(const step& st) {
    const auto em = extent_of(st, m), en = extent_of(st, n), ek = extent_of(st, k);
    const auto &c = st.operands[0], &x = x_of(st), &y = y_of(st);
    const auto at = [&](const operand& o, axis_class cls) {
        return o.stride[static_cast<std::size_t>(axes_of(st, cls).front())];
    };
    const auto fits = [](std::int64_t rows, std::int64_t columns, std::int64_t row_count) {
        return rows == 1 && columns >= row_count && columns <= largest_blas_size;
    };
    // C with m fastest, or the transposed product with n fastest.
    const bool upright = fits(at(c, m), at(c, n), em), transposed = fits(at(c, n), at(c, m), en);
    if (!upright && !transposed) return false;
    const bool x_as_m = fits(at(x, m), at(x, k), em), x_as_k = fits(at(x, k), at(x, m), ek);
    const bool y_as_n = fits(at(y, n), at(y, k), en), y_as_k = fits(at(y, k), at(y, n), ek);
    if ((!x_as_m && !x_as_k) || (!y_as_n && !y_as_k)) return false;
    // A BLAS conjugates only together with a transposition.
    if (st.x_conjugated && (upright ? !x_as_k : !x_as_m)) return false;
    return !st.y_conjugated || (upright ? y_as_n : y_as_k);
}

/// Whether a BLAS has such a product at all, faster or not.
bool library_takes(const step& st, const machine& chip) {
    if (!chip.has_blas || axes_of(st, batch).size() > 1) return false;
    for (const auto c : {m, n, k})
        if (axes_of(st, c).size() != 1) return false;
    return largest_side(st) <= largest_blas_size && has_library_types(st, chip) && has_library_strides(st);
}

} // namespace

/// Of short batches, of c128 whose rows take all registers, of f32 whose Y comes number by number, and in TF32, where
/// one product is left of three (docs/performance/gpu.md).
bool library_beats_stationary(const step& st, const machine& chip) {
    return fill_of(st, chip) != batch_fill::full || st.math == math_mode::tf32 ||
           (st.compute == scalar_type::c128 && largest_side(st) > 86) ||
           streams_numbers(st);
}

namespace {

bool is_by_columns(const step& st) { return single_step(st, 0, m) == 1 && single_step(st, st.x, m) == 1; }

/// Heights of A*B, its columns contiguous, at which cuBLAS is the faster one, in megabytes of X and C: f64 of even
/// widths by 2 to 16 % (odd ones it takes 1.1 to 1.4 times as long for), f32 by 2 to 14 %, f16 of 48 into f32, for
/// which alone it has another kernel, by 5 to 21 %, of 60 to 64 by 2 to 21 % (widths of 36 to 64 at 3*2^14, 2^17,
/// 2^18 and 2^22 rows on an H100, 2026-11-26).
bool library_beats_columns(const step& st, const machine& chip) {
    struct measured {
        scalar_type x, c;
        std::int64_t first, last, step; ///< widths
        double low, high;
    };
    using enum scalar_type;
    constexpr double any = std::numeric_limits<double>::infinity();
    constexpr measured all[] = {{f64, f64, 34, 45, 2, 24, 400}, {f64, f64, 46, 55, 2, 80, any},
                                {f64, f64, 56, 64, 2, 0, any},  {f32, f32, 49, 64, 1, 24, 105},
                                {f16, f32, 48, 55, 8, 5, 100},  {f16, f32, 60, 64, 2, 0, any},
                                {f16, f16, 60, 64, 2, 0, any}};
    const auto as_half = [](scalar_type t) { return t == bf16 ? f16 : t; };
    const auto x = as_half(x_of(st).type), c = as_half(st.operands[0].type);
    const auto [narrow, wide] = std::minmax({extent_of(st, n), extent_of(st, k)});
    const auto row = extent_of(st, k) * size_of(x) + extent_of(st, n) * size_of(c);
    const double bytes = static_cast<double>(extent_of(st, m)) * static_cast<double>(row);
    const auto reaches = [&](double megabytes) { return bytes >= as_many_as_h100s(chip, 1e6 * megabytes); };
    return is_by_columns(st) && st.math == math_mode::full &&
           std::any_of(std::begin(all), std::end(all), [&](const measured& at) {
               return x == at.x && c == at.c && narrow >= at.first && wide <= at.last && narrow % at.step == 0 &&
                      wide % at.step == 0 && reaches(at.low) && !reaches(at.high);
           });
}

/// Tall columns that start anywhere cost cuBLAS more than the kernels here.
bool may_take_ab(const step& st, const machine& chip) {
    return chip.kind == target::cuda && !is_scaled(st) && !library_rounds_twice(st) &&
           !has_tall_columns_off_lines(st, chip) && library_takes(st, chip);
}

} // namespace

bool library_beats_rows(const step& st, const machine& chip) {
    return size_of(x_of(st).type) == 2 && library_beats_columns(st, chip) && may_take_ab(st, chip);
}

/// From which widths on cuBLAS's kernels are as fast or faster, by 5 to 40 %: A*B of 2^10 to 2^22 rows, 8 to 64 wide,
/// on an H100 (docs/performance/gpu.md). Narrower ones stay within 5 % of them, and most that are stored by
/// rows.
bool library_beats_ab(const step& st, const machine& chip) {
    if (!may_take_ab(st, chip)) return false;
    if (library_beats_columns(st, chip)) return true;
    const auto narrow = std::min(extent_of(st, n), extent_of(st, k));
    const bool columns = is_by_columns(st);
    const auto height = batch_of(st, chip);
    switch (x_of(st).type) {
    case scalar_type::f32:
        return columns && narrow >= 48 && height == batch_class::some && st.math == math_mode::full;
    case scalar_type::f16:
    case scalar_type::bf16:
        if (columns) return narrow >= (height == batch_class::many ? 64 : 48);
        if (height != batch_class::few) return narrow >= 64;
        return narrow >= 48 && narrow < 64; // rows of 64 are whole lines of memory
    default:
        return false;
    }
}

bool streams_numbers(const step& st) {
    return real_of(st.compute) == scalar_type::f32 && cuts_unaligned_lines(with_columns(st));
}

/// Of f32 to 128, by 1.05 to 1.6 times, of c64 to 86, by 1.02 to 2 times (NT and TT of every sixth size from 65 on,
/// an H100, 2026-11-26); stationary products are at 0.85 to 1.05 times the library.
bool whole_products_beat_library(const step& st, const machine& chip) {
    constexpr std::int64_t largest_complex = 86;
    return chip.kind == target::cuda && fill_of(st, chip) == batch_fill::full && st.math == math_mode::full &&
           streams_numbers(st) && (!is_complex(st.compute) || largest_side(st) <= largest_complex);
}

bool fits_library(const step& st, const machine& chip, bool streams_slowly) {
    if (!library_takes(st, chip) || has_faster_kernel(st, chip)) return false;
    const auto size = [&](axis_class c) { return static_cast<double>(extent_of(st, c)); };
    const auto least = least_side(st, chip, streams_slowly);
    return size(m) * size(n) * size(k) >= least * least * least;
}

bool library_rounds_twice(const step& st) {
    const auto& c = st.operands[0];
    if (size_of(c.type) > 2 || st.op == assignment::assign) return false;
    for (std::size_t a = 0; a < st.axes.size(); ++a)
        if ((st.classes[a] == m || st.classes[a] == n) && c.stride[a] != 1 && c.stride[a] % 8 != 0) return false;
    return true;
}

} // namespace ricci::lowering
