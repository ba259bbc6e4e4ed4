// cache_permission_test: directories that the kernel cache must not trust or cannot write.
//
// Each case runs in a child process, as nobody where the test runs as root, since root may write anywhere.
#include "runtime/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/fake_backend.hpp"
#include "tests/runtime/scratch.hpp"

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ricci;
using namespace ricci::test;
using namespace ricci::runtime;
namespace fs = std::filesystem;

namespace {

/// A folder that the child's user owns, and a cache directory named in it, not yet made.
struct place {
    place() {
        fs::create_directory(home);
        if (geteuid() == 0) {
            fs::permissions(folder.path(), fs::perms::others_exec, fs::perm_options::add);
            REQUIRE(chown(home.c_str(), nobody, nobody) == 0);
        }
    }
    temporary_directory folder;
    fs::path home = folder.path() / "home";
    variable set{"RICCI_CACHE_DIR", (home / "cache").string()};
};

/// Asks for three kernels with a new backend; returns how often it compiled, or -1 after a wrong result.
int compiles() {
    fake_backend& b = new_fake_backend();
    for (const std::string source : {"s", "t", "u"})
        if (*static_cast<std::string*>(cached_kernel(b, source, "f")) != "code of " + source) return -1;
    return b.jit().calls;
}

void set_mode(const fs::path& path, mode_t mode) {
    if (chmod(path.c_str(), mode) != 0) throw std::runtime_error("chmod failed");
}

/// Runs `body` as a plain user; it must succeed, and stderr must hold the warning, with `reason`, exactly once.
void expect_one_warning(const std::function<bool()>& body, const std::string& reason) {
    const outcome result = as_plain_user(body);
    INFO(result.errors);
    CHECK(result.status == 0);
    CHECK(occurrences(result.errors, "ricci: kernel cache") == 1);
    CHECK(contains(result.errors, reason));
}

} // namespace

TEST_CASE("a good directory gives no warning") {
    const place p;
    const outcome result =
        as_plain_user([] { return compiles() == 3 && compiles() == 0 && cache_problem().empty(); });
    CHECK(result.status == 0);
    CHECK(result.errors.empty());
}

TEST_CASE("a directory that others can write is not used") {
    const place p;
    expect_one_warning(
        [] {
            if (compiles() != 3) return false;
            set_mode(cache_directory(), 0777);
            return compiles() == 3 && compiles() == 3 && list_cache().empty() && clear_cache() == 0 &&
                   contains(cache_problem(), "0777");
        },
        "others can write there");
}

TEST_CASE("a subdirectory that others can write is not used") {
    const place p;
    expect_one_warning(
        [] {
            if (compiles() != 3) return false;
            for (const auto& shelf : fs::directory_iterator(cache_directory())) set_mode(shelf.path(), 0770);
            return compiles() == 3 && list_cache().empty();
        },
        "others can write there");
}

TEST_CASE("a file that others can write is not used, and replaced") {
    const place p;
    expect_one_warning(
        [] {
            if (compiles() != 3) return false;
            for (const cache_entry& entry : list_cache()) set_mode(entry.path, 0666);
            return list_cache().empty() && compiles() == 3 && compiles() == 0 && list_cache().size() == 3;
        },
        "others can write there");
}

TEST_CASE("a directory of another user is not used") {
    const place p;
    const variable root("RICCI_CACHE_DIR", "/usr"); // root's
    expect_one_warning(
        [] {
            return compiles() == 3 && compiles() == 3 && list_cache().empty() && clear_cache() == 0 &&
                   contains(cache_problem(), "owned by user 0, not by you");
        },
        "owned by user 0, not by you");
}

TEST_CASE("root does not use another user's directory, subdirectory or file") {
    if (geteuid() != 0) {
        WARN("skipped: only root can give files away");
        return;
    }
    const place p;
    CHECK(in_child([] { return compiles() == 3; }).status == 0);
    fs::path given = cache_directory();
    int expected = 3;
    SECTION("directory") {}
    SECTION("subdirectory") { given = list_cache()[0].path.parent_path(), expected = 1; }
    SECTION("file") { given = list_cache()[0].path, expected = 1; }
    REQUIRE(chown(given.c_str(), nobody, nobody) == 0);
    const outcome result = in_child([&] { return compiles() == expected; });
    INFO(result.errors);
    CHECK(result.status == 0);
    CHECK(contains(result.errors, "owned by user 65534, not by you (0)"));
}

TEST_CASE("a read-only directory is read, and not written") {
    const place p;
    expect_one_warning(
        [] {
            fake_backend& b = new_fake_backend();
            cached_kernel(b, "s", "f");
            for (const auto& item : fs::recursive_directory_iterator(cache_directory()))
                set_mode(item.path(), item.is_directory() ? 0500 : 0400);
            set_mode(cache_directory(), 0500);
            const bool right = compiles() == 2 && compiles() == 2 && list_cache().size() == 1 &&
                               contains(cache_problem(), "cannot be written");
            for (const auto& item : fs::recursive_directory_iterator(cache_directory()))
                if (item.is_directory()) set_mode(item.path(), 0700);
            set_mode(cache_directory(), 0700);
            return right;
        },
        "cannot be written: Permission denied");
}

TEST_CASE("a directory that cannot be made, or is a file") {
    const place p;
    SECTION("no permission") {
        const variable other("RICCI_CACHE_DIR", "/usr/ricci-test/cache");
        expect_one_warning([] { return compiles() == 3 && contains(cache_problem(), "/usr cannot be written"); },
                           "cannot be made");
    }
    SECTION("a file") {
        write_text(p.home / "cache", "mine");
        expect_one_warning([] { return compiles() == 3 && cache_problem() != ""; }, "cannot be opened");
        CHECK(read_text(p.home / "cache") == "mine");
    }
    SECTION("unreadable") {
        expect_one_warning(
            [] {
                if (compiles() != 3) return false;
                set_mode(cache_directory(), 0);
                const bool right = compiles() == 3 && cache_problem() != "";
                set_mode(cache_directory(), 0700);
                return right && compiles() == 0; // nothing was deleted
            },
            "cannot be opened: Permission denied");
    }
    SECTION("none is named") {
        const variable own("RICCI_CACHE_DIR", ""), user("XDG_CACHE_HOME", ""), home("HOME", "");
        expect_one_warning([] { return compiles() == 3; }, "RICCI_CACHE_DIR");
    }
}

TEST_CASE("a file that cannot be read is left alone") {
    const place p;
    expect_one_warning(
        [] {
            if (compiles() != 3) return false;
            const cache_entry entry = list_cache()[0];
            set_mode(entry.path, 0);
            fake_backend& b = new_fake_backend();
            if (find_kernel(b, "s", "f") == cache_hit::disk && find_kernel(b, "t", "f") == cache_hit::disk &&
                find_kernel(b, "u", "f") == cache_hit::disk)
                return false;
            const bool kept = fs::exists(entry.path);
            set_mode(entry.path, 0600);
            return kept && compiles() == 0;
        },
        "cannot be opened: Permission denied");
}

TEST_CASE("a full disk costs the kernel its place, and nothing else") {
    const place p;
    expect_one_warning(
        [] {
            fake_backend& b = new_fake_backend();
            cached_kernel(b, "small", "f");
            std::signal(SIGXFSZ, SIG_IGN);
            const rlimit limit{2000, RLIM_INFINITY}; // stands for it: a write stops half-way with an error
            if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
            b.jit().padding = 5000;
            const std::string code = *static_cast<std::string*>(cached_kernel(b, "big", "f"));
            if (code != "code of big" + std::string(5000, 'x')) return false;
            for (const auto& item : fs::recursive_directory_iterator(cache_directory()))
                if (contains(item.path().filename().string(), "tmp-")) return false; // no half file stays behind
            return list_cache().size() == 1;
        },
        "cannot be written: File too large");
}
