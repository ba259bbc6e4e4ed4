// cuda_peer_library: a library of NVIDIA's that is no part of the toolkit: where it is, its functions, what it makes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ricci::bench {

struct cuda_peer_library {
    const char* name;           ///< "libcutensor.so.2"
    const char* variable;       ///< the environment variable that names the file, or its folder
    const char* wheel;          ///< its folder below site-packages in Python's wheels
    const char* package_folder; ///< below the system's libraries; empty: among them
    const char* remedy;         ///< "`pip install cutensor-cu13`"
};

/// The file and its functions.
class loaded_library {
  public:
    /// Looks in what the variable names, else in the folders of Python's wheels, of the toolkit and of the system,
    /// else where the loader does. Those that it needs are loaded first. Throws ricci::error (environment) where
    /// there is none.
    loaded_library(const cuda_peer_library& library, const std::vector<std::filesystem::path>& needed);

    /// Throws ricci::error (environment) where it is too old to have that.
    void* symbol(const char* name) const;

  private:
    std::filesystem::path file_;
    void* handle_ = nullptr;
};

/// cuBLAS's library of GEMMs, which others need and some packages put where the loader does not look.
std::vector<std::filesystem::path> library_of_gemms();

/// What a library makes, to be destroyed again.
template <class T, class Status>
class owned {
  public:
    explicit owned(Status (*destroy)(T)) : destroy_(destroy) {}
    ~owned() {
        if (made_) destroy_(made_);
    }
    owned(const owned&) = delete;
    owned& operator=(const owned&) = delete;
    T* made() { return &made_; }
    T get() const { return made_; }

  private:
    Status (*destroy_)(T);
    T made_{};
};

} // namespace ricci::bench
