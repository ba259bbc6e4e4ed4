// text_names: names that mean something in a text, and what is said of those that look as if they did.
#include "dsl/text_names.hpp"

#include "dsl/text.hpp"
#include "dsl/text_scanner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ricci {
namespace dsl {
namespace {

using lowering::call_option;
using lowering::operation;
using lowering::routine;

constexpr std::pair<std::string_view, operation> functions[] = {
    {"conj", operation::conjugate}, {"relu", operation::relu}, {"exp", operation::exp}, {"sqrt", operation::sqrt},
    {"abs", operation::abs},        {"min", operation::min},   {"max", operation::max}};

constexpr std::string_view missing_functions[] = {
    "acos", "acosh", "asin",  "asinh", "atan",  "atan2", "atanh", "cbrt",  "ceil",  "cos",
    "cosh", "erf",   "erfc",  "exp2",  "expm1", "floor", "log",   "log10", "log1p", "log2",
    "mod",  "pow",   "round", "sign",  "sin",   "sinh",  "sum",   "tan",   "tanh",  "trunc"};

std::vector<std::string_view> all_routines() {
    std::vector<std::string_view> out;
    for (auto r = static_cast<int>(routine::cholesky); r <= static_cast<int>(routine::form_q); ++r)
        out.push_back(name_of(static_cast<routine>(r)));
    return out;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// How many letters to leave out, put in, replace or exchange with the next one make one name the other; capitals
/// count as small letters.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> to(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    const auto same = [&](std::size_t i, std::size_t j) { return lower(a[i]) == lower(b[j]); };
    for (std::size_t i = 0; i <= a.size(); ++i)
        for (std::size_t j = 0; j <= b.size(); ++j) {
            auto& here = to[i][j];
            if (i == 0 || j == 0) {
                here = i + j;
                continue;
            }
            here = std::min({to[i - 1][j] + 1, to[i][j - 1] + 1, to[i - 1][j - 1] + (same(i - 1, j - 1) ? 0 : 1)});
            if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1))
                here = std::min(here, to[i - 2][j - 2] + 1);
        }
    return to[a.size()][b.size()];
}

/// Those that differ by the fewest letters, one in three at most; if there are none, those that the name is a part of
/// or that are a part of it, parts of one or two letters left out.
std::vector<std::string_view> routines_near(std::string_view name) {
    constexpr std::size_t longest = 24; // of a name that may be one misspelt
    std::vector<std::string_view> near, parts;
    if (name.size() > longest) return near;
    auto fewest = longest;
    for (const auto r : all_routines()) {
        const bool is_part = r.find(name) != r.npos || name.find(r) != name.npos;
        if (is_part && std::min(r.size(), name.size()) > 2) parts.push_back(r);
        const auto letters = distance(name, r);
        if (3 * letters > std::max(r.size(), name.size()) || letters > fewest) continue;
        if (letters < fewest) near.clear();
        fewest = letters;
        near.push_back(r);
    }
    return near.empty() ? parts : near;
}

} // namespace

std::optional<operation> function_named(std::string_view name) {
    for (const auto& [spelling, kind] : functions)
        if (spelling == name) return kind;
    return std::nullopt;
}

bool is_missing_function(std::string_view name) {
    return std::find(std::begin(missing_functions), std::end(missing_functions), name) != std::end(missing_functions);
}

std::string all_functions() {
    std::string out;
    for (const auto& [spelling, kind] : functions) out.append(out.empty() ? "" : ", ").append(spelling);
    return out;
}

std::optional<routine> routine_named(std::string_view name) {
    for (auto r = static_cast<int>(routine::cholesky); r <= static_cast<int>(routine::form_q); ++r)
        if (name_of(static_cast<routine>(r)) == name) return static_cast<routine>(r);
    return std::nullopt;
}

bool is_nearly_routine(std::string_view name) { return !routines_near(name).empty(); }

std::string no_routine(std::string_view name) {
    const auto near = routines_near(name);
    return fmt::format("there is no routine '{}'; {} {}", name,
                       near.empty()       ? "there are"
                       : near.size() == 1 ? "the nearest is"
                                          : "the nearest are",
                       fmt::join(near.empty() ? all_routines() : near, ", "));
}

std::optional<call_option> option_named(routine what, std::string_view name) {
    for (std::size_t o = 0; o < lowering::call_options; ++o)
        if (const auto option = static_cast<call_option>(o); name_of(option) == name && takes_option(what, option))
            return option;
    return std::nullopt;
}

std::string options_of(routine what) {
    std::vector<std::string_view> names;
    for (std::size_t o = 0; o < lowering::call_options; ++o)
        if (const auto option = static_cast<call_option>(o); takes_option(what, option))
            names.push_back(name_of(option));
    return names.empty() ? ", which has none"
                         : fmt::format(": there {} {}", names.size() == 1 ? "is" : "are", fmt::join(names, ", "));
}

} // namespace dsl

bool is_text_name(std::string_view name) {
    return !name.empty() && dsl::is_letter(name[0]) && name != dsl::padded_keyword && name != dsl::distinct_keyword &&
           name != dsl::atomic_keyword && !dsl::function_named(name) && !dsl::routine_named(name) &&
           std::all_of(name.begin(), name.end(), [](char c) { return dsl::is_letter(c) || dsl::is_digit(c); });
}

} // namespace ricci
