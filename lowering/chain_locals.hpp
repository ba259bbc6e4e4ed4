// chain_locals: a temporary that stays within a chain: its dimensions, how steps go through it, where its values are.
#pragma once

#include "lowering/chain.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ricci::lowering {

/// Where an axis of a step goes in a phase of a chain.
struct axis_place {
    enum class kind : std::uint8_t { unknown, element, item, stream, inner, fixed };
    kind where = kind::unknown;
    std::int32_t number = 0; ///< of the phase's items or stream; of a pencil's own
    std::int64_t value = 0;  ///< fixed
    bool operator==(const axis_place&) const = default;
};

/// A temporary's slice of one element. Its slot is dense, the dimension that is nearest in memory nearest.
class local_tensor {
  public:
    /// An access as coordinates, one for each dimension: where it begins, and what a step of each axis adds.
    struct way {
        std::vector<std::int64_t> offset;
        std::vector<std::vector<std::int64_t>> step; ///< by axis of the step; empty: the axis is not in the access
        /// The dimension that this axis walks along by itself, one by one; -1: none, or several.
        std::int32_t dimension_of(std::size_t axis) const;
    };
    enum class kept : std::uint8_t {
        nowhere, ///< in this phase: in the slot, if at all
        point,   ///< a value at each point
        pencil   ///< a pencil that is stored when the items' streams have ended
    };

    /// Of a temporary with a slice_length.
    local_tensor(const temporary& t, std::int64_t element_stride);

    /// Numbers of one element, 2^62 for more; nothing where the stride is that of no dimension.
    static std::optional<std::int64_t> slice_length(const temporary& t, std::int64_t element_stride);

    /// How the operand, of this temporary, goes through it; nothing where that leaves a dimension, or where the
    /// element's axis is no dimension of its own.
    std::optional<way> read(const step& st, const operand& o, std::size_t element) const;
    std::vector<std::int64_t> slot_strides(const way& w) const; ///< of the step's axes
    std::int64_t slot_offset(const way& w) const;

    std::int64_t extent(std::size_t dimension) const { return extents_[dimension]; }
    std::size_t dimensions() const { return extents_.size(); }
    std::int64_t slot_stride(std::size_t dimension) const { return slot_strides_[dimension]; }
    chain_slot slot_of_phase(std::int32_t first) const { return {extents_, slot_strides_, first, first}; }

    /// Whether a write reaches every element of a slice, by axes of its own for every dimension.
    bool is_whole(const step& st, const way& w, std::size_t element) const;
    /// Marks what a write reaches.
    void cover(const step& st, const way& w, std::size_t element);
    bool is_covered() const;
    /// As if nothing had been written yet.
    void forget();

    kept place = kept::nowhere;
    std::int32_t number = -1;                 ///< the value, or the pencil
    std::int32_t phase = -1;                  ///< that wrote it last
    std::vector<axis_place> dimension_places; ///< point: of each dimension that has several values
    std::int32_t slot = -1;
    bool is_stored = false; ///< what was written is in the slot

  private:
    std::vector<std::int64_t> strides_, extents_, slot_strides_; ///< by dimension; strides_: in the temporary
    std::int64_t element_stride_;
    std::vector<char> covered_;
};

} // namespace ricci::lowering
