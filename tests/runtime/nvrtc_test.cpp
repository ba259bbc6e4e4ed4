// nvrtc: the real compiler, for GPUs that need not be there. Skipped where there is no NVRTC.
#include "lowering/error.hpp"
#include "runtime/cuda_library.hpp"
#include "runtime/nvrtc_compiler.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"
#include "tests/skip.hpp"

#include <thread>
#include <vector>

using namespace ricci;
using namespace ricci::runtime;
namespace fs = std::filesystem;

namespace {

constexpr int newest_major = 13;

const library_place place = find_cuda_library(nvrtc_library, newest_major);
[[maybe_unused]] const bool possible = test::skip_unless(!place.file.empty(), place.missing);

const std::string scale = R"(struct arguments { double* x; long long count; double factor; };
extern "C" __global__ void scale(arguments a) {
    const long long i = threadIdx.x + static_cast<long long>(blockIdx.x) * blockDim.x;
    if (i < a.count) a.x[i] *= a.factor;
}
)";

bool is_cubin(const std::string& code) {
    constexpr char cuda_machine = static_cast<char>(190); // EM_CUDA
    return code.size() > 64 && code.starts_with("\177ELF") && code[18] == cuda_machine;
}

} // namespace

TEST_CASE("a kernel is compiled to the machine code of each architecture") {
    std::vector<std::string> codes;
    for (const int capability : {80, 90, 100}) {
        CAPTURE(capability);
        nvrtc_compiler compiler(capability, newest_major);
        codes.push_back(compiler.compile(scale));
        CHECK(is_cubin(codes.back()));
        CHECK(test::contains(codes.back(), "scale"));
    }
    CHECK(codes[0] != codes[1]);
    CHECK(codes[1] != codes[2]);
}

TEST_CASE("only the marker gives the instructions of one architecture alone") {
    const std::string body = R"(extern "C" __global__ __launch_bounds__(128, 1) void registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
}
)";
    nvrtc_compiler compiler(90, newest_major);
    CHECK(is_cubin(compiler.compile(architecture_specific_marker + body)));
    CHECK_THROWS_AS(compiler.compile(body), error);
    nvrtc_compiler older(80, newest_major); // has no such variant: the marker means nothing
    CHECK(is_cubin(older.compile(architecture_specific_marker + scale)));
}

TEST_CASE("a GPU newer than NVRTC gets PTX, one too old is refused") {
    nvrtc_compiler future(999, newest_major);
    const std::string code = future.compile(scale);
    CHECK_FALSE(is_cubin(code));
    CHECK(test::contains(code, ".entry scale"));
    nvrtc_compiler past(30, newest_major);
    CHECK(test::contains(test::message_of([&] { past.compile(scale); }), "this GPU is sm_30"));
}

TEST_CASE("a source that does not compile is kept, and the message has the log") {
    nvrtc_compiler compiler(90, newest_major);
    const std::string bad = "extern \"C\" __global__ void bad() { undeclared_name = 1; }\n";
    std::string message;
    try {
        compiler.compile(bad);
    } catch (const error& failure) {
        CHECK(failure.blame() == blame::environment);
        message = failure.what();
    }
    CHECK(test::contains(message, "\"undeclared_name\" is undefined"));
    CHECK(test::contains(message, "sm_90"));
    const std::string before = "is kept in ";
    const auto begin = message.find(before);
    REQUIRE(begin != std::string::npos);
    const fs::path kept = message.substr(begin + before.size(), message.find(',', begin) - begin - before.size());
    CHECK(test::read_text(kept) == bad);
    fs::remove_all(kept.parent_path());
    CHECK(is_cubin(compiler.compile(scale))); // and the compiler goes on
}

TEST_CASE("a wheel's folder serves, made of links here") {
    const temporary_directory wheel;
    const fs::path folder = wheel.path() / "nvidia/cuda_nvrtc/lib";
    fs::create_directories(folder);
    fs::create_symlink(fs::canonical(place.file), folder / place.file.filename());
    for (const fs::path& builtins : files_beside(place.file, "libnvrtc-builtins.so"))
        fs::create_symlink(builtins, folder / builtins.filename());
    const test::variable chosen("RICCI_NVRTC", folder.string());
    nvrtc_compiler compiler(90, newest_major);
    CHECK(compiler.path() == folder / place.file.filename());
    CHECK(test::contains(compiler.identity(), fs::canonical(place.file).string()));
    CHECK(is_cubin(compiler.compile(scale)));
}

TEST_CASE("threads compile at once with one compiler") {
    nvrtc_compiler compiler(90, newest_major);
    std::vector<std::string> codes(4);
    std::vector<std::thread> threads;
    for (std::string& code : codes) threads.emplace_back([&] { code = compiler.compile(scale); });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& code : codes) CHECK(is_cubin(code));
    CHECK_FALSE(compiler.version().empty());
}
