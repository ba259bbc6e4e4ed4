// device_test: names of devices, the default device, memory, streams, and the registry of backends.
#include "runtime/backend.hpp"
#include "runtime/device.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/fake_backend.hpp"
#include "tests/runtime/scratch.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

using namespace ricci;
using namespace ricci::test;

TEST_CASE("devices are read by their names") {
    CHECK(parse_device("cpu") == cpu());
    CHECK(parse_device("cuda") == cuda(0));
    CHECK(parse_device("cuda:3") == cuda(3));
    CHECK(cpu().name() == "cpu");
    CHECK(cuda(2).name() == "cuda:2");
    CHECK(parse_device(cuda(5).name()) == cuda(5));
    for (const std::string text : {"", "gpu", "CPU", "cpu:0", "cuda:", "cuda:-1", "cuda:1x", "cuda: 1",
                                   "cuda:99999999999", "cuda:2147483647", " cpu"}) {
        CAPTURE(text);
        CHECK(contains(message_of([&] { parse_device(text); }), "\"" + text + "\""));
    }
}

TEST_CASE("a GPU of a negative number is refused") {
    int ordinal = -1;
    CHECK_THROWS_WITH(ricci::cuda(ordinal), Catch::Contains("there is no GPU with the number -1"));
}

TEST_CASE("RICCI_DEVICE names the default device") {
    // Asked once a process, so each in a child that has not asked yet.
    const auto chosen = [](const std::string& text, device expected) {
        const variable set("RICCI_DEVICE", text);
        return in_child([&] { return default_device() == expected; }).status == 0;
    };
    CHECK(chosen("cpu", cpu()));
    CHECK(chosen("cuda", cuda(0)));
    CHECK(chosen("cuda:1", cuda(1)));
    CHECK(chosen("", runtime::cuda_device_count() ? cuda(0) : cpu()));
    const variable set("RICCI_DEVICE", "gpu");
    const outcome refused = in_child([] {
        try {
            default_device();
        } catch (const error& e) {
            return e.blame() == blame::environment && contains(e.what(), "RICCI_DEVICE is \"gpu\"");
        }
        return false;
    });
    CHECK(refused.status == 0);
}

TEST_CASE("memory on the CPU") {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{63}, std::size_t{4096}, std::size_t{50} << 20}) {
        auto* memory = static_cast<unsigned char*>(runtime::allocate(cpu(), bytes, true));
        CHECK(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
        CHECK(std::all_of(memory, memory + bytes, [](unsigned char byte) { return byte == 0; }));
        std::memset(memory, 7, bytes);
        auto* other = static_cast<unsigned char*>(runtime::allocate(cpu(), bytes, false));
        CHECK(reinterpret_cast<std::uintptr_t>(other) % 64 == 0);
        runtime::copy(cpu(), other, cpu(), memory, bytes);
        CHECK(std::memcmp(memory, other, bytes) == 0);
        runtime::release(cpu(), memory);
        runtime::release(cpu(), other);
    }
    CHECK(runtime::allocate(cpu(), 0, true) == nullptr);
    runtime::release(cpu(), nullptr);
    runtime::copy(cpu(), nullptr, cpu(), nullptr, 0);
}

// The sanitizers end the program when an allocation is too big, unless they are asked not to.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

TEST_CASE("too much memory is refused") {
    for (const std::size_t bytes : {std::numeric_limits<std::size_t>::max(), std::size_t{1} << 62}) {
        const std::string message = message_of([&] { runtime::allocate(cpu(), bytes, true); });
        CHECK(contains(message, std::to_string(bytes)));
    }
}

TEST_CASE("a backend is started once, also by many threads") {
    std::atomic<int> started = 0;
    runtime::register_backend(-7, [&] {
        ++started;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return std::make_unique<fake_backend>();
    });
    std::vector<std::thread> threads;
    std::array<runtime::backend*, 8> found{};
    for (auto& place : found) threads.emplace_back([&place] { place = &runtime::backend_of(device(-7)); });
    for (std::thread& thread : threads) thread.join();
    CHECK(started == 1);
    for (const runtime::backend* b : found) CHECK(b == found[0]);
    CHECK_THROWS_AS(runtime::register_backend(-7, nullptr), error); // too late
    CHECK_THROWS_AS(runtime::register_backend(0, nullptr), error);
    CHECK_THROWS_AS(runtime::backend_of(device(-8)), error); // never registered
    CHECK_THROWS_AS(runtime::backend_of(device(-1000)), error);
    CHECK_THROWS_AS(runtime::backend_of(cuda(1000)), error);
    synchronize();
    set_stream(cpu(), nullptr);
    CHECK(current_stream(cpu()) == nullptr);
}

TEST_CASE("a backend that cannot start is tried again") {
    bool works = false;
    runtime::register_backend(-9, [&]() -> std::unique_ptr<runtime::backend> {
        if (!works) throw error("not plugged in", blame::environment);
        return std::make_unique<fake_backend>();
    });
    CHECK(message_of([] { runtime::backend_of(device(-9)); }) == "not plugged in");
    works = true;
    CHECK(message_of([] { runtime::backend_of(device(-9)); }).empty());
}
