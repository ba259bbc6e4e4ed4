// temporary_directory: a folder of our own (mode 0700) under TMPDIR, removed with what is in it.
#include "runtime/temporary_directory.hpp"

#include "lowering/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <system_error>

namespace ricci::runtime {

temporary_directory::temporary_directory() {
    const char* parent = std::getenv("TMPDIR");
    std::string pattern = fmt::format("{}/ricci-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(pattern.data()))
        throw error(fmt::format("cannot make a temporary folder {}: {} (TMPDIR chooses another place)", pattern,
                                std::generic_category().message(errno)),
                    blame::environment);
    path_ = pattern;
}

temporary_directory::~temporary_directory() {
    std::error_code ignored;
    if (!kept_) std::filesystem::remove_all(path_, ignored);
}

} // namespace ricci::runtime
