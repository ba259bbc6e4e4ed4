// tuning_key: what the best parameters of a step's kernel depend on, so that measurements can be kept under it.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace ricci::lowering {

/// One product; too few to give every processor something to overlap; more. A tall-skinny product is `few`, `some` or
/// `many` by its height.
enum class batch_class : std::uint8_t { one, few, some, many };

std::string_view name_of(batch_class c);

/// Of a step whose axes are classified.
batch_class batch_of(const step& st, const machine& chip);

/// Whether a tall-skinny product has kernels of its own because its columns start anywhere: low ones share theirs,
/// whatever columns start at.
bool has_tall_columns_off_lines(const step& st, const machine& chip);
/// The same of columns that start within sectors, of products whose kernels take short pieces of them.
bool has_tall_columns_off_sectors(const step& st, const machine& chip);

/// What was found in bytes on an H100's 132 processors, for those that a chip has.
double as_many_as_h100s(const machine& chip, double bytes);

/// The long axis's extent that stands for those of a tall-skinny product's class, `row_bytes` for each step along it:
/// the extent is an argument of the kernel, so its parameters must not depend on it.
std::int64_t class_height(const step& st, std::int64_t row_bytes, const machine& chip);

/// Neither extents of the batch nor pointers are in it, since they change without another kernel.
struct tuning_key {
    /// The kernel, types, what is done to C, and how each operand lies: the side that runs fastest; dense, padded or
    /// strided; a matrix for each product, one shared by all, or interleaved; conjugated. Sizes within one layout can
    /// be compared.
    std::string layout;
    batch_class batch = batch_class::many;
    /// m, n, k; 0 for the long axis of a tall-skinny product. Of matrices that are factored or solved with rows,
    /// columns and right-hand sides, 1 where there are none.
    std::array<std::int64_t, 3> sizes{};
    std::string strides;                 ///< those that are constants of the kernel, elements; * for the others
    auto operator<=>(const tuning_key&) const = default;
};

/// The key of a step whose kernel is chosen and has_tile.
tuning_key key_of(const step& st, const machine& chip);

/// The same of a tall product that has_tall_columns_off_sectors, as if it had not.
tuning_key with_columns_on_sectors(tuning_key key);

/// "m=8 n=8 k=8, batched_small f64*f64->f64 in f64 += ..., many": for people.
std::string to_string(const tuning_key& key);

} // namespace ricci::lowering
