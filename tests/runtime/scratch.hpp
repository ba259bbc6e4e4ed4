// scratch: what the runtime's tests need around them: a folder, the environment, another user, what stderr got.
#pragma once

#include "lowering/error.hpp"
#include "runtime/temporary_directory.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>

namespace ricci::test {

/// Sets an environment variable for its lifetime.
class variable {
  public:
    variable(const char* name, const std::string& value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        setenv(name, value.c_str(), 1);
    }
    ~variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
    variable(const variable&) = delete;
    variable& operator=(const variable&) = delete;

  private:
    const char* name_;
    std::optional<std::string> old_;
};

/// A kernel cache of its own for the scope.
class scratch_cache {
    runtime::temporary_directory folder_;
    variable place_{"RICCI_CACHE_DIR", folder_.path().string()};
};

inline std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_text(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

/// The message of the ricci::error that `body` throws; empty if it throws none.
inline std::string message_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const error& e) {
        return e.what();
    }
    return {};
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// How often `part` stands in `text`.
inline int occurrences(const std::string& text, const std::string& part) {
    int count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

/// What a child process left.
struct outcome {
    int status = -1;    ///< its exit status, or 128 + the signal that ended it
    std::string errors; ///< its stderr
};

/// Runs `body` in a child process of this user, or of nobody if this is root; a false return is status 1.
outcome as_plain_user(const std::function<bool()>& body);
/// The same as this very user.
outcome in_child(const std::function<bool()>& body);

inline constexpr unsigned nobody = 65534;

} // namespace ricci::test
