// cuda_backend: memory, launches, streams and captures on a real GPU.
#include "runtime/cuda_machine.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/gpu.hpp"
#include "tests/runtime/scratch.hpp"

#include <fmt/format.h>
#include <thread>
#include <unistd.h>

using namespace ricci;
using namespace ricci::runtime;
using test::buffer;
using test::gpu;

namespace {

/// x[i] += add, for i below count.
kernel_handle add_kernel() {
    static const kernel_handle k = test::kernel(R"(struct arguments { long long* x; long long count, add; };
extern "C" __global__ void add(arguments a) {
    const long long block = blockIdx.x + static_cast<long long>(gridDim.x) * blockIdx.y;
    const long long i = block * blockDim.x + threadIdx.x;
    if (i < a.count) a.x[i] += a.add;
}
)",
                                                "add");
    return k;
}

/// Waits for about `clocks` cycles, then x[0] = x[0] * factor + add.
kernel_handle slow_kernel() {
    static const kernel_handle k = test::kernel(R"(struct arguments { long long* x; long long clocks, factor, add; };
extern "C" __global__ void slow(arguments a) {
    for (const long long start = clock64(); clock64() - start < a.clocks;) {}
    a.x[0] = a.x[0] * a.factor + a.add;
}
)",
                                                "slow");
    return k;
}

constexpr std::uint64_t some_clocks = 50'000'000; // about 30 ms: far longer than a launch takes

void add(const buffer<long long>& x, std::uint64_t count, std::uint64_t what) {
    test::launch(add_kernel(), {static_cast<std::int64_t>(count + 255) / 256, 256}, {x.word(), count, what});
}

} // namespace

TEST_CASE("the machine is described") {
    const lowering::machine& m = gpu().machine();
    CHECK(m.kind == lowering::target::cuda);
    CHECK(test::contains(m.architecture, "sm_"));
    CHECK(m.processors > 0);
    CHECK(m.shared_bytes >= 48 << 10);
    CHECK(m.bandwidth > 1e10);
    CHECK(m.flops_f32 >= m.flops_f64);
    WARN(fmt::format("{} {}: {} SMs, {} B shared, {:.0f} GB/s, {:.1f} TF f64, {:.1f} TF f32", m.name, m.architecture,
                     m.processors, m.shared_bytes, m.bandwidth * 1e-9, m.flops_f64 * 1e-12, m.flops_f32 * 1e-12));
}

TEST_CASE("a device that is not there") {
    const std::string message = test::message_of([] { make_cuda_backend(63); });
    CHECK(test::contains(message, "cuda:63 does not exist"));
}

TEST_CASE("memory is aligned, zeroed and copied") {
    const std::vector<int> values{1, 2, 3, 4, 5};
    buffer<int> a(values), b(values.size());
    CHECK(a.word() % 256 == 0);
    CHECK(b.download() == std::vector<int>(5));
    gpu().copy_within(b.data(), a.data(), a.bytes());
    CHECK(b.download() == values);
    gpu().zero(b.data() + 1, 2 * sizeof(int));
    CHECK(b.download() == std::vector<int>{1, 0, 0, 4, 5});
    CHECK(gpu().allocate(0) == nullptr);
    gpu().release(nullptr);
}

TEST_CASE("a kernel gets its words, and every block runs once") {
    buffer<long long> x(1000);
    add(x, 999, 7);
    std::vector<long long> expected(1000, 7);
    expected[999] = 0;
    CHECK(x.download() == expected);
    test::launch(add_kernel(), {0, 256}, {x.word(), 1000, 1}); // no block, nothing done
    CHECK(x.download() == expected);
}

TEST_CASE("a grid above 2^31 blocks takes a second dimension") {
    const kernel_handle k = test::kernel(R"(struct arguments { long long* seen; long long grid; };
extern "C" __global__ void mark(arguments a) {
    const long long block = blockIdx.x + static_cast<long long>(gridDim.x) * blockIdx.y;
    if (block == 0) a.seen[0] += 1;
    if (block == 2147483648) a.seen[1] += 1;
    if (block == a.grid - 1) a.seen[2] += 1;
    if (block >= a.grid + 1) a.seen[3] += 1; // more than the rounding of two rows
}
)",
                                         "mark");
    const std::int64_t grid = (std::int64_t{1} << 31) + 5;
    buffer<long long> seen(4);
    test::launch(k, {grid, 1}, {seen.word(), static_cast<std::uint64_t>(grid)});
    CHECK(seen.download() == std::vector<long long>{1, 1, 1, 0});
}

TEST_CASE("a block may have all the shared memory that the machine names") {
    const kernel_handle k = test::kernel(R"(struct arguments { int* x; long long count; };
extern "C" __global__ void reverse(arguments a) {
    extern __shared__ int held[];
    for (int i = threadIdx.x; i < a.count; i += blockDim.x) held[i] = i;
    __syncthreads();
    for (int i = threadIdx.x; i < a.count; i += blockDim.x) a.x[i] = held[a.count - 1 - i];
}
)",
                                         "reverse");
    const auto bytes = static_cast<int>(gpu().machine().shared_bytes);
    const std::size_t count = static_cast<std::size_t>(bytes) / sizeof(int);
    buffer<int> x(count);
    test::launch(k, {1, 256, bytes}, {x.word(), count});
    const std::vector<int> values = x.download();
    CHECK(values.front() == static_cast<int>(count) - 1);
    CHECK(values.back() == 0);

    const std::string message = test::message_of([&] { test::launch(k, {1, 256, bytes + 16}, {x.word(), count}); });
    CHECK(test::contains(message, "reverse"));
    CHECK(test::contains(message, fmt::format("dynamic shared memory {} bytes (limit {})", bytes + 16, bytes)));
    CHECK(test::contains(message, "registers"));
    CHECK(x.download() == values); // and the GPU goes on
}

TEST_CASE("a kernel's registers and local memory are known") {
    const auto lean = gpu().use_of(add_kernel());
    CHECK(lean.registers > 0);
    CHECK(lean.local_bytes == 0);
    // An array whose places are known at run time only cannot lie in registers.
    const kernel_handle k = test::kernel(R"(struct arguments { int* x; long long count; };
extern "C" __global__ void scatter(arguments a) {
    int held[64];
    for (int i = 0; i < 64; ++i) held[i] = i;
    for (int i = 0; i < a.count; ++i) held[a.x[i] % 64] += i;
    for (int i = 0; i < a.count; ++i) a.x[i] = held[a.x[i] % 64];
}
)",
                                         "scatter");
    CHECK(gpu().use_of(k).local_bytes >= 256);
}

TEST_CASE("the time of work is the device's") {
    buffer<long long> x(1);
    const auto run = [&](std::uint64_t clocks) {
        return gpu().seconds_of([&] { test::launch(slow_kernel(), {1, 1}, {x.word(), clocks, 1, 0}); });
    };
    run(1000);
    const double brief = run(some_clocks / 10), slow = run(some_clocks);
    CHECK(slow > 5e-3); // whatever the clock
    CHECK(slow > 4 * brief);
}

TEST_CASE("code that is none, or has no such function, is refused") {
    CHECK(test::contains(test::message_of([] { gpu().load("no code at all", "f"); }),
                         "loading the kernel f on cuda:0"));
    const std::string code = gpu().jit().compile("extern \"C\" __global__ void g() {}\n");
    CHECK(test::contains(test::message_of([&] { gpu().load(code, "f"); }), "looking for f"));
}

TEST_CASE("too much memory is refused with both sizes, and the next allocation works") {
    std::size_t free = 0, total = 0;
    {
        const test::context current;
        check(driver().cuMemGetInfo(&free, &total), "cuMemGetInfo");
    }
    CHECK(test::contains(test::message_of([&] { gpu().allocate(2 * total); }),
                         fmt::format("{} bytes were asked for", 2 * total)));
    void* most = gpu().allocate(free / 4 * 3);
    CHECK(test::contains(test::message_of([&] { gpu().allocate(free / 2); }), "out of memory"));
    gpu().release(most);
    // What was freed lies in the pool in one piece too small: it must be given back first.
    void* more = gpu().allocate(free / 100 * 85);
    gpu().release(more);
}

TEST_CASE("a thread without a context gets the primary one") {
    std::thread([] {
        buffer<long long> x(1);
        add(x, 1, 1);
        CUcontext current = nullptr;
        CHECK(driver().cuCtxGetCurrent(&current) == CUDA_SUCCESS);
        CHECK(current == retain_primary_context(0));
    }).join();
}

TEST_CASE("a thread's own context is current again after each call") {
    std::thread([] {
        // The driver's second version of cuCtxCreate; later headers give the name another signature.
        CUresult (*create)(CUcontext*, unsigned, CUdevice) = nullptr;
        create = test::driver_function(create, "cuCtxCreate_v2");
        CUcontext own = nullptr, current = nullptr;
        REQUIRE(create(&own, 0, 0) == CUDA_SUCCESS);
        buffer<long long> x(1);
        add(x, 1, 1);
        CHECK(driver().cuCtxGetCurrent(&current) == CUDA_SUCCESS);
        CHECK(current == own);
        CHECK(x.download() == std::vector<long long>{1});
        CHECK(RICCI_DRIVER(cuCtxDestroy)(own) == CUDA_SUCCESS);
    }).join();
}

TEST_CASE("a change of stream keeps the order") {
    const test::stream a, b;
    buffer<long long> x(1);
    test::launch(slow_kernel(), {1, 1}, {x.word(), some_clocks, 1, 3}); // 3, on the null stream
    gpu().set_stream(a);
    CHECK(gpu().stream() == a);
    test::launch(slow_kernel(), {1, 1}, {x.word(), some_clocks, 5, 0}); // 15
    gpu().set_stream(b);
    test::launch(slow_kernel(), {1, 1}, {x.word(), some_clocks, 1, 2}); // 17
    gpu().set_stream(nullptr);
    add(x, 1, 100);
    CHECK(x.download()[0] == 117);
}

TEST_CASE("streams belong to their thread") {
    const test::stream a;
    gpu().set_stream(a);
    std::thread([] { CHECK(gpu().stream() == nullptr); }).join();
}

TEST_CASE("threads launch at once") {
    std::vector<std::thread> threads;
    std::vector<long long> results(8);
    for (std::size_t t = 0; t < results.size(); ++t)
        threads.emplace_back([&results, t] {
            const test::stream own;
            gpu().set_stream(own);
            buffer<long long> x(1);
            for (int i = 0; i < 100; ++i) add(x, 1, t);
            results[t] = x.download()[0];
        });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < results.size(); ++t) CHECK(results[t] == static_cast<long long>(100 * t));
}

TEST_CASE("a failed kernel gives a clear message") {
    // In a process of its own: the GPU is of no use to this one afterwards.
    const std::string command =
        "\"$(readlink /proc/" + std::to_string(getpid()) + "/exe)\" fault > /dev/null";
    CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE("fault", "[.]") {
    test::launch(add_kernel(), {1, 32}, {16, 32, 1}); // x is no address of the GPU's
    const std::string message = test::message_of([] { gpu().synchronize(); });
    CHECK(test::contains(message, "CUDA_ERROR_"));
    CHECK(test::contains(message, "compute-sanitizer"));
}
