// scatter_shape: which element of the output each entry of its tables stands for, where equal entries add up.
//
// The axes of those tables are taken together: combination number n of their values (the first axis fastest) goes to
// the element at lowest + unit*key, of which the tables' entries say the key.
#pragma once

#include "lowering/plan.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace ricci::lowering {

/// Contributions to an element that are added to it one by one, in their order, at most; more are added up first, by
/// pieces, whose rounding errors grow with the root of their number.
inline constexpr std::int64_t longest_row_in_order = 64;

/// A table of them, its axes those of the shape.
struct scatter_table {
    std::int32_t source = 0; ///< access of the statement
    scalar_type type = scalar_type::i32;
    std::int64_t offset = 0;          ///< of the first entry, elements of the table
    std::vector<std::int64_t> stride; ///< of the shape's axes
    std::int64_t factor = 0;          ///< elements of the output that an entry counts
};

struct scatter_shape {
    std::vector<std::int32_t> axes;    ///< of the step
    std::vector<std::size_t> gathers;  ///< of the output
    std::vector<std::int64_t> extent;  ///< of each axis
    std::vector<std::int64_t> stride;  ///< of the output along it, beside what the tables say
    std::vector<scatter_table> tables; ///< of each gather
    std::int64_t contributions = 1;    ///< combinations of the axes' values
    std::int64_t lowest = 0, unit = 1; ///< elements
    std::int64_t keys = 1;             ///< they lie in [0, keys)

    bool has_axis(std::size_t a) const {
        return std::find(axes.begin(), axes.end(), static_cast<std::int32_t>(a)) != axes.end();
    }
    bool has_gather(std::size_t g) const { return std::find(gathers.begin(), gathers.end(), g) != gathers.end(); }
    /// Whether numbers of contributions, or keys, need 64 bits.
    bool has_wide_list() const { return contributions > std::numeric_limits<std::int32_t>::max(); }
    bool has_wide_keys() const { return keys > std::numeric_limits<std::int32_t>::max(); }
    /// Elements of the output that get something, at most.
    std::int64_t most_targets() const { return std::min(contributions, keys); }
    /// Of the table's inverse, at most: the contributions, the first of each target, and the targets' keys.
    std::int64_t most_bytes() const {
        const std::int64_t number = has_wide_list() ? 8 : 4, key = has_wide_keys() ? 8 : 4;
        return number * (contributions + most_targets() + 1) + key * most_targets();
    }
};

/// Of a step whose output has tables with equal entries. Tables of integers that share an axis with those count too:
/// an axis counts whole.
scatter_shape scatter_shape_of(const step& st);

} // namespace ricci::lowering
