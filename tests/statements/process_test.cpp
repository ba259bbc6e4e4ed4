// process_test: a second process calls no compiler; without one, and without a cache, statements are still right; the
// number of threads changes no bit of what equal entries add up to, nor of a tall product.
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

struct outcome {
    int code;
    std::string output;
};

outcome run_worker(const std::string& environment, const std::string& program = RICCI_STATEMENT_WORKER) {
    outcome out;
    FILE* pipe = popen((environment + " '" + program + "' 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 256> line{};
    while (std::fgets(line.data(), line.size(), pipe) != nullptr) out.output += line.data();
    out.code = pclose(pipe);
    return out;
}

} // namespace

TEST_CASE("a second process calls no compiler") {
    const ricci::test::scratch_cache cache;
    const auto first = run_worker("");
    CHECK(first.code == 0);
    CHECK(first.output.substr(0, 2) != "0 ");
    const auto second = run_worker("");
    CHECK(second.code == 0);
    CHECK(second.output.substr(0, 2) == "0 ");
}

TEST_CASE("without a compiler the built-in interpreter runs the statements, and says so once") {
    const ricci::test::scratch_cache cache;
    const auto ran = run_worker("PATH=/nonexistent RICCI_CXX=/nonexistent/c++");
    INFO(ran.output);
    CHECK(ran.code == 0);
    CHECK_THAT(ran.output, Catch::Contains("0 1800"));
}

TEST_CASE(
    "what equal entries add up to, and A^T B of tall matrices, have the same bits for every number of threads") {
    const ricci::test::scratch_cache cache;
    const auto one = run_worker("RICCI_NUM_THREADS=1", RICCI_BITS_WORKER);
    INFO(one.output);
    CHECK(one.code == 0);
    for (const char* threads : {"2", "3", "7"})
        CHECK(run_worker(std::string("RICCI_NUM_THREADS=") + threads, RICCI_BITS_WORKER).output == one.output);
}
