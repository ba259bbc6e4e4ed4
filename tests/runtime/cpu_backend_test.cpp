// cpu_backend_test: kernels on the CPU: loading, blocks over threads, many kernels at once.
#include "runtime/backend.hpp"
#include "runtime/blas.hpp"
#include "runtime/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

using namespace ricci;
using namespace ricci::test;
using namespace ricci::runtime;
namespace fs = std::filesystem;

namespace {

/// Adds 1 to counts[block] for each block, and writes the calls' number of blocks.
const std::string counting = R"(
extern "C" void count(const unsigned long* words, long first, long last) {
    for (long i = first; i < last; ++i) __atomic_fetch_add(reinterpret_cast<int*>(words[0]) + i, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(reinterpret_cast<long*>(words[1]), 1, __ATOMIC_RELAXED);
})";

std::string constant_kernel(int value) {
    return "template <int> struct table { static inline const double values[2] = {" + std::to_string(value) +
           ", 1}; static const double* get() { static const double* p = values; return p; } };\n"
           "extern \"C\" void constant(const unsigned long* words, long, long) {"
           " *reinterpret_cast<double*>(words[0]) = table<0>::get()[0]; }";
}

double run_constant(backend& b, const std::string& source) {
    double result = -1;
    const std::array<std::uint64_t, 1> words{reinterpret_cast<std::uint64_t>(&result)};
    b.launch(cached_kernel(b, source, "constant"), {}, words);
    return result;
}

std::size_t open_files() {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

/// A cache that is not the user's.
struct own_cache {
    temporary_directory folder;
    variable set{"RICCI_CACHE_DIR", folder.path().string()};
};

} // namespace

TEST_CASE("every block runs exactly once, on one thread or several") {
    const own_cache cache;
    backend& b = backend_of(cpu());
    const kernel_handle kernel = cached_kernel(b, counting, "count");
    for (const std::int64_t grid : {0, 1, 2, 3, 17, 1000, 100001})
        for (const double seconds : {0.0, 1e-9, 1e-6, 1e-3, 1e300}) {
            std::vector<int> counts(static_cast<std::size_t>(grid) + 1);
            long calls = 0;
            const std::array<std::uint64_t, 2> words{reinterpret_cast<std::uint64_t>(counts.data()),
                                                     reinterpret_cast<std::uint64_t>(&calls)};
            b.launch(kernel, {.grid = grid, .seconds_per_block = seconds}, words);
            CAPTURE(grid, seconds, calls);
            CHECK(std::all_of(counts.begin(), counts.end() - 1, [](int count) { return count == 1; }));
            CHECK(counts.back() == 0);
            if (static_cast<double>(grid) * seconds < 50e-6)
                CHECK(calls == (grid > 0));
            else if (b.machine().processors > 1 && grid > 1)
                CHECK(calls > 1);
        }
}

TEST_CASE("RICCI_NUM_THREADS") {
    const auto processors = [](const char* text) {
        const variable set("RICCI_NUM_THREADS", text);
        return make_cpu_backend()->machine().processors;
    };
    const int all = processors("");
    CHECK(all >= 1);
    CHECK(processors("1") == 1);
    CHECK(processors("100000") == all);
    for (const char* text : {"0", "-2", "many", "2x", "99999999999"})
        CHECK(contains(message_of([&] { processors(text); }), std::string("\"") + text + "\""));
    const own_cache cache;
    const variable set("RICCI_NUM_THREADS", "1");
    const auto one = make_cpu_backend().release(); // the cache remembers its address
    std::vector<int> counts(1000);
    long calls = 0;
    const std::array<std::uint64_t, 2> words{reinterpret_cast<std::uint64_t>(counts.data()),
                                             reinterpret_cast<std::uint64_t>(&calls)};
    one->launch(cached_kernel(*one, counting, "count"), {.grid = 1000, .seconds_per_block = 1}, words);
    CHECK(calls == 1);
}

TEST_CASE("kernels of equal names share nothing, and loading one leaves no file open") {
    const own_cache cache;
    backend& b = backend_of(cpu());
    run_constant(b, constant_kernel(-1));
    const std::size_t before = open_files();
    for (int value = 0; value < 20; ++value) CHECK(run_constant(b, constant_kernel(value)) == value);
    for (int value = 0; value < 20; ++value) CHECK(run_constant(b, constant_kernel(value)) == value);
    CHECK(open_files() == before);
}

TEST_CASE("kernels reach the mathematical functions") {
    const own_cache cache;
    const std::string source = R"(extern "C" void math(const unsigned long* words, long, long) {
        double* x = reinterpret_cast<double*>(words[0]);
        x[0] = __builtin_exp(x[0]), x[1] = __builtin_sqrt(x[1]), x[2] = __builtin_fmin(x[2], x[3]);
        volatile float* y = reinterpret_cast<float*>(words[0] + 32);
        *y = __builtin_expf(*y);
        _Complex double z = {x[5], x[6]};
        z *= z;
        x[5] = __real__ z, x[6] = __imag__ z;
    })";
    std::array<double, 7> x{1, 2, 3, 4, 0, 1, 2};
    const std::array<std::uint64_t, 1> words{reinterpret_cast<std::uint64_t>(x.data())};
    backend& b = backend_of(cpu());
    b.launch(cached_kernel(b, source, "math"), {}, words);
    CHECK(x[0] == Approx(2.718281828459045));
    CHECK(x[1] == Approx(1.4142135623730951));
    CHECK(x[2] == 3);
    CHECK(x[5] == -3);
    CHECK(x[6] == 4);
}

TEST_CASE("code that cannot be loaded") {
    const own_cache cache;
    backend& b = backend_of(cpu());
    CHECK(contains(message_of([&] { b.load("no shared object", "f"); }), "cannot load the CPU kernel f"));
    CHECK(contains(message_of([&] { b.load("", "f"); }), "cannot load"));
    const std::string code = b.jit().compile(constant_kernel(1));
    CHECK(contains(message_of([&] { b.load(code, "other"); }), "other"));
}

TEST_CASE("eight host threads launch equal and different kernels") {
    const own_cache cache;
    backend& b = backend_of(cpu());
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            for (int round = 0; round < 50; ++round) {
                wrong += run_constant(b, constant_kernel(100 + (t + round) % 4)) != 100 + (t + round) % 4;
                std::vector<int> counts(100);
                long calls = 0;
                const std::array<std::uint64_t, 2> words{reinterpret_cast<std::uint64_t>(counts.data()),
                                                         reinterpret_cast<std::uint64_t>(&calls)};
                b.launch(cached_kernel(b, counting, "count"), {.grid = 100, .seconds_per_block = 1e-5}, words);
                wrong += !std::all_of(counts.begin(), counts.end(), [](int count) { return count == 1; });
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("without a compiler the backend says so once, and goes on") {
    const variable cxx("RICCI_CXX", "/no/such/compiler");
    const outcome result = in_child([] {
        backend& b = *make_cpu_backend().release();
        return !b.machine().has_compiler && message_of([&] { b.jit().compile("x"); }) != "";
    });
    CHECK(result.status == 0);
    CHECK(occurrences(result.errors, "ricci:") == 1);
    CHECK(contains(result.errors, "/no/such/compiler"));
}

TEST_CASE("the BLAS multiplies") {
    if (!has_blas()) {
        WARN("skipped: this build has no BLAS");
        return;
    }
    using lowering::scalar_type;
    const auto check = [](auto one, scalar_type type) {
        using T = decltype(one);
        // A 2x3, B 3x2, both column by column; C = 2*A*B - C
        const std::vector<T> a{1, 4, 2, 5, 3, 6}, at{1, 2, 3, 4, 5, 6}, b{1, 0, 1, 0, 1, 1};
        for (const bool transposed : {false, true}) {
            std::vector<T> c{1, 1, 1, 1};
            REQUIRE(blas_gemm(type, transposed ? 'T' : 'N', 'N', 2, 2, 3, 2, transposed ? at.data() : a.data(),
                              transposed ? 3 : 2, b.data(), 3, -1, c.data(), 2));
            CHECK(c == std::vector<T>{7, 19, 9, 21});
        }
    };
    check(1.0f, scalar_type::f32);
    check(1.0, scalar_type::f64);
    check(std::complex<float>(1), scalar_type::c64);
    check(std::complex<double>(1), scalar_type::c128);
    double x = 5;
    CHECK_FALSE(blas_gemm(scalar_type::f16, 'N', 'N', 1, 1, 1, 1, &x, 1, &x, 1, 0, &x, 1));
    CHECK_FALSE(blas_gemm(scalar_type::f64, 'N', 'N', 1, 1, 1, 1, &x, std::int64_t{1} << 31, &x, 1, 0, &x, 1));
    CHECK(x == 5);
}
