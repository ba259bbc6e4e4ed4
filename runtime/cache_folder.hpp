// cache_folder: the kernel cache's directory, and whom it trusts.
//
// <root>/<2 digits of the key>/<the other 62>.kernel. A directory or file is used only if it is ours and nobody else
// can write it: what stands there runs in this process. All access goes through descriptors that were checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>

namespace ricci::runtime {

/// Owns a file descriptor; -1 is none.
class descriptor {
  public:
    explicit descriptor(int number = -1) : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~descriptor();
    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }

  private:
    int number_;
};

/// A directory that was opened, or why not. Neither a descriptor nor a problem: it does not exist.
struct folder {
    descriptor open;
    std::string problem;
};

enum class if_absent { leave, make };

/// The cache's root.
folder open_root(if_absent absent);
/// Its subdirectory for keys that begin with `digits`.
folder open_shelf(const folder& root, const std::string& digits, if_absent absent);

/// A file of the cache, read whole. Neither bytes nor a problem: it does not exist.
struct cached_file {
    descriptor open;
    struct stat status {};
    std::optional<std::string> bytes;
    std::string problem; ///< why it is not used: an I/O error, or distrust
};

cached_file read_file(int shelf, const std::string& name);

/// Puts a file of `bytes` in place of `name`, so that no process ever sees a part of it: temporary file, fsync,
/// rename. 0 or the error's number.
int replace_file(int shelf, const std::string& name, std::string_view bytes);

/// Why what `status` describes must not be trusted; empty if it may be.
std::string distrust(const struct stat& status);

/// RICCI_CACHE_SIZE in bytes: a number ("500M", "1.5g") with K, M, G or T after it or not; 1 GiB where it is unset.
/// Throws ricci::error for anything else.
std::uint64_t cache_capacity();

/// Says on stderr, once per process, that the cache goes on in memory, and why.
void warn_of_cache(const std::string& problem);

} // namespace ricci::runtime
