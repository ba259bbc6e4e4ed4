// math_test: the mode of f32 products by a GPU's tensor cores, as programs set it, on the emulated GPU.
#include "ricci.hpp"
#include "runtime/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/runtime/scratch.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

namespace {

using namespace ricci::indices;
using ricci::math;
using ricci::math_scope;
using ricci::tensor;

const ricci::device emulated{ricci::tests::emulator_device};

template <class T>
std::vector<T> numbers(std::int64_t count) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> any(-1, 1);
    std::vector<T> out;
    for (std::int64_t n = 0; n < count; ++n) out.push_back(static_cast<T>(any(random)));
    return out;
}

template <class T>
struct product {
    explicit product(ricci::device where) : A(where), B(where), C(where) {
        A.upload(numbers<T>(A.size())), B.upload(numbers<T>(B.size()));
    }
    std::vector<T> operator()() {
        C(i, j, e) = A(i, k, e) * B(k, j, e);
        return C.download();
    }
    tensor<T, 32, 32, 3> A, B, C;
};

template <class T>
double largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
    double out = 0;
    for (std::size_t n = 0; n < a.size(); ++n)
        out = std::max(out, std::abs(static_cast<double>(a[n]) - static_cast<double>(b[n])));
    return out;
}

struct restored_math {
    ~restored_math() { ricci::set_math(math::full); }
};

} // namespace

TEST_CASE("f32 is rounded only while that is asked for, by kernels of its own") {
    const ricci::test::scratch_cache cache;
    const restored_math after;
    ricci::tests::register_emulator();
    product<float> run(emulated);
    CHECK(ricci::current_math() == math::full);
    const auto exact = run();
    ricci::set_math(math::tf32);
    CHECK(ricci::current_math() == math::tf32);
    const auto rounded = run();
    // 32 products of numbers below 1, each off by at most 2^-10, and by chance up or down.
    CHECK(largest_difference(exact, rounded) < 32 * 0x1p-10);
    CHECK(largest_difference(exact, rounded) > 0x1p-13);
    std::ostringstream text;
    ricci::explain([&] { run.C(i, j, e) = run.A(i, k, e) * run.B(k, j, e); }, text);
    CHECK(text.str().find("in TF32") != std::string::npos);
    const auto compiled = ricci::runtime::compile_count();
    for (int turn = 0; turn < 3; ++turn) {
        ricci::set_math(math::full);
        CHECK(run() == exact);
        ricci::set_math(math::tf32);
        CHECK(run() == rounded);
    }
    CHECK(ricci::runtime::compile_count() == compiled);
}

TEST_CASE("a scope is its thread's, nests, and goes before what the process has") {
    const ricci::test::scratch_cache cache;
    const restored_math after;
    ricci::tests::register_emulator();
    product<float> run(emulated);
    const auto exact = run();
    const math_scope outer(math::tf32);
    const auto rounded = run();
    CHECK(rounded != exact);
    {
        const math_scope inner(math::full);
        ricci::set_math(math::tf32);
        CHECK(run() == exact);
    }
    ricci::set_math(math::full);
    CHECK(run() == rounded);
    math other = math::tf32;
    std::thread([&] { other = ricci::current_math(); }).join();
    CHECK(other == math::full);
}

TEST_CASE("a recorded program has the mode of its call, or of a scope within") {
    const ricci::test::scratch_cache cache;
    ricci::tests::register_emulator();
    product<float> run(emulated);
    const auto exact = run();
    auto plain = ricci::record([&] { run.C(i, j, e) = run.A(i, k, e) * run.B(k, j, e); });
    auto scoped = ricci::record([&] {
        const math_scope own(math::tf32);
        run.C(i, j, e) = run.A(i, k, e) * run.B(k, j, e);
    });
    plain();
    CHECK(run.C.download() == exact);
    scoped();
    const auto rounded = run.C.download();
    CHECK(rounded != exact);
    const math_scope around(math::tf32);
    plain();
    CHECK(run.C.download() == rounded);
}

TEST_CASE("other types, and a CPU, know nothing of it") {
    const ricci::test::scratch_cache cache;
    ricci::tests::register_emulator();
    product<double> wide(emulated);
    product<ricci::half> narrow(emulated);
    product<float> here(ricci::cpu());
    const auto run = [&] {
        std::vector<double> out = wide();
        for (const auto x : narrow()) out.push_back(static_cast<float>(x));
        for (const auto x : here()) out.push_back(x);
        return out;
    };
    const auto exact = run();
    const auto compiled = ricci::runtime::compile_count();
    const math_scope scope(math::tf32);
    CHECK(run() == exact);
    CHECK(ricci::runtime::compile_count() == compiled);
}
