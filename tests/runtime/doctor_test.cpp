// doctor: examine() names every part of the environment, and gives advice for each that is missing.
#include "runtime/doctor.hpp"

#include "runtime/blas.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <algorithm>

using namespace ricci;
using namespace ricci::runtime;

namespace {

finding found(const std::string& what) {
    const auto all = examine();
    const auto it = std::find_if(all.begin(), all.end(), [&](const finding& f) { return f.what == what; });
    if (it == all.end()) return {what + " is not examined", false, "", ""};
    return *it;
}

} // namespace

// The first test: the default device is asked for once per process, and the child inherits the answer.
TEST_CASE("a default device that is not there is found out") {
    const auto outcome = test::in_child([] {
        setenv("RICCI_DEVICE", "cuda:63", 1);
        const finding f = found("default device");
        return !f.good && f.needed && test::contains(f.detail, "cuda:63");
    });
    CHECK(outcome.status == 0);
    CHECK(found("default device").good);
}

TEST_CASE("every finding says something, and every bad one gives advice") {
    const test::variable broken("RICCI_NVRTC", "/nonexistent");
    for (const finding& f : examine()) {
        CAPTURE(f.what);
        CHECK_FALSE(f.detail.empty());
        CHECK(f.good == f.advice.empty());
    }
}

TEST_CASE("a compiler that is none, or does not compile, is found out") {
    {
        const test::variable chosen("RICCI_CXX", "/nonexistent/c++");
        const finding f = found("C++ compiler");
        CHECK_FALSE(f.good);
        CHECK(test::contains(f.detail, "/nonexistent/c++"));
    }
    const temporary_directory folder;
    const test::variable chosen("RICCI_CXX", "/bin/false"), place("TMPDIR", folder.path().string());
    const finding f = found("C++ compiler");
    CHECK_FALSE(f.good);
    CHECK(f.detail == "the compiler /bin/false failed with status 1");
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("whether this build has a BLAS is told") { CHECK(found("BLAS of the CPU").good == has_blas()); }

TEST_CASE("a variable with which every run would fail is found out") {
    {
        const test::variable chosen("RICCI_NUM_THREADS", "abc");
        const finding f = found("CPU threads");
        CHECK_FALSE(f.good);
        CHECK(test::contains(f.detail, "abc"));
        CHECK(test::contains(f.advice, "unset RICCI_NUM_THREADS"));
    }
    CHECK(found("CPU threads").good);
    const test::variable chosen("RICCI_CACHE_SIZE", "foo");
    const finding f = found("kernel cache");
    CHECK_FALSE(f.good);
    CHECK(test::contains(f.detail, "foo"));
    CHECK(test::contains(f.advice, "unset RICCI_CACHE_SIZE"));
}

TEST_CASE("a cache's folder that is to be made is tried out") {
    const temporary_directory folder;
    {
        const test::variable chosen("RICCI_CACHE_DIR", (folder.path() / "a" / "b").string());
        const finding f = found("kernel cache");
        CHECK(f.good);
        CHECK(test::contains(f.detail, "made on first use"));
        CHECK(std::filesystem::is_empty(folder.path()));
    }
    const test::variable chosen("RICCI_CACHE_DIR", "/proc/x");
    const finding f = found("kernel cache");
    CHECK_FALSE(f.good);
    CHECK(test::contains(f.detail, "/proc/x: cannot be made: /proc cannot be written"));
}

TEST_CASE("the cache's folder is examined") {
    const temporary_directory folder;
    {
        const test::variable chosen("RICCI_CACHE_DIR", folder.path().string());
        const finding f = found("kernel cache");
        CHECK(f.good);
        CHECK(test::contains(f.detail, folder.path().string()));
    }
    const auto file = folder.path() / "file";
    test::write_text(file, "no folder");
    const test::variable chosen("RICCI_CACHE_DIR", file.string());
    const finding f = found("kernel cache");
    CHECK_FALSE(f.good);
    CHECK(test::contains(f.detail, file.string()));
}
