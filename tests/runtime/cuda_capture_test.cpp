// cuda_capture: what a backend does while its stream is captured into a CUDA graph, on a real GPU.
#include "tests/catch.hpp"
#include "tests/runtime/gpu.hpp"
#include "tests/runtime/scratch.hpp"

#include <memory>

using namespace ricci;
using namespace ricci::runtime;
using test::buffer;
using test::gpu;

namespace {

kernel_handle increment() {
    static const kernel_handle k = test::kernel(R"(struct arguments { long long* x; const long long* by; };
extern "C" __global__ void increment(arguments a) { a.x[0] += 1 + a.by[0]; }
)",
                                                "increment");
    return k;
}

/// What a statement with a temporary does: x += 1 + 0.
void statement(const buffer<long long>& x) {
    void* zero = gpu().allocate_zeroed(1 << 20);
    test::launch(increment(), {1, 1}, {x.word(), reinterpret_cast<std::uint64_t>(zero)});
    gpu().release(zero);
}

} // namespace

TEST_CASE("a statement with a temporary is captured and replayed") {
    const test::stream s;
    gpu().set_stream(s);
    buffer<long long> x(1);
    statement(x);
    CHECK_FALSE(gpu().capturing());
    s.begin_capture();
    CHECK(gpu().capturing());
    statement(x);
    statement(x);
    const test::graph replay(s.end_capture());
    CHECK_FALSE(gpu().capturing());
    CHECK(x.download()[0] == 1); // captured, not run
    for (int i = 0; i < 3; ++i) replay.launch(s);
    CHECK(x.download()[0] == 7);
}

TEST_CASE("what waits is refused, and the capture stays whole") {
    const test::stream s;
    gpu().set_stream(s);
    buffer<long long> x(1);
    statement(x);
    const std::string code = gpu().jit().compile("extern \"C\" __global__ void late() {}\n");
    s.begin_capture();
    long long value = 0;
    for (const auto& attempt : std::vector<std::function<void()>>{
             [&] { gpu().copy_out(&value, x.data(), 8); }, [&] { gpu().copy_in(x.data(), &value, 8); },
             [&] { gpu().synchronize(); }, [&] { gpu().load(code, "late"); }})
        CHECK(test::contains(test::message_of(attempt), "captured into a CUDA graph"));
    statement(x);
    const test::graph replay(s.end_capture());
    replay.launch(s);
    CHECK(x.download()[0] == 2);
}

TEST_CASE("memory from before a capture may be released within it") {
    const test::stream s;
    gpu().set_stream(s);
    buffer<long long> x(1);
    auto old = std::make_unique<buffer<long long>>(1 << 20);
    statement(x);
    s.begin_capture();
    old.reset();
    statement(x);
    const test::graph replay(s.end_capture());
    replay.launch(s);
    CHECK(x.download()[0] == 2);
}

TEST_CASE("a stream that is captured already is taken after the work of the old one") {
    // Once with a stream that the null stream waits for: the driver lets nothing touch the null stream then.
    const test::stream independent, blocking(CU_STREAM_DEFAULT);
    buffer<long long> x(1);
    statement(x);
    independent.begin_capture();
    gpu().set_stream(independent);
    statement(x);
    {
        const test::graph replay(independent.end_capture());
        replay.launch(independent);
        gpu().synchronize();
    }
    CHECK(x.download()[0] == 2);

    gpu().set_stream(nullptr);
    statement(x);
    blocking.begin_capture();
    CHECK(test::contains(test::message_of([&] { gpu().set_stream(blocking); }), "before the capture begins"));
    CHECK(gpu().stream() == nullptr);
    RICCI_DRIVER(cuGraphDestroy)(blocking.end_capture()); // it was left whole
    CHECK(x.download()[0] == 3);
}
