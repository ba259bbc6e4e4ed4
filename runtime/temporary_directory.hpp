// temporary_directory: a folder of our own (mode 0700) under TMPDIR, removed with what is in it.
#pragma once

#include <filesystem>

namespace ricci::runtime {

class temporary_directory {
  public:
    /// Throws ricci::error (environment) where none can be made. Removes those of interrupted processes of this user
    /// that have not changed for ten minutes.
    temporary_directory();
    ~temporary_directory();
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Leaves the folder where it is, for the user to look at; for a day, if more are made after this process's end.
    void keep();

  private:
    std::filesystem::path path_;
    bool kept_ = false;
};

} // namespace ricci::runtime
