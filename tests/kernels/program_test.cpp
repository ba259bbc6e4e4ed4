// program_test: random programs on one device, fused where they can be, against the oracle statement by statement. A
// failure prints its seed: run it alone with RICCI_TEST_SEED=<seed> RICCI_TEST_N=1.
#include "runtime/program_cache.hpp"
#include "runtime/run.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/random_program.hpp"
#include "tests/oracle.hpp"

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <random>

using namespace ricci;
using namespace ricci::tests;
using lowering::scalar_type;

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr && *text != 0 ? std::strtoull(text, nullptr, 10) : otherwise;
}

using bytes = std::vector<std::byte>;

std::int64_t size_of(const text_operand& o) {
    std::int64_t count = 1;
    for (const auto e : o.extents) count *= e;
    return count;
}

template <class T> void put(void* at, T value) { std::memcpy(at, &value, sizeof(T)); }
void put(void* at, scalar_type type, double re, double im) {
    switch (type) {
    case scalar_type::f32: return put(at, static_cast<float>(re));
    case scalar_type::f64: return put(at, re);
    case scalar_type::c64: return put(at, std::complex<float>(static_cast<float>(re), static_cast<float>(im)));
    default: return put(at, std::complex<double>(re, im));
    }
}

/// The numbers, not their signs of zero.
bool are_equal(const bytes& a, const bytes& b, scalar_type type) {
    const auto all = [&](auto one) {
        using number = decltype(one);
        for (std::size_t n = 0; n + sizeof(number) <= a.size(); n += sizeof(number)) {
            number x, y;
            std::memcpy(&x, a.data() + n, sizeof x), std::memcpy(&y, b.data() + n, sizeof y);
            if (!(x == y)) return false;
        }
        return true;
    };
    return lowering::real_of(type) == scalar_type::f32 ? all(float{}) : all(double{});
}

std::vector<lowering::statement> bound(const random_program& p, const std::vector<text_operand>& operands) {
    std::vector<lowering::statement> out;
    for (const auto& s : p.statements) out.push_back(bind_text(parse_text(s).at(0), operands));
    return out;
}

/// A description of what differs, or nothing.
std::string run(std::uint64_t seed, std::int32_t code, int& fused) {
    const auto p = make_random_program(seed);
    std::mt19937_64 random(seed);
    std::vector<bytes> memory;
    auto operands = p.operands;
    for (auto& o : operands) {
        const auto size = static_cast<std::size_t>(lowering::size_of(o.type));
        auto& m = memory.emplace_back(static_cast<std::size_t>(size_of(o)) * size);
        const bool is_input = o.name[0] != 'T';
        for (std::size_t n = 0; is_input && n * size < m.size(); ++n) {
            const auto number = [&] { return std::uniform_int_distribution<int>(-1, 1)(random); };
            put(m.data() + n * size, o.type, number(), number());
        }
        o.data = m.data();
    }
    // There: locals without memory.
    const device where(code);
    auto there = operands;
    std::vector<void*> copies;
    for (std::size_t n = 0; n < there.size(); ++n) {
        there[n].device = code, there[n].data = runtime::allocate(where, memory[n].size() + 1, false);
        runtime::copy(where, there[n].data, cpu(), memory[n].data(), memory[n].size());
        copies.push_back(there[n].data);
    }
    auto program = bound(p, there);
    for (auto& s : program)
        for (auto& a : s.accesses)
            if (const auto local = std::find(p.locals.begin(), p.locals.end(), a.name); local != p.locals.end())
                a.local = static_cast<std::int32_t>(local - p.locals.begin()), a.data = nullptr;
    runtime::run_program(program);
    runtime::placed_program placed;
    if (placed.take(program) && runtime::find_fused(placed)) ++fused;

    for (const auto& s : bound(p, operands)) // here: one after another, by the oracle
        for (const auto expected = evaluate(s); const auto& e : expected.elements)
            put(e.address, s.accesses[0].type, static_cast<double>(e.re), static_cast<double>(e.im));
    std::string report;
    for (std::size_t n = 0; n < there.size(); ++n) {
        const bool is_local = std::find(p.locals.begin(), p.locals.end(), there[n].name) != p.locals.end();
        bytes found(memory[n].size());
        runtime::copy(cpu(), found.data(), where, copies[n], found.size());
        runtime::release(where, copies[n]);
        if (is_local || are_equal(found, memory[n], there[n].type)) continue;
        report += fmt::format("seed {}: {} differs\n{}\n", seed, there[n].name, p.text());
    }
    return report;
}

} // namespace

TEST_CASE("random programs agree with the oracle, fused or not") {
    const auto code = device_under_test();
    const auto first = from_environment("RICCI_TEST_SEED", 1);
    const auto count = from_environment("RICCI_TEST_N", RICCI_TEST_COUNT);
    int fused = 0;
    for (auto seed = first; seed < first + count; ++seed) {
        const auto report = run(seed, code, fused);
        INFO(report);
        CHECK(report.empty());
    }
    if (count >= 20) CHECK(fused > static_cast<int>(count) / 3);
}
