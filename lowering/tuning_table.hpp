// tuning_table: parameters that measured best, by key; and what lowering is given of them.
#pragma once

#include "lowering/plan.hpp"
#include "lowering/tuning_key.hpp"

#include <cstddef>
#include <map>
#include <vector>

namespace ricci::lowering {

struct tuned_tile {
    batched_tile tile;
    double seconds = 0; ///< a launch, as measured
    bool operator==(const tuned_tile&) const = default;
};

class tuning_table {
  public:
    /// Replaces what is there.
    void put(const tuning_key& key, const tuned_tile& best) { entries_.insert_or_assign(key, best); }

    /// What was measured under `key`, or else under the same key for a larger class of batches, so that what was
    /// measured on a full chip serves all. Null if there is nothing.
    const tuned_tile* find(const tuning_key& key) const;

    struct neighbor {
        const tuning_key* key;
        const tuned_tile* best;
        double distance; ///< the largest of |log2| of the ratios of m, n and k
    };
    /// Of the same layout and, as in find, class of batches: at most `most` entries whose sizes are nearest, none
    /// further than a factor of sqrt(2) in any of them.
    std::vector<neighbor> near(const tuning_key& key, std::size_t most) const;

    const std::map<tuning_key, tuned_tile>& entries() const { return entries_; }
    bool operator==(const tuning_table&) const = default;

  private:
    std::map<tuning_key, tuned_tile> entries_; // in the order of layouts, so that a layout's entries stand together
};

/// What lower() knows of measurements. Either may be null; the tables must outlive the call.
struct priors {
    const tuning_table* measured = nullptr; ///< on this chip
    const tuning_table* shipped = nullptr;  ///< on one of its architecture
};

} // namespace ricci::lowering
