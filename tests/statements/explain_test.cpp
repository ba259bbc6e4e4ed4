// explain_test: what explain says of a GPU's kernels, on the emulated one: also of those that run behind others.
#include "ricci.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/runtime/scratch.hpp"

#include <sstream>

TEST_CASE("a sum over a long side names the kernel that adds up its blocks' sums, and whether it is compiled") {
    using namespace ricci::indices;
    const ricci::test::scratch_cache cache;
    ricci::tests::register_emulator();
    const ricci::device emulated{ricci::tests::emulator_device};
    ricci::tensor<double, 50000, 3> A(emulated), B(emulated);
    ricci::tensor<double, 3, 3> C(emulated);
    A.fill(1), B.fill(2);
    const auto explained = [&] {
        std::ostringstream text;
        ricci::explain([&] { C(i, j) = A(k, i) * B(k, j); }, text);
        return text.str();
    };
    const auto before = explained();
    const auto behind = before.find("; then ricci_block_sums, 2 blocks of 512 threads, ");
    REQUIRE(behind != std::string::npos);
    C(i, j) = A(k, i) * B(k, j);
    CHECK(C(2, 1) == 100000);
    CHECK(explained().substr(behind) != before.substr(behind)); // compiled since
}
