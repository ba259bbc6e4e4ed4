// folder: a temporary folder of files, removed at the end of a test.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>

#include <stdlib.h>

namespace ricci::tests {

inline std::string read_bytes(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
    std::ofstream stream(file, std::ios::binary);
    stream << bytes;
    if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
}

class folder {
  public:
    folder() {
        std::string name = (std::filesystem::temp_directory_path() / "ricci-test-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a folder like " + name);
        path_ = name;
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

    /// The names of all entries below, hidden ones too, with the files' contents.
    std::map<std::string, std::string> contents() const {
        std::map<std::string, std::string> found;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
            found[entry.path().lexically_relative(path_).string()] =
                entry.is_regular_file() && entry.file_size() < 1 << 20 ? read_bytes(entry.path()) : "";
        return found;
    }

  private:
    std::filesystem::path path_;
};

} // namespace ricci::tests
