// loops_peer: the bake-off problems written by hand, compiled for each order: operator_loops_cpu.hpp.
#include "bench/fem/notation.hpp"
#include "bench/fem/operator_peer.hpp"
#include "bench/in_parallel.hpp"
#include "bench/native_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace ricci::bench::fem {

namespace {

std::string constants_of(const problem& p) {
    return fmt::format("using real = {};\nconstexpr long P = {}, Q = {}, components = {};\n"
                       "constexpr bool is_mass = {}, is_collocated = {}, is_global = {};\n",
                       p.type == lowering::scalar_type::f64 ? "double" : "float", p.nodes_along(), p.points_along(),
                       p.components(), p.is_mass(), p.is_collocated(), p.is_global());
}

/// What one element takes a thread at the machine's rates.
double seconds_of_element(const problem& p) {
    const lowering::machine& chip = runtime::backend_of(cpu()).machine();
    const double peak = p.type == lowering::scalar_type::f64 ? chip.flops_f64 : chip.flops_f32;
    return std::max(p.flops() / peak, p.bytes() / chip.bandwidth) * chip.processors /
           static_cast<double>(p.mesh.elements());
}

void zero(void* memory, std::int64_t bytes) {
    constexpr std::int64_t part = 1 << 18;
    in_parallel(bytes, part, [=](std::int64_t first, std::int64_t last) {
        std::memset(static_cast<char*>(memory) + first, 0, static_cast<std::size_t>(last - first));
    });
}

using call_words = std::array<std::uint64_t, 9>;

void apply_to_elements(const problem& p, runtime::cpu_kernel loops, const call_words& words) {
    in_parallel_if_worth(p.mesh.elements(), seconds_of_element(p), loops, words.data());
}

/// Layers of elements in two turns: neighbors add to the same nodes.
void apply_to_global(const problem& p, runtime::cpu_kernel loops, call_words words, void* result) {
    zero(result, static_cast<std::int64_t>(p.unknowns()) * lowering::size_of(p.type));
    const std::int64_t layer = p.mesh.x * p.mesh.y;
    words[6] = static_cast<std::uint64_t>(layer), words[8] = static_cast<std::uint64_t>(p.mesh.nodes(p.order));
    for (std::int64_t parity = 0; parity < 2; ++parity) {
        words[7] = static_cast<std::uint64_t>(parity);
        in_parallel_if_worth((p.mesh.z + 1 - parity) / 2, seconds_of_element(p) * static_cast<double>(layer), loops,
                             words.data());
    }
}

class loops_peer : public operator_peer {
  public:
    loops_peer() { require_native_compiler(); }

    std::string version() const override {
        return fmt::format("sum factorisation by hand over constant sizes, {} -O3 for this machine",
                           native_compiler());
    }

    std::vector<contender> contenders(const problem& p, const std::vector<operand_addresses>& sets) override {
        const auto functions =
            native_functions(native_source(constants_of(p), {"vectors_cpu.hpp", "../fem/operator_loops_cpu.hpp"}), 2);
        const char* const variants[] = {"an element at a time", "elements in lanes"};
        std::vector<contender> all;
        for (std::size_t n = 0; n < 2; ++n)
            all.push_back({"loops", variants[n], [p, sets, loops = functions[n]](std::size_t set) {
                               const operand_addresses& at = sets[set];
                               call_words words{word_of(at[at_B]), word_of(at[at_G]), word_of(at[at_S]),
                                                word_of(at[at_u]), word_of(at[at_v])};
                               if (!p.is_global()) return apply_to_elements(p, loops, words);
                               words[5] = word_of(at[at_l]);
                               apply_to_global(p, loops, words, at[at_v]);
                           }});
        return all;
    }
};

} // namespace

std::unique_ptr<operator_peer> make_loops_peer() { return std::make_unique<loops_peer>(); }

} // namespace ricci::bench::fem
