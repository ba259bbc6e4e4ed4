// environment_test: what switches something on by a variable is off where that is empty or 0.
#include "runtime/environment.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

using namespace ricci;
using namespace ricci::test;

TEST_CASE("a switch is on where its variable is neither empty nor 0") {
    CHECK(!runtime::is_on("RICCI_TEST_SWITCH"));
    for (const char* off : {"", "0"}) {
        INFO("'" << off << "'");
        const variable one("RICCI_TEST_SWITCH", off);
        CHECK(!runtime::is_on("RICCI_TEST_SWITCH"));
        const variable debug("RICCI_DEBUG", off);
        CHECK(!runtime::is_debugging());
    }
    for (const char* on : {"1", "yes", "00"}) {
        INFO("'" << on << "'");
        const variable one("RICCI_TEST_SWITCH", on);
        CHECK(runtime::is_on("RICCI_TEST_SWITCH"));
        const variable off("RICCI_CHECK", "0"), debug("RICCI_DEBUG", on);
        CHECK(runtime::is_debugging());
        CHECK(runtime::is_checking()); // RICCI_DEBUG asks for it too
    }
}
