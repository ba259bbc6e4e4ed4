// cache_test: what the kernel cache keeps, finds, refuses and throws away; alone in its process.
#include "runtime/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/fake_backend.hpp"
#include "tests/runtime/scratch.hpp"

#include "runtime/cache_disk.hpp"
#include "runtime/cache_folder.hpp"
#include "runtime/sha256.hpp"

#include <latch>
#include <sys/stat.h>
#include <thread>

using namespace ricci;
using namespace ricci::test;
using namespace ricci::runtime;
namespace fs = std::filesystem;

namespace {

/// A cache of its own for one test.
struct fresh_cache {
    temporary_directory folder;
    variable set{"RICCI_CACHE_DIR", (folder.path() / "cache").string()};
};

std::string code_of(kernel_handle kernel) { return *static_cast<std::string*>(kernel); }

fs::path only_file() {
    const auto entries = list_cache();
    REQUIRE(entries.size() == 1);
    return entries[0].path;
}

/// Asks for "s" with a new backend, as a new process would; returns how often it compiled.
int compiles_again() {
    fake_backend& b = new_fake_backend();
    CHECK(code_of(cached_kernel(b, "s", "f")) == "code of s");
    return b.jit().calls;
}

mode_t mode_of(const fs::path& path) {
    struct stat status {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    return status.st_mode & 07777u;
}

void set_age(const fs::path& file, std::chrono::seconds age) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - age);
}

} // namespace

TEST_CASE("sha256 is SHA-256 of lengths and texts") {
    // sha256 of 8 zero bytes, from coreutils' sha256sum
    CHECK(sha256({""}) == "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc");
    CHECK(sha256({"ab", "c"}) != sha256({"a", "bc"}));
}

TEST_CASE("a kernel is compiled once, then found in memory and on disk") {
    const fresh_cache cache;
    fake_backend& b = new_fake_backend();
    CHECK(find_kernel(b, "s", "f") == cache_hit::miss);
    const std::int64_t before = compile_count();
    const kernel_handle kernel = cached_kernel(b, "s", "f");
    CHECK(code_of(kernel) == "code of s");
    CHECK(find_kernel(b, "s", "f") == cache_hit::memory);
    CHECK(cached_kernel(b, "s", "f") == kernel);
    CHECK(compile_count() == before + 1);

    fake_backend& other = new_fake_backend();
    CHECK(find_kernel(other, "s", "f") == cache_hit::disk);
    CHECK(other.jit().calls == 0);
    CHECK(compiles_again() == 0);
}

TEST_CASE("whatever shapes a kernel is part of its key") {
    const fresh_cache cache;
    cached_kernel(new_fake_backend(), "s", "f");
    fake_backend& entry = new_fake_backend();
    cached_kernel(entry, "s", "g");
    CHECK(entry.jit().calls == 1);
    fake_backend& options = new_fake_backend();
    options.jit().flags = "-other";
    cached_kernel(options, "s", "f");
    CHECK(options.jit().calls == 1);
    fake_backend& compiler = new_fake_backend();
    compiler.jit().name = "fake 2";
    cached_kernel(compiler, "s", "f");
    CHECK(compiler.jit().calls == 1);
    CHECK(list_cache().size() == 4);
}

TEST_CASE("directories and files of the cache are for their user alone") {
    const fresh_cache cache;
    const mode_t old = umask(0);
    cached_kernel(new_fake_backend(), "s", "f");
    umask(old);
    const fs::path file = only_file();
    CHECK(mode_of(file) == 0600);
    CHECK(mode_of(file.parent_path()) == 0700);
    CHECK(mode_of(cache_directory()) == 0700);
    CHECK(cache_problem().empty());
}

TEST_CASE("a damaged file is deleted and the kernel compiled again") {
    const fresh_cache cache;
    CHECK(compiles_again() == 1);
    const fs::path file = only_file();
    const std::string good = read_text(file);

    SECTION("every byte counts") {
        for (std::size_t place = 0; place < good.size(); ++place) {
            std::string bad = good;
            bad[place] ^= 4;
            CHECK_FALSE(decode(bad));
        }
        CHECK(decode(good));
    }
    SECTION("every length but the right one") {
        for (std::size_t size = 0; size < good.size(); ++size) CHECK_FALSE(decode(good.substr(0, size)));
        CHECK_FALSE(decode(good + '\0'));
    }
    SECTION("changed, truncated, empty, other content") {
        std::string changed = good;
        changed.back() ^= 1;
        for (const std::string& bad :
             {changed, good.substr(0, good.size() - 1), std::string(), std::string(5000, 'z')}) {
            write_text(file, bad);
            CHECK(list_cache().empty());
            CHECK(compiles_again() == 1);
            CHECK(read_text(file) == good);
            CHECK(compiles_again() == 0);
        }
    }
    SECTION("the file of another key") {
        cached_kernel(new_fake_backend(), "other", "f");
        for (const cache_entry& entry : list_cache())
            if (entry.path != file) fs::copy_file(entry.path, file, fs::copy_options::overwrite_existing);
        CHECK(compiles_again() == 1);
        CHECK(read_text(file) == good);
    }
    SECTION("whole, but not loadable here") {
        cache_record record = *decode(good);
        record.code = "made for another driver";
        write_text(file, encode(record));
        CHECK(compiles_again() == 1);
        CHECK(read_text(file) == good);
    }
    SECTION("a lie about its own lengths") {
        cache_record record = *decode(good);
        std::string body = record.key + std::string(24, '\xff') + "f-fakecode of s";
        CHECK_FALSE(decode("ricciK1\n" + sha256({body}) + body));
    }
}

TEST_CASE("a symbolic link, a directory or a FIFO in a file's place is not used") {
    const fresh_cache cache;
    CHECK(compiles_again() == 1);
    const fs::path file = only_file();
    const fs::path aside = cache.folder.path() / "aside";
    fs::rename(file, aside);
    SECTION("link") { fs::create_symlink(aside, file); }
    SECTION("directory") { fs::create_directory(file); }
    SECTION("FIFO") { REQUIRE(mkfifo(file.c_str(), 0600) == 0); }
    CHECK(compiles_again() == 1);
}

TEST_CASE("what cannot be compiled or loaded is not kept") {
    const fresh_cache cache;
    CHECK_THROWS_AS(cached_kernel(new_fake_backend(), "error", "f"), ricci::error);
    fake_backend& picky = new_fake_backend();
    picky.accepts = "nothing";
    CHECK_THROWS_AS(cached_kernel(picky, "s", "f"), ricci::error);
    CHECK(list_cache().empty());
    picky.accepts = "code of "; // and it may be asked for again
    CHECK(code_of(cached_kernel(picky, "s", "f")) == "code of s");
}

TEST_CASE("equal requests of many threads compile once, different ones at the same time") {
    const fresh_cache cache;
    fake_backend& b = new_fake_backend();
    b.jit().delay = std::chrono::milliseconds(50);
    constexpr int threads = 8, keys = 4;
    std::latch start(threads);
    std::vector<std::thread> all;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            start.arrive_and_wait();
            for (int i = 0; i < keys; ++i) {
                const std::string source = "s" + std::to_string((t + i) % keys);
                wrong += code_of(cached_kernel(b, source, "f")) != "code of " + source;
            }
        });
    for (std::thread& thread : all) thread.join();
    CHECK(wrong == 0);
    CHECK(b.jit().calls == keys);
}

TEST_CASE("a failing compile fails for every thread that asked, and none hangs") {
    const fresh_cache cache;
    fake_backend& b = new_fake_backend();
    std::atomic<int> failed = 0;
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&] {
            try {
                cached_kernel(b, "error", "f");
            } catch (const ricci::error&) {
                ++failed;
            }
        });
    for (std::thread& thread : all) thread.join();
    CHECK(failed == 4);
}

TEST_CASE("list_cache tells what is there, most recently used first") {
    const fresh_cache cache;
    cached_kernel(new_fake_backend(), "s", "f");
    set_age(only_file(), std::chrono::hours(1));
    cached_kernel(new_fake_backend(), "longer source", "g");
    auto entries = list_cache();
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].entry == "g");
    CHECK(entries[1].entry == "f");
    CHECK(entries[1].architecture == "-fake");
    CHECK(entries[1].key == sha256({"s", "-fake", "fake 1", "f"}));
    CHECK(entries[1].bytes == fs::file_size(entries[1].path));
    CHECK(std::abs(entries[0].last_used - entries[1].last_used - 3600) < 60);

    CHECK(compiles_again() == 0); // which uses f
    entries = list_cache();
    CHECK(entries[0].last_used - entries[1].last_used < 60);
}

TEST_CASE("clear_cache removes the cache's own files and nothing else") {
    const fresh_cache cache;
    for (const char* source : {"a", "b", "c"}) cached_kernel(new_fake_backend(), source, "f");
    const fs::path file = list_cache()[0].path, shelf = file.parent_path();
    const std::vector<fs::path> others{cache_directory() / "notes.txt", shelf / "notes.txt", shelf / "short.kernel",
                                       cache_directory() / file.filename(), shelf / "tmp-mine"};
    for (const fs::path& other : others) write_text(other, "mine");
    fs::create_directories(cache_directory() / "my folder" / "ab");
    write_text(cache_directory() / "my folder" / "ab" / file.filename(), "mine");

    CHECK(clear_cache() == 3);
    CHECK(list_cache().empty());
    for (const fs::path& other : others) CHECK(read_text(other) == "mine");
    CHECK(fs::exists(cache_directory() / "my folder" / "ab" / file.filename()));
    CHECK(clear_cache() == 0);
    for (const char* source : {"a", "b", "c"}) cached_kernel(new_fake_backend(), source, "f");
    CHECK(list_cache().size() == 3);
}

TEST_CASE("above its capacity the cache forgets what was used least recently") {
    const fresh_cache cache;
    const variable size("RICCI_CACHE_SIZE", "20K");
    fake_backend& b = new_fake_backend();
    b.jit().padding = 4000;
    cached_kernel(b, "0", "f");
    const fs::path first = only_file();
    for (int i = 1; i < 30; ++i) {
        for (const cache_entry& entry : list_cache()) // the first is used all the time, the others grow older
            set_age(entry.path, std::chrono::hours(entry.path == first ? 1 : 100 - i));
        CHECK(find_kernel(new_fake_backend(), "0", "f") == cache_hit::disk); // marks it as used
        cached_kernel(b, std::to_string(i), "f");
    }
    std::uint64_t total = 0;
    for (const cache_entry& entry : list_cache()) total += entry.bytes;
    CHECK(total <= 20 << 10);
    CHECK(total >= 12 << 10); // it does not throw everything away
    CHECK(fs::exists(first));
    CHECK(find_kernel(new_fake_backend(), "29", "f") == cache_hit::disk);
}

TEST_CASE("temporary files of killed writers go after an hour") {
    const fresh_cache cache;
    cached_kernel(new_fake_backend(), "s", "f");
    const fs::path shelf = only_file().parent_path();
    const fs::path fresh = shelf / "tmp-1-1-1.000000001", old = shelf / "tmp-1-2-1.000000001";
    write_text(fresh, "half");
    write_text(old, "half");
    set_age(old, std::chrono::hours(2));
    const variable size("RICCI_CACHE_SIZE", "1"); // so that the next write looks through the directory
    cached_kernel(new_fake_backend(), "t", "f");
    CHECK(fs::exists(fresh));
    CHECK_FALSE(fs::exists(old));
}

TEST_CASE("RICCI_CACHE_SIZE") {
    const fresh_cache cache;
    SECTION("0 turns the disk off") {
        const variable size("RICCI_CACHE_SIZE", "0");
        CHECK(compiles_again() == 1);
        CHECK(compiles_again() == 1);
        CHECK_FALSE(fs::exists(cache_directory()));
    }
    SECTION("units in either case, and fractions") {
        const std::pair<const char*, std::uint64_t> sizes[] = {{"", 1u << 30},     {"12", 12},    {"2g", 2ull << 30},
                                                               {"1.5G", 3u << 29}, {"0.5k", 512}, {"3T", 3ull << 40}};
        for (const auto& [text, bytes] : sizes) {
            CAPTURE(text);
            const variable size("RICCI_CACHE_SIZE", text);
            CHECK(cache_capacity() == bytes);
        }
    }
    SECTION("nonsense is refused, with the value") {
        for (const char* text :
             {"much", "1X", "-1", "1GG", "G", "inf", "nan", "1e3", "99999999999999999999", "99999999999T"}) {
            const variable size("RICCI_CACHE_SIZE", text);
            CHECK(contains(message_of([] { cached_kernel(new_fake_backend(), "s", "f"); }), text));
        }
    }
}

TEST_CASE("the directory comes from RICCI_CACHE_DIR, XDG_CACHE_HOME or HOME") {
    const variable own("RICCI_CACHE_DIR", ""), user("XDG_CACHE_HOME", ""), home("HOME", "/home/someone");
    CHECK(cache_directory() == "/home/someone/.cache/ricci");
    const variable user2("XDG_CACHE_HOME", "/var/someone");
    CHECK(cache_directory() == "/var/someone/ricci");
    const variable user3("XDG_CACHE_HOME", "relative");
    CHECK(cache_directory() == "/home/someone/.cache/ricci");
    const variable own2("RICCI_CACHE_DIR", "here");
    CHECK(cache_directory() == fs::current_path() / "here");
    const variable own3("RICCI_CACHE_DIR", ""), home2("HOME", "");
    CHECK(cache_directory().empty());
    CHECK(cache_problem() != "");
}

TEST_CASE("a directory that vanishes between two kernels is made again") {
    const fresh_cache cache;
    CHECK(compiles_again() == 1);
    fs::remove_all(cache_directory());
    CHECK(compiles_again() == 1);
    CHECK(compiles_again() == 0);
}
