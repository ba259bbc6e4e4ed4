// tools_test: the bench's own kernels: on the CPU, on the emulator against the CPU, and assembled by NVRTC.
#include "bench/device_tools.hpp"
#include "bench/kernels/random_value.hpp"
#include "bench/operand_sets.hpp"
#include "bench/peers/peer.hpp"
#include "runtime/run.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"

#if RICCI_TEST_NVRTC
#include "runtime/nvrtc_compiler.hpp"
#endif

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace {

using namespace ricci;
using namespace ricci::bench;

const device emulated(tests::emulator_device);

std::vector<device> devices() {
    tests::register_emulator();
    return {cpu(), emulated};
}

/// Products of every type, layout and transposition, small.
std::vector<product> products() {
    using enum lowering::scalar_type;
    std::vector<product> all;
    const type_pair pairs[] = {{f64, f64}, {f32, f32},   {c64, c64}, {c128, c128},
                               {f16, f16}, {bf16, bf16}, {f16, f32}};
    int number = 0;
    for (const type_pair& types : pairs)
        for (const operations ops : {operations{'N', 'N'}, operations{'T', 'N'}, operations{'N', 'C'}}) {
            const auto order = static_cast<layout>(number % 6);
            all.push_back(make_batched({3, 5, 4}, types, ops, {order, number % 3}, number % 2 == 0, 7));
            ++number;
        }
    all.push_back(make_tall_skinny(tall_kind::atb, 1500, {3, 2, 0}, {f32, f32}, true, false, 1));
    all.push_back(make_tall_skinny(tall_kind::ab, 1500, {3, 2, 0}, {f16, f32}, false, true, 0));
    return all;
}

/// Operands of `p` with the bench's random numbers.
struct filled {
    filled(const product& p, device where, device_tools& tools) : w(work_of(p)), sets(w, where, 1, true, memory) {
        const auto& at = sets.addresses().front();
        for (std::size_t o = 0; o < 3; ++o)
            tools.fill(w.operands[o].type, at[o], w.operands[o].elements, numbers_of(w.operands[o], o, 0));
        for (std::size_t o = 3; o < w.operands.size(); ++o) {
            const auto contents = w.operands[o].contents(at);
            runtime::copy(where, at[o], cpu(), contents.data(), contents.size());
        }
        set = {at[0], at[1], at[2], at.size() > 3 ? at[3] : nullptr, at.size() > 4 ? at[4] : nullptr};
    }
    work w;
    device_memory memory;
    operand_sets sets;
    operand_set set;
};

/// A compiler's backend that runs nothing.
#if RICCI_TEST_NVRTC
class assembler : public runtime::backend {
  public:
    assembler() { machine_.kind = lowering::target::cuda, machine_.processors = 132; }
    const lowering::machine& machine() const override { return machine_; }
    runtime::compiler& jit() override { return compiler_; }
    runtime::kernel_handle load(const std::string& code, const std::string&) override {
        if (code.empty()) throw error("nothing was assembled");
        return this;
    }
    void launch(runtime::kernel_handle, const runtime::launch_shape&, std::span<const std::uint64_t>) override {}
    void* allocate(std::size_t bytes) override { return ::operator new(bytes); }
    void release(void* memory) noexcept override { ::operator delete(memory); }
    void zero(void*, std::size_t) override {}
    void copy_in(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
    void copy_out(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
    void copy_within(void*, const void*, std::size_t) override {}
    void synchronize() override {}

    static bool can() { return runtime::nvrtc_compiler(90, 99).found(); }

  private:
    lowering::machine machine_;
    runtime::nvrtc_compiler compiler_{90, 99};
};
#endif

} // namespace

TEST_CASE("random values are in (-1, 1), not zero, exact in their type, and alike on every device") {
    for (const device where : devices()) {
        const auto tools = make_device_tools(where);
        std::vector<float> f32(1000);
        std::vector<half> f16(1000);
        device_memory memory(where, 4000);
        const auto wide = random_numbers_of(lowering::scalar_type::f32, 5, 1),
                   narrow = random_numbers_of(lowering::scalar_type::f16, 5, 0.25);
        tools->fill(lowering::scalar_type::f32, memory.data(), 1000, wide);
        runtime::copy(cpu(), f32.data(), where, memory.data(), 4000);
        tools->fill(lowering::scalar_type::f16, memory.data(), 1000, narrow);
        runtime::copy(cpu(), f16.data(), where, memory.data(), 2000);
        for (std::size_t n = 0; n < 1000; ++n) {
            CHECK(f32[n] == random_value(5, n, wide.digits, wide.scale));
            CHECK(static_cast<float>(f16[n]) == random_value(5, n, narrow.digits, narrow.scale));
            CHECK((std::abs(f32[n]) < 1 && f32[n] != 0 && std::abs(static_cast<float>(f16[n])) < 0.25f));
        }
        double sum = 0;
        for (const float x : f32) sum += x;
        CHECK(std::abs(sum) < 100);
    }
}

TEST_CASE("the triad and reading do what they say") {
    for (const device where : devices()) {
        const auto tools = make_device_tools(where);
        constexpr std::int64_t count = 2050;
        std::vector<double> z(count), x(count), y(count);
        device_memory memory(where, 3 * count * 8);
        char *const to = memory.data(), *const one = to + count * 8, *const two = one + count * 8;
        const auto numbers = random_numbers_of(lowering::scalar_type::f64, 2, 1);
        tools->fill(lowering::scalar_type::f64, one, 2 * count, numbers);
        runtime::copy(cpu(), x.data(), where, one, count * 8);
        runtime::copy(cpu(), y.data(), where, two, count * 8);
        for (int kind = 0; kind < tools->triad_kinds(); ++kind) {
            tools->fill(lowering::scalar_type::f64, to, count, numbers);
            tools->triad(to, one, two, count * 8, kind);
            runtime::copy(cpu(), z.data(), where, to, count * 8);
            std::size_t wrong = 0;
            for (std::size_t n = 0; n < count; ++n) wrong += std::abs(z[n] - (x[n] + 3 * y[n])) > 1e-15 ? 1 : 0;
            CHECK(wrong == 0);
        }
        for (int kind = 0; kind < tools->read_kinds(); ++kind) tools->read(to, count * 8, kind);
        tools->delay(1e-6);
    }
}

TEST_CASE("plain products and ricci's pass the check, and a single wrong element is found") {
    for (const device where : devices()) {
        const auto tools = make_device_tools(where);
        for (const product& p : products()) {
            CAPTURE(where.code(), text_of(p), lowering::name_of(p.a.type), lowering::name_of(p.c.type));
            const filled f(p, where, *tools);
            const random_numbers old = numbers_of(f.w.operands[2], 2, 0);
            tools->plain(p, f.set)();
            const findings plain = tools->check(p, f.set, old);
            CHECK(plain.wrong == 0);
            CHECK(plain.looked_at == p.m * p.n * p.batch);
            tools->fill(p.c.type, f.set.c, p.c.elements, old);
            if (where.is_cpu()) { // the kernels' own tests have the emulator run them
                runtime::run(bind(p, f.set, where));
                CHECK(tools->check(p, f.set, old).wrong == 0);
            } else {
                tools->plain(p, f.set)();
            }
            // The last element of the last product.
            const auto size = static_cast<std::size_t>(lowering::size_of(p.c.type));
            const auto place = static_cast<std::size_t>((p.m - 1) * p.c.row_stride + (p.n - 1) * p.c.column_stride +
                                                        (p.batch - 1) * p.c.batch_stride);
            std::vector<char> zero(size, 0x11);
            runtime::copy(where, static_cast<char*>(f.set.c) + place * size, cpu(), zero.data(), size);
            const findings broken = tools->check(p, f.set, old);
            CHECK(broken.wrong == 1);
            CHECK(broken.first == p.m * p.n * p.batch - 1);
            CHECK(broken.worst > 1e-3);
            std::memset(zero.data(), 0xff, size); // a NaN
            runtime::copy(where, static_cast<char*>(f.set.c) + place * size, cpu(), zero.data(), size);
            CHECK(tools->check(p, f.set, old).wrong == 1);
        }
    }
}

#if RICCI_TEST_NVRTC
TEST_CASE("NVRTC assembles every kernel of the bench") {
    if (!assembler::can()) {
        WARN("no NVRTC");
        return;
    }
    constexpr std::int32_t code = -7;
    runtime::register_backend(code, [] { return std::make_unique<assembler>(); });
    const device where(code);
    const auto tools = make_device_tools(where);
    tools->fill(lowering::scalar_type::f64, nullptr, 1, {});
    for (int kind = 0; kind < tools->triad_kinds(); ++kind) tools->triad(nullptr, nullptr, nullptr, 16, kind);
    for (int kind = 0; kind < tools->read_kinds(); ++kind) tools->read(nullptr, 16, kind);
    tools->delay(1e-6);
    for (const product& p : products()) {
        tools->plain(p, {})();
        CHECK(tools->check(p, {}, {}).wrong == 0);
    }
}
#endif
