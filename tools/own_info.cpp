// own_info: makes the access, and says what its entries tell.
#include "tools/own_info.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ricci::tools {
namespace {

using lowering::matrix_role;

/// The batch's indices, in the order in which the matrix has them.
std::vector<std::int32_t> batch_of(const lowering::statement& s) {
    std::vector<std::int32_t> out;
    const auto& matrix = s.accesses[0];
    for (std::int32_t i = 0; i < matrix.position_count; ++i) {
        const auto& p = lowering::position_of(s, matrix, i);
        for (std::int32_t t = 0; t < p.term_count; ++t) {
            const auto label = s.terms[static_cast<std::size_t>(p.first_term + t)].label;
            if (label != s.call.row && label != s.call.column && std::ranges::find(out, label) == out.end())
                out.push_back(label);
        }
    }
    return out;
}

} // namespace

bool has_own_info(const text_statement& s) {
    const auto& call = s.unbound.call;
    return s.is_call() && call.of(matrix_role::info) >= 0 && !call.is_said(matrix_role::info);
}

void add_own_info(text_statement& s, std::list<std::string>& names, std::span<const text_operand> operands) {
    const auto& call = s.unbound.call;
    if (!s.is_call() || !lowering::has_info(call.what) || call.what == lowering::routine::qr ||
        call.of(matrix_role::info) >= 0)
        return;
    auto with = s;
    auto& u = with.unbound;
    lowering::access info;
    info.name = names.emplace_back(fmt::format("info of statement {}", s.number));
    info.type = lowering::scalar_type::i32;
    info.first_position = static_cast<std::int32_t>(u.positions.size());
    for (const auto label : batch_of(u)) {
        lowering::position p;
        p.first_term = static_cast<std::int32_t>(u.terms.size());
        p.term_count = 1;
        u.terms.push_back({label, 1});
        u.positions.push_back(p);
        ++info.position_count;
    }
    u.call.imply(matrix_role::info, static_cast<std::int32_t>(u.accesses.size()));
    u.accesses.push_back(info);
    with.access_columns.push_back(0);
    try {
        create_written(with, u.accesses.size() - 1, operands);
    } catch (const error&) {
        return; // what is wrong is said of what the user wrote
    }
    s = std::move(with);
}

std::string failures(const text_statement& s, const text_operand& info, std::span<const std::int32_t> codes) {
    const auto is_failed = [](std::int32_t code) { return code != 0; };
    const auto count = std::ranges::count_if(codes, is_failed);
    if (count == 0) return {};
    const auto first = std::ranges::find_if(codes, is_failed);
    if (info.extents.empty()) return fmt::format("info is {}", *first);
    std::string where;
    auto at = first - codes.begin();
    const auto& a = s.unbound.accesses[static_cast<std::size_t>(s.unbound.call.of(matrix_role::info))];
    for (std::int32_t i = 0; i < a.position_count; ++i) {
        const auto& p = lowering::position_of(s.unbound, a, i);
        const auto label = s.unbound.terms[static_cast<std::size_t>(p.first_term)].label;
        const auto extent = info.extents[static_cast<std::size_t>(i)];
        where += fmt::format("{}{} = {}", i == 0 ? "" : ", ", s.unbound.labels[static_cast<std::size_t>(label)].name,
                             at % extent);
        at /= extent;
    }
    return fmt::format("info is not 0 for {} of {} matrices, the first is {} at {}", count, codes.size(), *first,
                       where);
}

} // namespace ricci::tools
