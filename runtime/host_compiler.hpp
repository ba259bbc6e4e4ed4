// host_compiler: the system's C++ compiler, found and called at run time.
#pragma once

#include "runtime/backend.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace ricci::runtime {

/// What becomes of a source that does not compile. Where it is kept, the message says.
enum class failed_source { kept, removed };

class host_compiler : public compiler {
  public:
    /// RICCI_CXX (one path or name, no arguments), else c++, g++ or clang++ on the PATH.
    host_compiler();
    /// `program` (a path or a name) for a machine that `architecture`, its options, describes: perhaps another one.
    host_compiler(const std::string& program, std::vector<std::string> architecture);

    bool found() const { return !path_.empty(); }
    /// The compiler; empty if none was found.
    const std::filesystem::path& path() const { return path_; }
    /// What was looked for, if none was found: for a message.
    const std::string& missing() const { return missing_; }

    std::string identity() const override;
    std::string options() const override;
    /// A shared object for dlopen. Only functions of C linkage are visible in it.
    std::string compile(const std::string& source) override { return compile(source, failed_source::kept); }
    std::string compile(const std::string& source, failed_source then);

  private:
    void read_identity();

    std::filesystem::path path_;
    std::vector<std::string> architecture_; ///< options
    std::string missing_;
    std::string identity_;
    std::string options_;
};

} // namespace ricci::runtime
