// program: a text program together with the tensors that the command line gives it.
#pragma once

#include <ricci/dsl/text.hpp>
#include <ricci/lowering/error.hpp>
#include <ricci/lowering/statement.hpp>

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::tools {

/// One NAME=VALUE of the command line.
struct argument {
    std::string name, value;
};

/// Reads NAME=VALUE words. Throws ricci::error for what is none, a name that cannot name a tensor, a name given
/// twice.
std::vector<argument> parse_arguments(const std::vector<std::string>& words, std::string_view example);

/// What is known of a name before the program: its tensor without data; nothing if its file is not there yet.
struct given {
    argument source;
    std::optional<text_operand> operand;
};

/// A program whose every name has type and extents. Nothing has data yet.
struct resolved_program {
    std::vector<text_statement> statements;
    std::vector<text_operand> operands; ///< each name once, in order of use
    std::set<std::string> created;      ///< names that the program makes, zero at first
    std::set<std::string> written;      ///< names that stand on a left side
    /// Of those created, what only statements of the program see, with a number for each: they need no memory.
    std::map<std::string, std::int32_t> locals;
    std::list<std::string> own_names; ///< of tensors that the text does not name: own_info.hpp
};

/// What could stand behind NAME= for a tensor of `rank` axes.
using value_example = std::string (*)(int rank, bool has_integers);

/// Parses `text` and finds its tensors. Throws ricci::error for a name that is neither given nor made by an earlier
/// statement, and for a given name that no statement uses. `watched`: calls without info get one, own_info.hpp.
resolved_program resolve(std::string_view text, const std::vector<given>& givens, value_example example,
                         bool watched = false);

/// Makes locals of the names that the program creates, later statements read, and `given` does not have.
void find_locals(resolved_program& program, const std::set<std::string>& given);

/// Whether a statement behind the one that makes `name` reads it.
bool is_read_later(const resolved_program& program, const text_statement& made, std::string_view name);

/// `s` with the memory of its operands; of locals, which have none, with their numbers.
lowering::statement bind(const text_statement& s, const resolved_program& program);

/// `e`, said of `s`: with its number, where the program has several statements and the message has no number yet.
error numbered(const error& e, const text_statement& s, const resolved_program& program);

/// Bytes of a dense tensor's elements.
std::int64_t bytes_of(const text_operand& operand);

} // namespace ricci::tools
