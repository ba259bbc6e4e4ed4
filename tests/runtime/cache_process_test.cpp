// cache_process_test: many processes on one cache, and processes that are killed while they write to it.
#include "runtime/cache_disk.hpp"
#include "runtime/kernel_cache.hpp"
#include "runtime/sha256.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/fake_backend.hpp"
#include "tests/runtime/scratch.hpp"

#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ricci;
using namespace ricci::test;
using namespace ricci::runtime;
namespace fs = std::filesystem;

namespace {

/// Starts cache_worker with its output in `log`.
pid_t start_worker(const fs::path& log) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char name[] = "cache_worker";
    char* argv[] = {name, nullptr};
    pid_t child = 0;
    REQUIRE(posix_spawn(&child, RICCI_CACHE_WORKER, &files, nullptr, argv, environ) == 0);
    posix_spawn_file_actions_destroy(&files);
    return child;
}

int status_of(pid_t child) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<fs::path> files_in_cache() {
    std::vector<fs::path> files;
    for (const auto& item : fs::recursive_directory_iterator(cache_directory()))
        if (item.is_regular_file()) files.push_back(item.path());
    return files;
}

} // namespace

TEST_CASE("16 processes compile the same 20 kernels at once; a later process calls no compiler") {
    const temporary_directory folder;
    const variable set("RICCI_CACHE_DIR", (folder.path() / "cache").string());
    const auto compiler = folder.path() / "counting compiler", count = folder.path() / "count";
    write_text(compiler, "#!/bin/sh\necho x >> '" + count.string() + "'\nexec c++ \"$@\"\n");
    fs::permissions(compiler, fs::perms::owner_all);
    const variable cxx("RICCI_CXX", compiler.string());

    std::vector<pid_t> workers;
    for (int i = 0; i < 16; ++i) workers.push_back(start_worker(folder.path() / std::to_string(i)));
    for (const pid_t worker : workers) CHECK(status_of(worker) == 0);
    CHECK(list_cache().size() == 20);
    CHECK(files_in_cache().size() == 20); // no temporary file stays
    const int compiled = occurrences(read_text(count), "x");
    CHECK(compiled >= 20);

    CHECK(status_of(start_worker(folder.path() / "later")) == 0);
    CHECK(read_text(folder.path() / "later") == "0\n");
    CHECK(occurrences(read_text(count), "x") == compiled);
}

TEST_CASE("a process killed at any moment of a write leaves nothing that is ever loaded") {
    const temporary_directory folder;
    const variable set("RICCI_CACHE_DIR", (folder.path() / "cache").string());
    write_cached({runtime::sha256({"first"}), "f", "-fake", "code"}); // makes the directory
    int cut = 0; // how many were killed with a temporary file open
    for (int round = 0; round < 40; ++round) {
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            for (int i = 0;; ++i) {
                const std::string key = runtime::sha256({std::to_string(i % 50)});
                write_cached({key, "f", "-fake", key + std::string(1 << 20, static_cast<char>('a' + i % 26))});
            }
        }
        usleep(static_cast<useconds_t>(3000 + 1500 * round));
        kill(child, SIGKILL);
        status_of(child);
        for (const fs::path& file : files_in_cache()) cut += contains(file.filename().string(), "tmp-");
        for (const cache_entry& entry : list_cache()) {
            const auto record = read_cached(entry.key);
            REQUIRE(record);
            REQUIRE((record->code == "code" || record->code.starts_with(entry.key)));
        }
        for (const fs::path& file : files_in_cache()) // every file that is no temporary one is whole
            if (file.extension() == ".kernel") REQUIRE(decode(read_text(file)));
        if (cut >= 3) break;
    }
    CHECK(cut > 0);
    CHECK(clear_cache() > 0);
}

TEST_CASE("clearing while others write harms nobody") {
    const temporary_directory folder;
    const variable set("RICCI_CACHE_DIR", (folder.path() / "cache").string());
    std::vector<std::jthread> writers;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 3; ++t)
        writers.emplace_back([&] {
            for (int i = 0; i < 100; ++i) {
                const std::string source = "s" + std::to_string(i);
                fake_backend& b = new_fake_backend();
                wrong += *static_cast<std::string*>(cached_kernel(b, source, "f")) != "code of " + source;
            }
        });
    for (int i = 0; i < 100; ++i) clear_cache();
    writers.clear();
    CHECK(wrong == 0);
}
