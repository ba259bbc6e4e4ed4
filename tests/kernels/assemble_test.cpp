// assemble_test: NVRTC turns every kernel of the covering list into machine code, for one architecture a run.
#include "lowering/error.hpp"
#include "runtime/nvrtc_compiler.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/covering.hpp"
#include "tests/skip.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

TEST_CASE("every kernel is assembled") {
    ricci::runtime::nvrtc_compiler compiler(RICCI_TEST_CAPABILITY, 99);
    ricci::test::skip_unless(compiler.found(), "no NVRTC");
    auto chip = ricci::tests::some_gpu();
    chip.architecture = "sm_" + std::to_string(RICCI_TEST_CAPABILITY);
    const auto sources = ricci::tests::covering_sources(chip);
    CHECK(sources.size() <= 300);
    std::vector<double> milliseconds;
    for (const auto& [source, entry] : sources) {
        const auto start = std::chrono::steady_clock::now();
        CHECK(!compiler.compile(source).empty());
        milliseconds.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    WARN(sources.size() << " kernels, median " << milliseconds[milliseconds.size() / 2] << " ms, longest "
                        << milliseconds.back() << " ms");
}
