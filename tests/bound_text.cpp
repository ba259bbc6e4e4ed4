// bound_text: a statement from text over tensors that are never touched.
#include "tests/bound_text.hpp"

#include "lowering/join_statements.hpp"
#include "lowering/lower_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>

namespace ricci::tests {
namespace {

text_operand parse_operand(const std::string& word, const std::vector<text_operand>& before) {
    text_operand out;
    const auto equals = word.find('='), open = word.find('['), at = word.find('@');
    out.name = word.substr(0, std::min(equals, at));
    const auto type = lowering::element_type_named(word.substr(equals + 1, open - equals - 1));
    if (!type) throw std::logic_error("no such type in " + word);
    out.type = *type;
    std::istringstream list(word.substr(open + 1, word.size() - open - 2));
    std::int64_t dense = 1;
    for (std::string item; std::getline(list, item, ',');) {
        const auto colon = item.find(':');
        out.extents.push_back(std::stoll(item));
        out.strides.push_back(colon == std::string::npos ? dense : std::stoll(item.substr(colon + 1)));
        if (__builtin_mul_overflow(dense, out.extents.back(), &dense)) dense = 1; // for tests of what is too large
    }
    out.data = reinterpret_cast<void*>((before.size() + 1) << 40);
    if (at != std::string::npos) {
        const auto plus = word.find('+', at);
        for (const auto& other : before)
            if (other.name == word.substr(at + 1, std::min(plus, equals) - at - 1))
                out.data = static_cast<char*>(other.data) + (plus < equals ? std::stoll(word.substr(plus + 1)) : 0);
    }
    return out;
}

} // namespace

std::vector<text_operand> parse_operands(std::string_view operands) {
    std::vector<text_operand> tensors;
    std::istringstream words{std::string(operands)};
    for (std::string word; words >> word;) tensors.push_back(parse_operand(word, tensors));
    return tensors;
}

lowering::statement bound_text(std::string_view statement, std::string_view operands) {
    return bind_text(parse_text(statement).at(0), parse_operands(operands));
}

lowering::machine some_cpu() {
    lowering::machine m;
    m.name = "a CPU";
    m.processors = 8;
    m.has_blas = true;
    return m;
}

lowering::plan lowered_program(const std::vector<std::string>& statements, std::string_view operands,
                               const lowering::machine& chip, const std::vector<std::string>& locals,
                               std::vector<lowering::stage>* trace) {
    const auto declared = parse_operands(operands);
    std::vector<lowering::statement> program;
    for (const auto& text : statements)
        for (const auto& one : parse_text(text)) program.push_back(bind_text(one, declared));
    for (auto& s : program)
        for (auto& a : s.accesses)
            if (const auto local = std::find(locals.begin(), locals.end(), a.name); local != locals.end())
                a.local = static_cast<std::int32_t>(local - locals.begin()), a.data = nullptr;
    std::vector<std::int32_t> numbers;
    lowering::place_locals(program, numbers);
    lowering::shared_memory_of_accesses shared;
    lowering::find_shared_memory(program, shared);
    return lowering::lower_program(program, numbers, shared, chip, {}, trace);
}

lowering::machine some_gpu() {
    lowering::machine m;
    m.kind = lowering::target::cuda;
    m.name = "a GPU";
    m.architecture = "sm_90";
    m.processors = 132;
    m.shared_bytes = 227 << 10;
    m.memory_bytes = 80LL << 30;
    m.bandwidth = 3e12;
    m.flops_f64 = 34e12;
    m.flops_f32 = 67e12;
    m.launch_seconds = 3e-6;
    m.has_blas = true;
    return m;
}

} // namespace ricci::tests
