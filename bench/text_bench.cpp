// text_bench: statements given as text.
#include "bench/text_bench.hpp"

#include "bench/statement_product.hpp"

#include <ricci/lowering/cost_model.hpp>
#include <ricci/lowering/error.hpp>
#include <ricci/lowering/lower.hpp>
#include <ricci/lowering/print.hpp>
#include <ricci/runtime/backend.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace ricci::bench {

namespace {

/// The tensors of one statement, each once; the left one is the last.
std::vector<text_operand> operands_of(const text_statement& s, const std::vector<text_operand>& all) {
    std::vector<text_operand> used;
    const auto& accesses = s.unbound.accesses;
    for (std::size_t n = accesses.size(); n-- > 0;) {
        const auto is_named = [&](const text_operand& o) { return o.name == accesses[n].name; };
        if (std::any_of(used.begin(), used.end(), is_named)) continue;
        const auto found = std::find_if(all.begin(), all.end(), is_named);
        if (found == all.end()) throw error(fmt::format("there is no tensor '{}'", accesses[n].name));
        used.push_back(*found);
    }
    return used;
}

std::int64_t elements_of(const text_operand& o) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : o.extents) elements *= extent;
    return elements;
}

/// Random entries of an index table, valid wherever it stands in `s`, and all different where there are enough
/// values.
std::vector<std::byte> table_contents(const text_operand& o, const lowering::statement& s) {
    std::int64_t extent = std::numeric_limits<std::int64_t>::max();
    for (const auto& p : s.positions)
        if (p.is_gathered() && s.accesses[static_cast<std::size_t>(p.table)].name == o.name)
            extent = std::min(extent, p.extent);
    std::mt19937_64 random(1);
    std::vector<std::int64_t> entries(static_cast<std::size_t>(elements_of(o)));
    if (extent >= elements_of(o)) {
        std::vector<std::int64_t> all(static_cast<std::size_t>(extent));
        std::iota(all.begin(), all.end(), 0);
        std::shuffle(all.begin(), all.end(), random);
        std::copy_n(all.begin(), entries.size(), entries.begin());
    } else {
        for (auto& e : entries) e = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent));
    }
    const auto size = static_cast<std::size_t>(lowering::size_of(o.type));
    std::vector<std::byte> out(entries.size() * size);
    for (std::size_t e = 0; e < entries.size(); ++e) {
        const auto narrow = static_cast<std::int32_t>(entries[e]);
        std::memcpy(out.data() + e * size,
                    o.type == lowering::scalar_type::i32 ? static_cast<const void*>(&narrow) : &entries[e], size);
    }
    return out;
}

lowering::statement bind_at(const text_statement& s, std::vector<text_operand> operands, const std::vector<void*>& at,
                            device where) {
    for (std::size_t o = 0; o < operands.size(); ++o) {
        operands[o].data = at[o];
        operands[o].device = where.code();
    }
    return bind_text(s, operands);
}

/// Addresses where nothing is, apart from each other: enough to lower a statement.
std::vector<void*> somewhere(const std::vector<text_operand>& operands) {
    constexpr std::int64_t alignment = 256;
    std::vector<void*> at;
    std::int64_t address = alignment;
    for (const text_operand& o : operands) {
        at.push_back(reinterpret_cast<void*>(address));
        address += (elements_of(o) * lowering::size_of(o.type) / alignment + 2) * alignment;
    }
    return at;
}

/// The first type that is read, and the left side's where it differs.
std::string types_of(const text_statement& s, const std::vector<text_operand>& operands) {
    const auto type = [&](std::string_view name) {
        return std::find_if(operands.begin(), operands.end(), [&](const auto& o) { return o.name == name; })->type;
    };
    const auto& accesses = s.unbound.accesses;
    const auto left = type(accesses[0].name);
    auto read = left;
    for (std::size_t n = accesses.size(); n-- > 1;)
        if (const auto t = type(accesses[n].name); !lowering::is_index(t)) read = t;
    return to_string({read, left});
}

struct prepared {
    row r;
    work w;
};

prepared prepare(const text_statement& s, const std::vector<text_operand>& all, std::int64_t offset, device where) {
    prepared out;
    const auto operands = operands_of(s, all);
    const auto& machine = runtime::backend_of(where).machine();
    const lowering::statement bound = bind_at(s, operands, somewhere(operands), where);
    const auto plan = lowering::lower(bound, machine);
    for (const auto& step : plan.steps) {
        const auto estimate = lowering::cost_model(step, machine);
        const auto slices = step.group < 0 ? 1 : plan.groups[static_cast<std::size_t>(step.group)].count;
        out.w.bytes += estimate.bytes, out.w.flops += estimate.flops * static_cast<double>(slices);
    }
    if (plan.steps.size() > 1) { // what steps hand each other does not count
        out.w.bytes = 0;
        for (const text_operand& o : operands) {
            const bool adds = o.name == s.left() && s.unbound.op != lowering::assignment::assign;
            out.w.bytes += static_cast<double>((adds ? 2 : 1) * elements_of(o) * lowering::size_of(o.type));
        }
    }
    for (const text_operand& o : operands) {
        out.w.operands.push_back({o.type, elements_of(o), 1, o.name == s.left(), {}});
        if (lowering::is_index(o.type))
            out.w.operands.back().contents = [contents = table_contents(o, bound)](const std::vector<void*>&) {
                return contents;
            };
    }
    out.w.bind = [s, operands](const std::vector<void*>& at, device d) {
        return std::vector{bind_at(s, operands, at, d)};
    };
    out.r.kind = "statement";
    out.r.statement = lowering::to_string(bound);
    out.r.types = types_of(s, operands);
    out.r.offset = offset;
    out.r.accumulate = s.unbound.op != lowering::assignment::assign;
    if (const auto found = product_of(bound, machine)) {
        work_product as{found->p, {}, found->offset};
        for (std::size_t n = 0; n < 3; ++n) {
            const std::string_view name = bound.accesses[static_cast<std::size_t>(found->access[n])].name;
            as.operand[n] = static_cast<std::size_t>(
                std::find_if(operands.begin(), operands.end(), [&](const auto& o) { return o.name == name; }) -
                operands.begin());
            out.w.operands[as.operand[n]].size = n == 2 ? 1 : operand_size(found->p.k);
        }
        out.w.as_product = as;
        out.r.size = {found->p.m, found->p.n, found->p.k};
        out.r.batch = found->p.batch;
    }
    return out;
}

} // namespace

int run_texts(const std::vector<text_statement>& statements, const std::vector<text_operand>& operands,
              std::int64_t offset, const session_options& options) {
    const device where = options.device.empty() ? default_device() : parse_device(options.device);
    std::vector<prepared> all;
    for (const text_statement& s : statements) all.push_back(prepare(s, operands, offset, where));
    session run(options);
    for (const prepared& each : all)
        if (!run.run(each.r, each.w)) break;
    return run.finish();
}

} // namespace ricci::bench
