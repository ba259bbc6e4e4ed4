// cache_worker: a program that compiles, or finds, 20 kernels on the CPU, runs each and checks what it computed.
//
// Prints how many it compiled. Exit status: 0 all right, 1 a wrong result, 2 an error, which is printed.
#include "lowering/error.hpp"
#include "runtime/kernel_cache.hpp"

#include <array>
#include <cstdio>
#include <string>

using namespace ricci;

int main() try {
    runtime::backend& cpu = runtime::backend_of(ricci::cpu());
    for (int k = 0; k < 20; ++k) {
        const std::string source = "constexpr long k = " + std::to_string(k) + R"(;
extern "C" void kernel(const unsigned long* words, long first, long last) {
    for (long i = first; i < last; ++i) reinterpret_cast<long*>(words[0])[i] = k + words[1] * i;
})";
        std::array<std::int64_t, 100> result{};
        const std::array<std::uint64_t, 2> words{reinterpret_cast<std::uint64_t>(result.data()), 7};
        cpu.launch(runtime::cached_kernel(cpu, source, "kernel"), {.grid = 100, .seconds_per_block = 1}, words);
        for (std::int64_t i = 0; i < 100; ++i)
            if (result[static_cast<std::size_t>(i)] != k + 7 * i) return 1;
    }
    std::printf("%ld\n", static_cast<long>(runtime::compile_count()));
    return 0;
} catch (const error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
}
