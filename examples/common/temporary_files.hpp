// temporary_files: files that a signal which ends the program removes.
#pragma once

#include <string>

namespace common {

/// Makes a file of its own in the folder of `path`, open for writing, and returns its descriptor, -1 with errno where
/// that fails; `name` becomes its path. SIGINT, SIGTERM, SIGHUP and SIGPIPE, where the program had left them alone,
/// remove it from now on, and end the program as they would have.
int make_temporary(const std::string& path, std::string& name);

/// The file is not to be removed by a signal any more: it was renamed, or is removed already.
void forget_temporary(const std::string& name);

} // namespace common
