// skip: ends a test program that this machine cannot run; ctest shows it as skipped (its SKIP_RETURN_CODE).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace ricci::test {

/// To set a constant of the test program with, before main(). Catch2 2 has no SKIP of its own.
inline bool skip_unless(bool possible, const std::string& what) {
    if (possible) return true;
    std::printf("skipped: %s\n", what.c_str());
    std::exit(4);
}

} // namespace ricci::test
