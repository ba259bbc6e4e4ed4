// output_file: a file that is there whole or not at all.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

namespace common {

/// A file that cannot be written; what() names it and the reason.
class output_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What is written goes to a temporary file beside `path`, which takes its place when it is complete; before, and
/// after a failure or a signal, what was at `path` is untouched. Links are followed. What is no regular file, such as
/// a pipe or a terminal, is written to directly.
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
    /// Whether both write to the same file, whatever their paths are called.
    bool same_file(const output_file& other) const { return target_ == other.target_; }
    /// Puts the file in its place. Throws output_error, for example when the disk is full.
    void finish();

  private:
    [[noreturn]] void fail(const char* what, int error) const;
    void open_directly();
    void open_beside(unsigned rights);

    std::string path_;
    std::string target_;    ///< what path_ leads to
    std::string temporary_; ///< empty where target_ is written to directly
    std::FILE* file_ = nullptr;
};

} // namespace common
