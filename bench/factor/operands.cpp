// operands: fills sets of operands, and puts them back; compiles for all problems before.
#include "bench/factor/operands.hpp"

#include "bench/in_parallel.hpp"
#include "bench/interrupt.hpp"
#include "bench/operand_sets.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>
#include <ricci/runtime/host_threads.hpp>
#include <ricci/runtime/run.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ricci::bench::factor {

namespace {

constexpr std::int64_t page = 4096;              ///< what a thread copies at least
constexpr double seconds_of_a_page = page / 4e9; ///< about what one thread reads and writes

/// On a CPU by ricci's threads, which are awake then when the clock starts.
void copy_on_cpu(char* to, const char* from, std::int64_t bytes) {
    in_parallel_if_worth((bytes - 1) / page + 1, seconds_of_a_page, [=](std::int64_t first, std::int64_t last) {
        const std::int64_t begin = first * page, end = std::min(bytes, last * page);
        std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
    });
}

text_program with_text(text_program program, const std::string& text) {
    program.statements = parse_text(text);
    return program;
}

/// All that `p` needs kernels for, on operands that are nowhere: as far apart and as well aligned as large ones are.
void add_statements(const problem& p, device where, std::vector<lowering::statement>& all) {
    constexpr std::uintptr_t nowhere = std::uintptr_t{1} << 46, alignment = std::uintptr_t{2} << 20;
    operand_addresses at;
    std::uintptr_t next = nowhere;
    for (const work_operand& o : memory_of(p).operands) {
        at.push_back(reinterpret_cast<void*>(next));
        next += (static_cast<std::uintptr_t>(o.elements * lowering::size_of(o.type)) / alignment + 1) * alignment;
    }
    const text_program notation = notation_of(p);
    all.push_back(bind_program(notation, at, {}, where).front());
    for (const std::string& text : {text_of_adjustment(p), text_of_factorization(p)})
        if (!text.empty()) all.push_back(bind_program(with_text(notation, text), at, {}, where).front());
}

} // namespace

copies spoiled_by(routine r) {
    const outcome result = facts_of(r).result;
    return {result == outcome::factors, result == outcome::in_place, false};
}

void compile_ahead(const std::vector<problem>& all, device where) {
    std::vector<lowering::statement> statements;
    const auto unless_wrong = [](const auto& f) {
        try {
            f();
        } catch (const error&) { // it is thrown again, and told, where the problem is measured
        }
    };
    for (const problem& p : all) unless_wrong([&] { add_statements(p, where, statements); });
    runtime::on_host_threads(
        statements.size(), 0, [&](std::size_t n) { unless_wrong([&] { runtime::prepare(statements[n]); }); },
        [](std::size_t) { return !interrupted(); });
}

operands::operands(const problem& p, device where, device_tools& tools, bool only_one, device_memory& memory)
    : where_(where), notation_(notation_of(p)) {
    const work w = memory_of(p);
    sets_ = operand_sets(w, where, 0, only_one, memory).addresses();
    const std::string adjustment = text_of_adjustment(p), factorization = text_of_factorization(p);
    const bool has_work = w.operands.size() > at_work;
    for (std::size_t s = 0; s < sets_.size(); ++s) {
        for (std::size_t o = 0; o < w.operands.size(); ++o) {
            const work_operand& operand = w.operands[o];
            if (o == at_original || o == at_given)
                tools.fill(operand.type, sets_[s][o], operand.elements, numbers_of(operand, o, s));
            else if (o == at_vector || o == at_info || o == at_X) // so that all pages are there
                runtime::backend_of(where).zero(
                    sets_[s][o], static_cast<std::size_t>(operand.elements * lowering::size_of(operand.type)));
        }
        if (!adjustment.empty()) run(adjustment, s);
        restore(s, {true, spoiled_by(p.what).sides, has_work});
        if (!factorization.empty()) run(factorization, s);
        statements_.push_back(bind_program(notation_, sets_[s], {}, where).front());
    }
}

void operands::restore(std::size_t set, const copies& which) const {
    if (which.matrices) copy(set, at_A, at_original);
    if (which.sides) copy(set, at_X, at_given);
    if (which.work) copy(set, at_work, at_given);
}

void operands::run(const std::string& text, std::size_t set) const {
    for (const lowering::statement& s : bind_program(with_text(notation_, text), sets_[set], {}, where_))
        runtime::run(s);
}

void operands::copy(std::size_t set, operand_number to, operand_number from) const {
    const text_operand& o = notation_.operands[from];
    const std::int64_t bytes = o.strides.back() * o.extents.back() * lowering::size_of(o.type);
    if (where_.is_cpu())
        copy_on_cpu(static_cast<char*>(sets_[set][to]), static_cast<const char*>(sets_[set][from]), bytes);
    else
        runtime::copy(where_, sets_[set][to], where_, sets_[set][from], static_cast<std::size_t>(bytes));
}

} // namespace ricci::bench::factor
