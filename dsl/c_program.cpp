// c_program: a text bound to the operands that the C interface was given.
#include "dsl/c_program.hpp"

#include "lowering/error.hpp"
#include "runtime/half.hpp"
#include "runtime/math_mode.hpp"
#include "runtime/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace ricci::dsl {

namespace {

template <class T>
T read_as(const void* data) {
    T value;
    std::memcpy(&value, data, sizeof value);
    return value;
}

lowering::scalar read_number(lowering::scalar_type type, const void* data) {
    using enum lowering::scalar_type;
    const auto parts = [&]<class T>(T) {
        const T* const number = static_cast<const T*>(data);
        return lowering::scalar{read_as<T>(number), read_as<T>(number + 1), true};
    };
    switch (type) {
    case f16:
        return {read_as<half>(data)};
    case bf16:
        return {read_as<bfloat16>(data)};
    case f32:
        return {read_as<float>(data)};
    case c64:
        return parts(float{});
    case c128:
        return parts(double{});
    default:
        return {read_as<double>(data)};
    }
}

/// Access n, which is a number's, becomes a scalar; the number of the scalar.
std::size_t replace_by_scalar(text_statement& s, std::size_t n, bool complex) {
    auto& unbound = s.unbound;
    const auto removed = static_cast<std::int32_t>(n);
    for (auto& node : unbound.nodes) {
        if (node.kind != lowering::operation::access) continue;
        if (node.a == removed)
            node = {lowering::operation::scalar, static_cast<std::int32_t>(unbound.scalars.size())};
        else if (node.a > removed)
            --node.a;
    }
    for (auto& p : unbound.positions)
        if (p.table > removed) --p.table;
    unbound.accesses.erase(unbound.accesses.begin() + removed);
    s.access_columns.erase(s.access_columns.begin() + removed);
    unbound.scalars.push_back({0, 0, complex});
    return unbound.scalars.size() - 1;
}

} // namespace

c_program::c_program(std::string_view text, std::vector<c_operand> operands) : operands_(std::move(operands)) {
    for (std::size_t n = 0; n < operands_.size(); ++n)
        if (!operands_[n].is_number) tensors_.push_back(operands_[n].tensor), operand_of_.push_back(n);
    auto statements = parse_text(text);
    for (auto& s : statements) take_numbers(s, statements_.emplace_back());
    for (auto& s : statements) resolve(s, statements);
    for (std::size_t n = 0; n < statements.size(); ++n) bind(statements[n], statements_[n]);
    refuse_unused();
}

void c_program::take_numbers(text_statement& s, bound_statement& out) const {
    // From behind, so that the numbers of what is left to do stay.
    for (std::size_t n = s.unbound.accesses.size(); n-- > 0;) {
        const auto& a = s.unbound.accesses[n];
        const auto found = std::find_if(operands_.begin(), operands_.end(),
                                        [&](const auto& o) { return o.is_number && o.tensor.name == a.name; });
        if (found == operands_.end()) continue;
        if (n == 0 || s.is_call() || a.position_count > 0 || s.is_table(n))
            fail_in_text(s.source, s.number, s.access_columns[n],
                         fmt::format("'{}' is a number (RICCI_NUMBER): it {}", a.name,
                                     s.is_call() ? "is no operand of a call"
                                     : n == 0    ? "cannot be assigned to"
                                                 : "has no positions"));
        const auto scalar = replace_by_scalar(s, n, lowering::is_complex(found->tensor.type));
        out.scalars.push_back({scalar, static_cast<std::size_t>(found - operands_.begin())});
    }
}

/// Makes an intermediate of the left side where it is no operand, and refuses other names that are none.
void c_program::resolve(text_statement& s, const std::vector<text_statement>& all) {
    const auto known = [&](std::string_view name) {
        return std::any_of(tensors_.begin(), tensors_.end(), [&](const auto& t) { return t.name == name; });
    };
    for (std::size_t n = 0; n < s.unbound.accesses.size(); ++n)
        if (const auto name = s.unbound.accesses[n].name; s.reads(n) && !known(name)) {
            const auto call = s.mistaken_call(n);
            fail_in_text(s.source, s.number, s.access_columns[n],
                         fmt::format("'{}' is none of the operands{}{}", name, s.hint_about(n),
                                     call.empty() ? "" : ", and " + call));
        }
    for (std::size_t n = 0; n < s.unbound.accesses.size(); ++n) {
        const auto name = s.unbound.accesses[n].name;
        if (!s.writes(n) || known(name)) continue;
        const bool read_later = std::any_of(all.begin() + s.number, all.end(),
                                            [&](const text_statement& later) { return later.reads(name); });
        if (!read_later)
            fail_in_text(s.source, s.number, s.access_columns[n],
                         fmt::format("'{}' is none of the operands, and no later statement reads it", name));
        auto made = create_written(s, n, tensors_);
        made.device = tensors_.empty() ? 0 : tensors_.front().device;
        tensors_.push_back(std::move(made));
        locals_.push_back(runtime::new_local());
    }
}

void c_program::bind(const text_statement& s, bound_statement& out) const {
    out.statement = bind_text(s, tensors_);
    for (std::size_t n = 0; n < out.statement.accesses.size(); ++n) {
        auto& a = out.statement.accesses[n];
        const auto found =
            std::find_if(tensors_.begin(), tensors_.end(), [&](const auto& t) { return t.name == a.name; });
        const auto tensor = static_cast<std::size_t>(found - tensors_.begin());
        if (tensor < operand_of_.size())
            out.accesses.push_back({n, operand_of_[tensor]});
        else
            a.local = locals_[tensor - operand_of_.size()];
    }
}

void c_program::refuse_unused() const {
    std::vector<char> used(operands_.size(), 0);
    for (const auto& s : statements_) {
        for (const auto& p : s.accesses) used[p.operand] = 1;
        for (const auto& p : s.scalars) used[p.operand] = 1;
    }
    const auto unused = std::find(used.begin(), used.end(), 0);
    if (unused != used.end())
        throw error(fmt::format("'{}' is among the operands, but no statement uses it",
                                operands_[static_cast<std::size_t>(unused - used.begin())].tensor.name));
}

const c_operand* c_program::number_without_data(void* const* data) const {
    for (std::size_t n = 0; n < operands_.size(); ++n)
        if (operands_[n].is_number && (data != nullptr ? data[n] : operands_[n].tensor.data) == nullptr)
            return &operands_[n];
    return nullptr;
}

void c_program::write_data(const bound_statement& s, void* const* data, lowering::statement& out) const {
    const auto at = [&](std::size_t operand) {
        return data != nullptr ? data[operand] : operands_[operand].tensor.data;
    };
    for (const auto& p : s.accesses) out.accesses[p.number].data = at(p.operand);
    for (const auto& p : s.scalars)
        if (const void* const number = at(p.operand))
            out.scalars[p.number] = read_number(operands_[p.operand].tensor.type, number);
    out.math = runtime::chosen_math();
}

std::vector<lowering::statement> c_program::with_some_memory() const {
    // Addresses that no memory has, apart by more than any tensor is long; nothing is read there.
    const auto some_memory = [](std::size_t number) {
        return reinterpret_cast<void*>((std::uintptr_t{1} << 60) + (static_cast<std::uintptr_t>(number) << 44));
    };
    std::vector<lowering::statement> out;
    for (const auto& s : statements_) {
        out.push_back(s.statement);
        write_data(s, nullptr, out.back());
        for (const auto& p : s.accesses)
            if (auto& a = out.back().accesses[p.number]; a.data == nullptr) a.data = some_memory(p.operand);
    }
    return out;
}

void c_program::prepare() const { runtime::prepare(with_some_memory()); }

std::string c_program::explain() const { return runtime::explain(with_some_memory()); }

void c_program::run(void* const* data) const {
    if (statements_.size() == 1) {
        static thread_local lowering::statement filled; // its vectors keep their memory
        filled = statements_[0].statement;
        write_data(statements_[0], data, filled);
        return runtime::run(filled);
    }
    std::vector<lowering::statement> all;
    for (const auto& s : statements_) {
        all.push_back(s.statement);
        write_data(s, data, all.back());
    }
    runtime::run_program(all);
}

} // namespace ricci::dsl
