// output_files: files that appear all together or not at all.
#pragma once

#include <filesystem>
#include <vector>

namespace ricci::tools {

/// The absolute path of `file` with its links resolved, whether it exists or not.
std::filesystem::path real_path(const std::filesystem::path& file);

/// Throws ricci::error unless a file can be put at `target`: its folder exists and can be written, it is no folder.
void check_target(const std::filesystem::path& target);

/// Files are written under temporary names beside their targets, and renamed when all of them are complete.
class output_files {
  public:
    output_files() = default;
    output_files(const output_files&) = delete;
    output_files& operator=(const output_files&) = delete;
    ~output_files(); ///< removes what was not put in place

    /// Makes an empty file beside `target`, with the permissions that `target` has or would get; the path to write
    /// to.
    std::filesystem::path add(const std::filesystem::path& target);

    /// Puts every file in place. If one cannot be, those before it are put back and ricci::error is thrown.
    void commit();

  private:
    struct file {
        std::filesystem::path temporary, target;
    };
    std::vector<file> files_;
};

} // namespace ricci::tools
