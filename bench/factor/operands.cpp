// operands: fills sets of operands, and puts them back.
#include "bench/factor/operands.hpp"

#include "bench/in_parallel.hpp"
#include "bench/operand_sets.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>
#include <ricci/runtime/run.hpp>

#include <fmt/format.h>

#include <algorithm>
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

} // namespace

operands::operands(const problem& p, device where, device_tools& tools, bool only_one, device_memory& memory)
    : where_(where), notation_(notation_of(p)) {
    const work w = memory_of(p);
    sets_ = operand_sets(w, where, 0, only_one, memory).addresses();
    const std::string adjustment = text_of_adjustment(p), factorization = text_of_factorization(p);
    for (std::size_t s = 0; s < sets_.size(); ++s) {
        for (const std::size_t o : {at_original, at_given})
            if (o < sets_[s].size())
                tools.fill(w.operands[o].type, sets_[s][o], w.operands[o].elements, numbers_of(w.operands[o], o, s));
        if (!adjustment.empty()) run(adjustment, s);
        restore_matrices(s); // also so that all pages are there
        if (!factorization.empty()) run(factorization, s);
        if (solves(p.what)) restore_sides(s);
        statements_.push_back(bind_program(notation_, sets_[s], {}, where).front());
    }
}

void operands::run(const std::string& text, std::size_t set) const {
    text_program program = notation_;
    program.statements = parse_text(text);
    for (const lowering::statement& s : bind_program(program, sets_[set], {}, where_)) runtime::run(s);
}

void operands::copy(std::size_t set, operand_number to, operand_number from) const {
    const text_operand& o = notation_.operands[from];
    const std::int64_t bytes = elements_of(o) * lowering::size_of(o.type);
    if (where_.is_cpu())
        copy_on_cpu(static_cast<char*>(sets_[set][to]), static_cast<const char*>(sets_[set][from]), bytes);
    else
        runtime::copy(where_, sets_[set][to], where_, sets_[set][from], static_cast<std::size_t>(bytes));
}

} // namespace ricci::bench::factor
