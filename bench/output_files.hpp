// output_files: files that appear all together or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ricci::bench {

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

/// An option of a command and the file that it names: "-" is the standard output, "" none.
struct output_option {
    std::string_view name;
    std::string file;
};

/// Throws ricci::error unless what the options name can be written, and is a file for each. Makes nothing: it is for
/// before the work. What is no regular file, as a pipe, is written as it stands.
void check_outputs(const std::vector<output_option>& options);

/// Writes to each file its text; those that are files appear all together or not at all. Throws ricci::error.
void write_outputs(const std::vector<std::pair<std::string, std::string>>& files_and_texts);

} // namespace ricci::bench
