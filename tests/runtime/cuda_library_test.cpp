// cuda_library: where the toolkit's libraries are searched for, and what is said without a driver. Needs no GPU,
// loads no NVRTC.
#include "runtime/cuda_library.hpp"

#include "runtime/backend.hpp"
#include "runtime/nvrtc_compiler.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <dlfcn.h>

using namespace ricci;
using namespace ricci::runtime;
using test::variable;
namespace fs = std::filesystem;

namespace {

/// A library that is surely on no machine.
constexpr cuda_library fake{"ricci_fake", "RICCI_FAKE", "ricci_fake_wheel"};

fs::path make_file(const fs::path& file, const std::string& text = "x") {
    fs::create_directories(file.parent_path());
    test::write_text(file, text);
    return file;
}

fs::path find_fake(int newest_major = 13) { return find_cuda_library(fake, newest_major).file; }

} // namespace

TEST_CASE("a library that is nowhere is missing, and the message says what to do") {
    const library_place place = find_cuda_library(fake, 13);
    CHECK(place.file.empty());
    CHECK(test::contains(place.missing, "libricci_fake.so.13"));
    CHECK(test::contains(place.missing, "RICCI_FAKE"));
}

TEST_CASE("the variable names a file or a folder, and nothing else is looked at then") {
    const temporary_directory folder;
    const fs::path file = make_file(folder.path() / "odd-name.so");
    const fs::path in_home = make_file(folder.path() / "home/lib64/libricci_fake.so.13");
    const variable home("CUDA_HOME", (folder.path() / "home").string());
    CHECK(find_fake() == in_home);
    {
        const variable chosen(fake.variable, file.string());
        CHECK(find_fake() == file);
    }
    {
        const variable chosen(fake.variable, (folder.path() / "home/lib64").string());
        CHECK(find_fake() == in_home);
    }
    const variable chosen(fake.variable, (folder.path() / "nothing").string());
    CHECK(find_fake().empty());
    CHECK(test::contains(find_cuda_library(fake, 13).missing, "RICCI_FAKE names"));
}

TEST_CASE("a toolkit comes before a wheel, CUDA_HOME before CUDA_PATH") {
    const temporary_directory folder;
    const variable home("CUDA_HOME", (folder.path() / "home").string());
    const variable path("CUDA_PATH", (folder.path() / "path").string());
    const variable python("VIRTUAL_ENV", (folder.path() / "venv").string());
    const fs::path packages = folder.path() / "venv/lib/python3.11/site-packages/nvidia";
    const fs::path in_old_wheel = make_file(packages / "ricci_fake_wheel/lib/libricci_fake.so.12");
    CHECK(find_fake() == in_old_wheel);
    const fs::path in_new_wheel = make_file(packages / "cu13/lib/libricci_fake.so.13");
    CHECK(find_fake() == in_new_wheel);
    const fs::path in_path = make_file(folder.path() / "path/lib64/libricci_fake.so.12");
    CHECK(find_fake() == in_path);
    const fs::path in_home = make_file(folder.path() / "home/lib/libricci_fake.so.12");
    CHECK(find_fake() == in_home);
}

TEST_CASE("the newest version that the driver can take is taken") {
    const temporary_directory folder;
    const variable home("CUDA_HOME", folder.path().string());
    const fs::path of_12 = make_file(folder.path() / "lib64/libricci_fake.so.12");
    const fs::path of_13 = make_file(folder.path() / "lib64/libricci_fake.so.13");
    make_file(folder.path() / "lib64/libricci_fake.so.11");
    CHECK(find_fake(14) == of_13);
    CHECK(find_fake(13) == of_13);
    CHECK(find_fake(12) == of_12);
    CHECK(find_fake(11).empty());
}

TEST_CASE("an identity follows links, and changes with the file") {
    const temporary_directory folder;
    const fs::path file = make_file(folder.path() / "real.so", "one");
    fs::create_symlink(file, folder.path() / "link.so");
    const std::string first = file_identity(folder.path() / "link.so");
    CHECK(first == file_identity(file));
    CHECK(test::contains(first, "real.so 3 "));
    test::write_text(file, "three");
    CHECK(file_identity(file) != first);
    CHECK(file_identity(folder.path() / "nothing").empty());
}

TEST_CASE("files beside a library are listed once, whatever links to them") {
    const temporary_directory folder;
    const fs::path library = make_file(folder.path() / "libx.so");
    const fs::path real = make_file(folder.path() / "libx-builtins.so.13.0");
    fs::create_symlink(real, folder.path() / "libx-builtins.so");
    fs::create_symlink(folder.path() / "gone", folder.path() / "libx-builtins.so.1");
    CHECK(files_beside(library, "libx-builtins.so") == std::vector<fs::path>{fs::canonical(real)});
}

TEST_CASE("a file that is no library is refused with the loader's reason") {
    const temporary_directory folder;
    const fs::path file = make_file(folder.path() / "libx.so", "no library");
    const std::string message = test::message_of([&] { open_library(file, {}); });
    CHECK(test::contains(message, file.string()));
}

TEST_CASE("NVRTC's identity and options are known without loading it") {
    nvrtc_compiler compiler(90, 13);
    CHECK(compiler.identity().empty() == !compiler.found());
    if (compiler.found()) CHECK(test::contains(compiler.identity(), "libnvrtc-builtins"));
    CHECK(test::contains(compiler.options(), "sm_90"));
    CHECK_FALSE(test::contains(compiler.options(), "-lineinfo"));
    {
        const variable debug("RICCI_DEBUG", "1");
        CHECK(test::contains(nvrtc_compiler(90, 13).options(), "-lineinfo"));
    }
    CHECK_FALSE(test::contains(test::read_text("/proc/self/maps"), "libnvrtc"));
}

TEST_CASE("without NVRTC, compiling says where it was looked for") {
    const variable chosen("RICCI_NVRTC", "/nonexistent/libnvrtc.so");
    nvrtc_compiler compiler(90, 13);
    CHECK_FALSE(compiler.found());
    CHECK(compiler.identity().empty());
    CHECK(test::contains(test::message_of([&] { compiler.compile(""); }),
                         "RICCI_NVRTC names \"/nonexistent/libnvrtc.so\""));
}

TEST_CASE("without a driver, no GPU is counted and its backend says what is missing") {
    if (dlopen("libcuda.so.1", RTLD_LAZY)) {
        WARN("this machine has a driver");
        return;
    }
    CHECK(cuda_device_count() == 0);
    try {
        backend_of(cuda(0));
        FAIL("a backend without a driver");
    } catch (const error& failure) {
        CHECK(failure.blame() == blame::environment);
        CHECK(test::contains(failure.what(), "libcuda.so.1"));
        CHECK(test::contains(failure.what(), "install the driver"));
    }
}
