// peer_library_test: a library of a GPU's peers that is not there is named, with what to do.
#include "bench/peers/cuda_peer_library.hpp"
#include "lowering/error.hpp"
#include "tests/catch.hpp"

#include <cstdlib>
#include <string>

using namespace ricci;
using namespace ricci::bench;

namespace {

std::string mistake(const cuda_peer_library& library) {
    try {
        loaded_library(library, {}).symbol("no_such_function");
    } catch (const error& e) {
        CHECK(e.blame() == blame::environment);
        return e.what();
    }
    return "none";
}

} // namespace

TEST_CASE("a peer's library that is not there, or lacks a function") {
    CHECK_THAT(mistake({"libnobody.so.9", "RICCI_NOBODY", "nobody", "", "`pip install nobody`"}),
               Catch::Contains("libnobody.so.9") &&
                   Catch::Contains("(`pip install nobody`, or name the file in RICCI_NOBODY)"));
    setenv("RICCI_NOBODY", "/none/libnobody.so.9", 1);
    CHECK_THAT(mistake({"libnobody.so.9", "RICCI_NOBODY", "nobody", "", "`pip install nobody`"}),
               Catch::Contains("/none/libnobody.so.9"));
    setenv("RICCI_NOBODY", "libm.so.6", 1);
    CHECK(mistake({"libnobody.so.9", "RICCI_NOBODY", "nobody", "", ""}) ==
          "libm.so.6 has no no_such_function: it is too old");
    unsetenv("RICCI_NOBODY");
}
