// program: resolves the names of a text program.
#include "tools/program.hpp"

#include "tools/own_info.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/run.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace ricci::tools {

std::vector<argument> parse_arguments(const std::vector<std::string>& words, std::string_view example) {
    std::vector<argument> arguments;
    for (const auto& word : words) {
        const std::size_t equals = word.find('=');
        if (equals == word.npos || equals + 1 == word.size())
            throw error(fmt::format("'{}' gives no tensor: write NAME={}", word, example));
        const std::string name = word.substr(0, equals);
        if (!is_text_name(name)) throw error(fmt::format("'{}' in '{}' cannot name a tensor", name, word));
        if (std::any_of(arguments.begin(), arguments.end(), [&](const auto& a) { return a.name == name; }))
            throw error(fmt::format("'{}' is given twice", name));
        arguments.push_back({name, word.substr(equals + 1)});
    }
    return arguments;
}

resolved_program resolve(std::string_view text, const std::vector<given>& givens, value_example example,
                         bool watched) {
    resolved_program program;
    program.statements = parse_text(text);
    const auto known = [&](std::string_view name) {
        return std::any_of(program.operands.begin(), program.operands.end(),
                           [&](const auto& o) { return o.name == name; });
    };
    const auto find_given = [&](std::string_view name) {
        return std::find_if(givens.begin(), givens.end(), [&](const auto& g) { return g.source.name == name; });
    };
    for (auto& s : program.statements) {
        const auto& accesses = s.unbound.accesses;
        for (std::size_t n = 0; n < accesses.size(); ++n) {
            const std::string_view name = accesses[n].name;
            if (!s.reads(n) || known(name)) continue;
            const auto found = find_given(name);
            if (found == givens.end()) {
                const auto call = s.mistaken_call(n);
                fail_in_text(s.source, s.number, s.access_columns[n],
                             call.empty()
                                 ? fmt::format("'{}' is not given: add {}={}{}", name, name,
                                               example(accesses[n].position_count, s.is_of_integers(n)), s.hint_about(n))
                                 : fmt::format("no tensor '{}' is given, and {}", name, call));
            }
            if (!found->operand)
                fail_in_text(s.source, s.number, s.access_columns[n],
                             fmt::format("'{}' is read here, but there is no file {}", name, found->source.value));
            program.operands.push_back(*found->operand);
        }
        if (watched) add_own_info(s, program.own_names, program.operands);
        for (std::size_t n = 0; n < accesses.size(); ++n) {
            if (!s.writes(n)) continue;
            const std::string name(accesses[n].name);
            const bool is_own =
                has_own_info(s) && s.unbound.call.of(lowering::matrix_role::info) == static_cast<int>(n);
            if (!is_own) program.written.insert(name);
            if (known(name)) continue;
            if (const auto found = find_given(name); found != givens.end() && found->operand) {
                program.operands.push_back(*found->operand);
            } else {
                program.operands.push_back(create_written(s, n, program.operands));
                program.created.insert(name);
            }
        }
    }
    for (const auto& g : givens)
        if (!known(g.source.name)) throw error(fmt::format("'{}' is given, but no statement uses it", g.source.name));
    return program;
}

bool is_read_later(const resolved_program& program, const text_statement& made, std::string_view name) {
    return std::any_of(program.statements.begin(), program.statements.end(),
                       [&](const text_statement& s) { return s.number > made.number && s.reads(name); });
}

void find_locals(resolved_program& program, const std::set<std::string>& given) {
    for (const auto& s : program.statements)
        for (const auto& a : s.unbound.accesses)
            if (const std::string name(a.name); s.writes(name) && program.created.count(name) > 0 &&
                                                given.count(name) == 0 && is_read_later(program, s, name))
                program.locals.try_emplace(name, runtime::new_local());
}

lowering::statement bind(const text_statement& s, const resolved_program& program) {
    auto bound = bind_text(s, program.operands);
    for (auto& a : bound.accesses)
        if (const auto found = program.locals.find(std::string(a.name)); found != program.locals.end())
            a.local = found->second;
    return bound;
}

error numbered(const error& e, const text_statement& s, const resolved_program& program) {
    const bool needed = program.statements.size() > 1 && e.blame() == blame::statement &&
                        !std::string_view(e.what()).starts_with("statement ");
    return needed ? error(fmt::format("statement {}: {}", s.number, e.what())) : e;
}

std::int64_t bytes_of(const text_operand& operand) {
    std::int64_t bytes = lowering::size_of(operand.type);
    for (const std::int64_t extent : operand.extents) bytes *= extent;
    return bytes;
}

} // namespace ricci::tools
