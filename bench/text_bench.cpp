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
    const auto left = type(accesses[0].name), read = accesses.size() > 1 ? type(accesses[1].name) : left;
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
    for (const auto& step : lowering::lower(bound, machine).steps) {
        const auto estimate = lowering::cost_model(step, machine);
        out.w.bytes += estimate.bytes, out.w.flops += estimate.flops;
    }
    for (const text_operand& o : operands) out.w.operands.push_back({o.type, elements_of(o), 1, o.name == s.left()});
    out.w.bind = [s, operands](const std::vector<void*>& at, device d) { return bind_at(s, operands, at, d); };
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
