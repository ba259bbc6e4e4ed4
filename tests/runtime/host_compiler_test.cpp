// host_compiler_test: the compiler is found, called without a shell, and its failures are told.
#include "runtime/host_compiler.hpp"
#include "runtime/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ricci;
using namespace ricci::test;
using namespace ricci::runtime;
namespace fs = std::filesystem;

namespace {

const std::string good = "extern \"C\" void f(const unsigned long*, long, long) {}\n";

bool is_elf(const std::string& code) { return code.starts_with("\177ELF"); }

void make_program(const fs::path& file, const std::string& script) {
    write_text(file, script);
    fs::permissions(file, fs::perms::owner_all);
}

std::size_t entries_in(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

} // namespace

TEST_CASE("a kernel compiles, and no temporary file stays") {
    const temporary_directory folder;
    const variable place("TMPDIR", folder.path().string());
    host_compiler compiler;
    REQUIRE(compiler.found());
    CHECK(is_elf(compiler.compile(good)));
    CHECK(entries_in(folder.path()) == 0);
    CHECK(contains(compiler.identity(),
                   compiler.path().string() + " " + std::to_string(fs::file_size(compiler.path()))));
    CHECK_FALSE(contains(compiler.options(), "native"));
}

TEST_CASE("a kernel that does not compile: the log is told and the source kept") {
    const temporary_directory folder;
    const variable place("TMPDIR", folder.path().string());
    const std::string source = "extern \"C\" void f() { undeclared_thing(); }\n";
    const std::string message = message_of([&] { host_compiler().compile(source); });
    CHECK(contains(message, "undeclared_thing"));
    CHECK(contains(message, "failed with status 1"));
    REQUIRE(entries_in(folder.path()) == 1);
    const fs::path kept = fs::directory_iterator(folder.path())->path() / "kernel.cpp";
    CHECK(contains(message, kept.string()));
    CHECK(read_text(kept) == source);
}

TEST_CASE("what an interrupted process left is removed by the next") {
    const temporary_directory folder;
    const variable place("TMPDIR", folder.path().string());
    const pid_t gone = fork();
    if (gone == 0) _exit(0);
    REQUIRE(waitpid(gone, nullptr, 0) == gone);
    const auto make = [&](const std::string& name, bool kept, std::chrono::minutes age) {
        const fs::path path = folder.path() / name;
        fs::create_directory(path);
        write_text(path / "kernel.cpp", "int");
        if (kept) write_text(path / "kept", "");
        fs::last_write_time(path, fs::file_time_type::clock::now() - age);
        return path;
    };
    using std::chrono::minutes;
    const std::string ours = fmt::format("ricci-{}-", gone);
    const fs::path left = make(ours + "aaaaaa", false, minutes(11)), fresh = make(ours + "bbbbbb", false, minutes(5)),
                   kept = make(ours + "cccccc", true, minutes(60)), old = make(ours + "dddddd", true, minutes(1500)),
                   other = make("ricci-test-aaaaaa", false, minutes(1500)),
                   longer = make(ours + "longer-name", false, minutes(1500)),
                   living = make(fmt::format("ricci-{}-eeeeee", getpid()), false, minutes(1500)),
                   target = make("target", false, minutes(1500));
    fs::create_directory_symlink(target, folder.path() / (ours + "ffffff"));
    { const temporary_directory next; }
    CHECK_FALSE(fs::exists(left));
    CHECK_FALSE(fs::exists(old));
    for (const fs::path& path : {fresh, kept, other, longer, living, target, folder.path() / (ours + "ffffff")}) {
        CAPTURE(path);
        CHECK(fs::exists(path / "kernel.cpp"));
    }
}

TEST_CASE("the compiler's path may hold anything a path may hold") {
    const temporary_directory folder;
    const fs::path trap = folder.path() / "trap";
    for (const std::string name :
         {"my compiler", "a;touch trap", "$(touch trap)", "`touch trap`", "a&b|c>d", "quo'te\"s", "-v"}) {
        CAPTURE(name);
        const fs::path program = folder.path() / name;
        make_program(program, "#!/bin/sh\nexec c++ \"$@\"\n");
        const variable cxx("RICCI_CXX", program.string());
        const variable place("TMPDIR", folder.path().string());
        host_compiler compiler;
        CHECK(compiler.path() == program);
        CHECK(is_elf(compiler.compile(good)));
        CHECK_FALSE(fs::exists(trap));
    }
}

TEST_CASE("so may the temporary folder's") {
    const temporary_directory folder;
    const fs::path odd = folder.path() / "with space, comma;'quote\" $(x)";
    fs::create_directory(odd);
    const variable place("TMPDIR", odd.string());
    CHECK(is_elf(host_compiler().compile(good)));
}

TEST_CASE("where the compiler is looked for") {
    const temporary_directory folder;
    SECTION("a name in RICCI_CXX is looked for on the PATH") {
        const variable cxx("RICCI_CXX", "c++");
        CHECK(host_compiler().path().filename() == "c++");
    }
    SECTION("c++ before g++ before clang++") {
        const variable path("PATH", folder.path().string());
        const variable cxx("RICCI_CXX", "");
        for (const char* name : {"clang++", "g++", "c++"}) {
            make_program(folder.path() / name, "#!/bin/sh\n");
            CHECK(host_compiler().path() == folder.path() / name);
        }
    }
    SECTION("none at all") {
        const variable path("PATH", folder.path().string());
        const variable cxx("RICCI_CXX", "");
        host_compiler compiler;
        CHECK_FALSE(compiler.found());
        CHECK(compiler.identity().empty());
        CHECK(contains(message_of([&] { compiler.compile(good); }), "none of c++, g++ and clang++ is on the PATH"));
    }
    SECTION("RICCI_CXX with options: it names one program alone") {
        const variable cxx("RICCI_CXX", "c++ -O0");
        CHECK(host_compiler().missing() ==
              "RICCI_CXX is \"c++ -O0\", which is no program; it names one program, without options");
    }
    SECTION("a RICCI_CXX that is no program is not replaced by another") {
        for (const std::string& name :
             {folder.path().string(), (folder.path() / "absent").string(), std::string("no-such-cxx")}) {
            const variable cxx("RICCI_CXX", name);
            host_compiler compiler;
            CHECK_FALSE(compiler.found());
            CHECK(contains(message_of([&] { compiler.compile(good); }), name));
        }
    }
}

TEST_CASE("a compiler that dies, or writes nothing") {
    const temporary_directory folder;
    const variable cxx("RICCI_CXX", (folder.path() / "cxx").string());
    const variable place("TMPDIR", folder.path().string());
    make_program(folder.path() / "cxx", "#!/bin/sh\nkill -9 $$\n");
    CHECK(contains(message_of([] { host_compiler().compile(good); }), "killed by signal 9"));
    make_program(folder.path() / "cxx", "#!/bin/sh\nexit 0\n");
    const std::string nothing = message_of([] { host_compiler().compile(good); });
    CHECK(contains(nothing, "wrote nothing"));
    CHECK_FALSE(contains(nothing, "its log")); // it is empty
    make_program(folder.path() / "cxx", "#!/no/such/interpreter\n");
    CHECK(contains(message_of([] { host_compiler().compile(good); }), "cannot be started"));
    const variable gone("TMPDIR", (folder.path() / "gone").string());
    CHECK(contains(message_of([] { host_compiler().compile(good); }), "TMPDIR"));
}

TEST_CASE("the caller's signals do not disturb it") {
    SECTION("interrupted all the time") {
        struct sigaction quick {
        }, old{};
        quick.sa_handler = [](int) {};
        REQUIRE(sigaction(SIGALRM, &quick, &old) == 0); // without SA_RESTART
        const itimerval often{{0, 1000}, {0, 1000}}, never{};
        setitimer(ITIMER_REAL, &often, nullptr);
        const std::string code = host_compiler().compile(good);
        setitimer(ITIMER_REAL, &never, nullptr);
        sigaction(SIGALRM, &old, nullptr);
        CHECK(is_elf(code));
    }
    SECTION("SIGCHLD ignored: children leave no status") {
        const temporary_directory folder; // for the source that is kept
        const variable place("TMPDIR", folder.path().string());
        const outcome result = in_child([] {
            std::signal(SIGCHLD, SIG_IGN);
            return is_elf(host_compiler().compile(good)) &&
                   contains(message_of([] { host_compiler().compile("nonsense"); }), "wrote nothing");
        });
        INFO(result.errors);
        CHECK(result.status == 0);
    }
}
