// nvrtc_compiler: NVIDIA's run-time compiler, loaded on the first kernel that is in no cache. Needs no CUDA header.
#pragma once

#include "runtime/backend.hpp"

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

namespace ricci::runtime {

/// The first line of a source that needs the instructions of one architecture alone (sm_90a: wgmma, setmaxnreg).
inline constexpr const char* architecture_specific_marker = "// arch: a\n";

class nvrtc_compiler : public compiler {
  public:
    /// Compiles for compute capability `capability` (90 is sm_90), with an NVRTC of major version `newest_major` or
    /// older, the driver's. Looks for the library (RICCI_NVRTC, see cuda_library.hpp), but does not load it.
    nvrtc_compiler(int capability, int newest_major);
    ~nvrtc_compiler() override;

    bool found() const { return !path_.empty(); }
    const std::filesystem::path& path() const { return path_; }
    /// Where it was looked for, if it was not found: for a message.
    const std::string& missing() const { return missing_; }
    /// "13.0". Loads the library.
    std::string version();

    std::string identity() const override { return identity_; }
    std::string options() const override { return options_; }
    /// A cubin; PTX for the newest architecture known where NVRTC is older than the GPU.
    std::string compile(const std::string& source) override;

  private:
    struct functions;
    const functions& loaded();

    int capability_;
    std::filesystem::path path_;
    std::string missing_, identity_, options_;
    bool line_info_;
    std::once_flag load_once_;
    std::unique_ptr<functions> functions_;
};

} // namespace ricci::runtime
