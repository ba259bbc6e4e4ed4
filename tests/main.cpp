// main: Catch2's, version 2 or 3. A program with failures ends with 1, whatever their number: 4, which version 2 would
// end four failures with, says to ctest that it was skipped (tests/skip.hpp).
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char** argv) { return Catch::Session().run(argc, argv) == 0 ? 0 : 1; }
