// files: files, reference data and programs that the tests of the examples share.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace examples_test {

/// A file of the reference data, which lie in $RICCI_SHARED/data/FOLDER, by default in the folder `shared` beside the
/// checkout. Empty, after a warning that the test is skipped, when there are none; an error when this file is
/// missing. Cases that need them have the tag [reference], those that need a program one of its name: each tag is a
/// test of ctest, which says that it was skipped where none of its cases could run.
std::string reference_file(const std::string& folder, const std::string& name);

/// The command of a Python that has a module. Empty, after a warning that the test is skipped, when there is none.
std::string python_with(const std::string& module);

/// A folder of its own for files that a test makes, removed with the object.
class scratch {
  public:
    scratch();
    ~scratch();
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    /// Writes a file and returns its path.
    std::string write(const std::string& name, std::string_view content) const;

  private:
    std::filesystem::path folder_;
};

std::string read_file(const std::string& path);

/// Replaces the first occurrence of `old`, which must be there.
std::string replaced(std::string text, std::string_view old, std::string_view with);

struct outcome {
    int exit_code = -1;
    std::string output; ///< of both streams
};

/// Runs a program, given with its arguments as a shell takes them, on the CPU.
outcome run_program(const std::string& command);

} // namespace examples_test
