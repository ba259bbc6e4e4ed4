// explain: every stage of a statement as text.
#include "lowering/chain_shape.hpp"
#include "lowering/cost_model.hpp"
#include "lowering/expected_seconds.hpp"
#include "lowering/families.hpp"
#include "lowering/lower.hpp"
#include "lowering/matrix_sizes.hpp"
#include "lowering/print.hpp"
#include "lowering/tile_candidates.hpp"
#include "runtime/executable.hpp"
#include "runtime/kernel_cache.hpp"
#include "runtime/lower_for.hpp"
#include "runtime/program_cache.hpp"
#include "runtime/run.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ricci::runtime {
namespace {

using namespace lowering;

/// 1500 -> "1.5 k".
std::string with_unit(double value, std::string_view unit) {
    constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P"};
    std::size_t prefix = 0;
    while (value >= 1000 && prefix + 1 < std::size(prefixes)) value /= 1000, ++prefix;
    return fmt::format("{:.4g} {}{}", value, prefixes[prefix], unit);
}

/// 1.5e-5 -> "15 us".
std::string with_time_unit(double seconds) {
    if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
    return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

std::string indented(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto end = text.find('\n');
        out += fmt::format("    {}\n", text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return out;
}

std::string_view describe(cache_hit hit) {
    return hit == cache_hit::memory ? "cache hit (memory)"
           : hit == cache_hit::disk ? "cache hit (disk)"
                                    : "cache miss: to be compiled";
}

std::string describe_sizes(const step& st) {
    if (st.chain >= 0) return "";
    if (st.matrices.task != matrix_task::none) {
        const auto s = matrix_sizes_of(st);
        const auto sides = s.r > 0 ? fmt::format(" r={}", s.r) : std::string();
        return fmt::format(" m={} n={}{} batch={}", s.m, s.n, sides, s.matrices);
    }
    if (st.classes.empty()) return "";
    return fmt::format(" m={} n={} k={} batch={}", extent_of(st, axis_class::m), extent_of(st, axis_class::n),
                       extent_of(st, axis_class::k), extent_of(st, axis_class::batch));
}

/// " of 3 phases over e, 16 elements at a time".
std::string describe(const chain& c, const machine& chip) {
    const auto at_once = chip.kind == target::cpu ? chain_lanes(c, chip) : c.elements_of_block;
    return fmt::format(" of {} phase{} over {}, {} element{} at a time", c.phases.size(),
                       c.phases.size() == 1 ? "" : "s", c.axis, at_once, at_once == 1 ? "" : "s");
}

/// A roofline counts matrices whole, as the bandwidth fractions of factorizations do, also where a routine needs only
/// one of their triangles.
std::string_view describe_triangles(const step& st) {
    const auto& w = st.matrices;
    const bool needs_one =
        w.task != matrix_task::none && (w.method == matrix_method::cholesky || w.method == matrix_method::triangular);
    return st.chain < 0 && needs_one ? " with both triangles of the matrices" : "";
}

/// Of what a step's kernel does: the whole chain that the step begins.
estimate cost_of(const plan& p, std::size_t n, const machine& chip) {
    const auto& st = p.steps[n];
    if (st.chain < 0) return cost_model(st, chip);
    const auto& c = p.chains[static_cast<std::size_t>(st.chain)];
    const auto elements = static_cast<double>(c.elements);
    return {elements * c.bytes, elements * c.flops, chain_seconds(c, chip)};
}

/// Stages, then each kernel with what it costs and whether it is in the cache.
std::string describe(const plan& p, const std::vector<stage>& trace, device d, backend& b) {
    std::string text;
    for (const auto& stage : trace) text += fmt::format("  {}:\n{}", stage.pass, indented(stage.dump));
    text += fmt::format("  on {}, {}:\n", d.name(), b.machine().name);
    for (std::size_t n = 0; n < p.steps.size(); ++n) {
        const auto& st = p.steps[n];
        if (!begins_kernel(p, n)) continue;
        const auto cost = cost_of(p, n, b.machine());
        if (!executable::has_work(st)) {
            text += fmt::format("    {}{}: no elements, nothing to do\n", name_of(st.shape), describe_sizes(st));
            continue;
        }
        text += fmt::format("    {}{}: kernel {}", name_of(st.shape), describe_sizes(st), name_of(st.kernel));
        if (st.chain >= 0) text += describe(p.chains[static_cast<std::size_t>(st.chain)], b.machine());
        if (st.group >= 0) {
            const auto& group = p.groups[static_cast<std::size_t>(st.group)];
            text +=
                fmt::format(" for each of {} slice{} of {}", group.count, group.count == 1 ? "" : "s", group.axis);
        }
        if (st.math == math_mode::tf32 && (st.kernel == family::library || st.batched.core == batched_core::mma))
            text += " in TF32";
        if (st.kernel != family::library) {
            if (!b.machine().has_compiler) {
                text += " by the built-in interpreter";
            } else {
                const auto request = make_kernel_of(p, n, b.machine());
                text += fmt::format(", {} block{}", request.shape.grid, request.shape.grid == 1 ? "" : "s");
                if (b.machine().kind == target::cuda)
                    text += fmt::format(" of {} threads, {} bytes of shared memory", request.shape.threads,
                                        request.shape.shared_bytes);
                if (st.dynamic_extents) text += ", extents as arguments since its sizes keep changing";
                const bool is_cuda = b.machine().kind == target::cuda;
                if (has_tile(st, b.machine()) || (is_cuda && (st.chain >= 0 || st.kernel == family::winograd)))
                    text += fmt::format(", tile {} by {}", to_string(st.batched, st, b.machine().kind),
                                        name_of(st.origin));
                text += fmt::format(", {}", describe(find_kernel(b, request.source, request.entry)));
                for (const auto& kernel : request.behind)
                    text += fmt::format("; then {}, {} block{} of {} threads, {} bytes of shared memory, {}",
                                        kernel.entry, kernel.shape.grid, kernel.shape.grid == 1 ? "" : "s",
                                        kernel.shape.threads, kernel.shape.shared_bytes,
                                        describe(find_kernel(b, kernel.source, kernel.entry)));
            }
        }
        const bool is_fill =
            std::ranges::any_of(p.steps, [&](const step& s) { return s.fill == static_cast<std::int32_t>(n); });
        text += fmt::format("\n      {}{}, {}, roofline {}{}\n", with_unit(cost.bytes, "B"), describe_triangles(st),
                            with_unit(cost.flops, "flop"), with_time_unit(cost.seconds),
                            is_fill ? "; nothing of it where what adds starts from zero instead" : "");
    }
    if (p.steps.empty())
        text += "    nothing to do\n";
    else
        text += fmt::format("    expected in all: {}\n", with_time_unit(expected_seconds(p, b.machine())));
    return text;
}

} // namespace

std::string explain(const statement& s) {
    const device d(s.accesses.empty() ? 0 : s.accesses[0].device);
    auto& b = backend_of(d);
    std::vector<stage> trace;
    const auto p = lower_for(s, b, &trace, occasion::look);
    return fmt::format("statement: {}\n", to_string(s)) + describe(p, trace, d, b);
}

std::string explain(const std::vector<statement>& statements) {
    std::string text;
    if (placed_program program; program.take(statements)) {
        std::vector<stage> trace;
        const auto p = plan_of(program, &trace);
        const device d(statements[0].accesses[0].device);
        for (const auto& s : statements) text += fmt::format("statement: {}\n", to_string(s));
        if (is_better_as_one(p, backend_of(d).machine())) return text + describe(p, trace, d, backend_of(d));
        text += "  as one program:\n";
        for (const auto& note : p.notes) text += fmt::format("    {}\n", note);
        text += fmt::format("    {} each statement is run by itself\n", p.notes.empty() ? "nothing to fuse:" : "so");
    }
    for (const auto& s : statements) text += explain(s);
    return text;
}

} // namespace ricci::runtime
