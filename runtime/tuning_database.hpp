// tuning_database: what was measured on a chip, beside the kernel cache on disk; and what ricci ships for its
// architecture.
//
// <cache>/tuning/<architecture>-<chip>.json, see tuning_json.hpp. It is trusted as the cache is: a folder or file
// that others own or can write is not read.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/tuning_table.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace ricci::runtime {

inline constexpr std::string_view tuning_shelf = "tuning"; ///< the folder within the cache's

/// One chip's. Threads may share it.
class tuning_database {
  public:
    explicit tuning_database(const lowering::machine& chip);

    /// What was measured, as it is now. The file is read by the first call; what is wrong with it is said on stderr,
    /// once a process.
    std::shared_ptr<const lowering::tuning_table> measured();

    /// The table that ricci was built with for this chip or its architecture; empty where there is none.
    std::shared_ptr<const lowering::tuning_table> shipped();

    /// Adds `found` in memory, and on disk to what other processes have written there meanwhile. Where the disk takes
    /// nothing (read- only, full, RICCI_CACHE_SIZE=0) it stays in memory, which is said once.
    void keep(const lowering::tuning_table& found);

    /// Why what is kept stays in this process's memory; empty where it goes to disk.
    std::string problem();

    /// "sm_90-NVIDIA_H100_80GB_HBM3.json"
    const std::string& file_name() const { return file_name_; }

  private:
    void load();

    lowering::machine chip_;
    std::string file_name_;
    std::mutex mutex_;
    std::shared_ptr<const lowering::tuning_table> measured_, shipped_; ///< null: not loaded yet
    bool writable_ = true;                                             ///< false: a newer version's file stands there
};

/// The database of a chip; one a process for each architecture and name.
tuning_database& tuning_database_of(const lowering::machine& chip);

} // namespace ricci::runtime
