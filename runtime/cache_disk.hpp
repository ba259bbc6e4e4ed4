// cache_disk: finds, stores and forgets one kernel in the cache's directory. Nothing here throws for a bad directory.
#pragma once

#include "runtime/cache_file.hpp"

#include <optional>
#include <string>

namespace ricci::runtime {

/// The record under `key`, whole and from a trusted file; marks it as used now. A damaged file is deleted; one that
/// could not be read (an I/O error) is left alone.
std::optional<cache_record> read_cached(const std::string& key);

/// Stores `record`, so that no process ever sees a part of it: temporary file, fsync, rename.
void write_cached(const cache_record& record);

void remove_cached(const std::string& key);

} // namespace ricci::runtime
