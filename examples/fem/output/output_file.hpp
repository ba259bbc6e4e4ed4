// output_file: a file that is there whole or not at all.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

namespace fem {

/// A file that cannot be written; what() names it and the reason.
class output_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What is written goes to a temporary file beside `path`, which takes its place when it is complete; before, and
/// after a failure, what was at `path` is untouched.
class output_file {
  public:
    /// Throws output_error when the folder is not there or not writable: construct it before a long computation.
    explicit output_file(std::string path);
    ~output_file();
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    void write(std::string_view text);
    /// For libraries that write themselves.
    std::FILE* handle() const { return file_; }
    const std::string& path() const { return path_; }
    /// Puts the file in its place. Throws output_error, for example when the disk is full.
    void finish();

  private:
    [[noreturn]] void fail(const char* what) const;

    std::string path_, temporary_;
    std::FILE* file_ = nullptr;
};

} // namespace fem
