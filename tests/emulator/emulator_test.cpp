// emulator_test: small kernels that are right, and broken ones that the emulator must find out.
#include "lowering/error.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"

#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace ricci;
using ricci::tests::make_emulator;

namespace {

const std::string head = R"(
#define RICCI_SHARED(name) unsigned char* name = static_cast<unsigned char*>(ricci_emulated_shared())
struct arguments { const float* in; float* out; long long n; };
)";
const std::string kernel =
    "extern \"C\" __global__ void __launch_bounds__(256) test(const __grid_constant__ arguments a) ";

/// Compiles and runs `body` over in[n] -> out; returns out.
struct fixture {
    std::unique_ptr<runtime::backend> gpu = make_emulator();
    std::vector<float> in = std::vector<float>(1024), out = std::vector<float>(1024, -1);
    runtime::kernel_handle loaded = nullptr;

    explicit fixture(const std::string& body) {
        std::iota(in.begin(), in.end(), 0.0f);
        loaded = gpu->load(gpu->jit().compile(head + kernel + body), "test");
    }
    void run(std::int64_t grid, int threads, int shared, std::int64_t n = 1024) {
        const std::uint64_t words[] = {reinterpret_cast<std::uint64_t>(in.data()),
                                       reinterpret_cast<std::uint64_t>(out.data()), static_cast<std::uint64_t>(n)};
        gpu->launch(loaded, {grid, threads, shared, 0}, words);
    }
    std::string failure(std::int64_t grid, int threads, int shared) {
        try {
            run(grid, threads, shared);
        } catch (const error& e) {
            return e.what();
        }
        return "";
    }
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string block_index = "const long long block = blockIdx.x + (long long)gridDim.x * blockIdx.y;\n"
                                "if (block * blockDim.x >= a.n) return;\n";
const std::string tree_sum = R"(
    RICCI_SHARED(memory);
    float* x = reinterpret_cast<float*>(memory);
    x[threadIdx.x] = a.in[block * blockDim.x + threadIdx.x];
    SYNC;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) x[threadIdx.x] += x[threadIdx.x + half];
        SYNC;
    }
    if (threadIdx.x == 0) a.out[block] = x[0];
}
)";

} // namespace

TEST_CASE("emulator: a block sums through shared memory, in any number of blocks") {
    fixture f("{\n#define SYNC __syncthreads()\n" + block_index + tree_sum);
    for (int round = 0; round < 4; ++round) {
        f.run(16, 64, 64 * 4);
        for (std::size_t b = 0; b < 16; ++b) CHECK(f.out[b] == 64 * 64 * static_cast<float>(b) + 63 * 32);
        CHECK(f.out[16] == -1);
    }
}

TEST_CASE("emulator: a large grid is folded into rows of blocks") {
    fixture f("{ a.out[blockIdx.x + gridDim.x * blockIdx.y] = gridDim.y; }");
    f.run(401, 1, 0);
    for (std::size_t b = 0; b < 402; ++b) CHECK(f.out[b] == 3); // 134 * 3, one more than asked for
    CHECK(f.out[402] == -1);
}

TEST_CASE("emulator: a missing __syncthreads gives a wrong sum in some order") {
    fixture f("{\n#define SYNC\n" + block_index + tree_sum);
    int wrong = 0;
    for (int round = 0; round < 10; ++round) {
        f.run(1, 64, 64 * 4, 64);
        wrong += f.out[0] != 63 * 32;
    }
    CHECK(wrong > 5);
}

TEST_CASE("emulator: warp operations") {
    fixture f("{" + block_index + R"(
        const unsigned lane = threadIdx.x % 32;
        float x = a.in[threadIdx.x];
        double y = x;
        for (int mask = 16; mask > 0; mask /= 2) x += __shfl_xor_sync(0xffffffffu, x, mask);
        for (int step = 16; step > 0; step /= 2) y += __shfl_down_sync(0xffffffffu, y, step);
        float* out = a.out + threadIdx.x * 8;
        out[0] = x;
        out[1] = __shfl_sync(0xffffffffu, y, 0);
        out[2] = __shfl_up_sync(0xffffffffu, a.in[lane], 2);
        out[3] = __ballot_sync(0xffffffffu, lane % 2);
        out[4] = __any_sync(0xffffffffu, lane == 7) + 10 * __any_sync(0xffffffffu, lane == 32);
        out[5] = __shfl_sync(0xffffffffu, (int)lane, 1, 8);
        atomicAdd(&a.out[1000], 1.0f);
        if (lane < 8) out[6] = __shfl_xor_sync(0xffu, (int)lane, 1);
        __syncwarp();
    })");
    f.out[1000] = 0;
    f.run(1, 64, 0, 64);
    for (std::size_t t = 0; t < 64; ++t) {
        const auto warp = static_cast<float>(t / 32), lane = static_cast<float>(t % 32);
        CHECK(f.out[8 * t] == 496 + 1024 * warp);
        CHECK(f.out[8 * t + 1] == 496 + 1024 * warp);
        CHECK(f.out[8 * t + 2] == (lane < 2 ? lane : lane - 2));
        CHECK(f.out[8 * t + 3] == static_cast<float>(0xaaaaaaaau));
        CHECK(f.out[8 * t + 4] == 1);
        CHECK(f.out[8 * t + 5] == static_cast<float>(t % 32 / 8 * 8 + 1));
        CHECK(f.out[8 * t + 6] == (t % 32 < 8 ? static_cast<float>(t % 32 ^ 1) : -1));
    }
    CHECK(f.out[1000] == 64);
}

TEST_CASE("emulator: a barrier that not all threads reach is an error, not a hang") {
    fixture ended("{\nif (threadIdx.x == 5) return;\n__syncthreads();\n}");
    const std::string message = ended.failure(1, 32, 0);
    CHECK(holds(message, "31 of 32 threads, among them thread 0, are at __syncthreads in line 6"));
    CHECK(holds(message, "1 of 32 threads, among them thread 5, is ended"));
    CHECK(ended.failure(1, 32, 0) != ""); // usable after a failure

    fixture split("{\nif (threadIdx.x < 16)\n__syncthreads();\nelse\n__syncthreads();\n}");
    CHECK(holds(split.failure(1, 32, 0), "different __syncthreads"));
}

TEST_CASE("emulator: a warp operation that not all lanes of its mask reach is an error") {
    fixture ended("{ if (threadIdx.x == 5) return; a.out[0] = __shfl_xor_sync(0xffffffffu, 1.0f, 1); }");
    CHECK(holds(ended.failure(1, 32, 0), "at a warp operation in line 4 with mask 0xffffffff"));
    fixture split("{ if (threadIdx.x < 16) __syncthreads(); else __syncwarp(); }");
    CHECK(holds(split.failure(1, 32, 0), "wait for each other"));
    fixture outside("{ if (threadIdx.x < 8) __syncwarp(0xfu); }");
    CHECK(holds(outside.failure(1, 32, 0), "is not in the mask 0xf"));
}

TEST_CASE("emulator: barriers of copies are used between their start and their end, which waits for all of them") {
    const auto failure_of = [](const std::string& calls) {
        fixture f("{ RICCI_SHARED(b); const auto& e = *ricci_emulated; " + calls + " }");
        return f.failure(1, 1, 64);
    };
    CHECK(failure_of("e.start_barrier(b, 1); e.arrive(b, 0); e.wait(b, 0); e.end_barrier(b);") == "");
    CHECK(holds(failure_of("e.arrive(b, 0);"), "a barrier is used before it was started"));
    CHECK(holds(failure_of("e.start_barrier(b, 1); e.end_barrier(b); e.arrive(b, 0);"),
                "a barrier is used before it was started"));
    CHECK(holds(failure_of("e.start_barrier(b, 2); e.arrive(b, 0); e.end_barrier(b);"),
                "a barrier that copies are to complete on ends"));
}

TEST_CASE("emulator: shared memory is poisoned before each block") {
    fixture f("{" + block_index + "RICCI_SHARED(m); float* x = (float*)m; a.out[block] = x[1]; x[1] = 3; }");
    f.run(4, 1, 8, 4);
    for (std::size_t b = 0; b < 4; ++b) CHECK(std::isnan(f.out[b]));
}

#if RICCI_EMULATOR_ASAN
namespace {

/// Whether AddressSanitizer ends a process that runs the kernel.
bool is_stopped(fixture& f, int shared) {
    const pid_t child = fork();
    if (child == 0) {
        std::fclose(stderr);
        f.run(1, 1, shared);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

} // namespace

TEST_CASE("emulator: AddressSanitizer stops a kernel that leaves shared or global memory") {
    fixture shared("{ RICCI_SHARED(m); m[64] = 1; }");
    CHECK_FALSE(is_stopped(shared, 65));
    CHECK(is_stopped(shared, 64));
    fixture read("{ a.out[0] = a.in[a.n]; }");
    CHECK(is_stopped(read, 0));
}
#else
TEST_CASE("emulator: writing past shared memory is an error") {
    fixture f("{ RICCI_SHARED(m); m[64] = 1; }");
    CHECK(f.failure(1, 1, 65) == "");
    CHECK(holds(f.failure(1, 1, 64), "outside its 64 bytes"));
}
#endif

TEST_CASE("emulator: launches that no GPU takes, and kernels that do not compile") {
    fixture f("{}");
    CHECK(holds(f.failure(1, 2048, 0), "2048 threads"));
    CHECK(holds(f.failure(1, 32, 1 << 20), "1048576 bytes"));
    CHECK(f.failure(0, 32, 0) == "");
    CHECK_THROWS_AS(fixture("{ not C++ }"), error);
}
