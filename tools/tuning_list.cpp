// tuning_list: what `ricci tune` is to tune.
#include "tools/tuning_list.hpp"

#include "bench/lists.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>

namespace ricci::tools {

namespace {

using bench::split;
using lowering::scalar_type;

constexpr std::int64_t largest_size = 4096;

std::string_view trimmed(std::string_view text) {
    constexpr const char* blanks = " \t\r";
    const auto first = text.find_first_not_of(blanks);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::int64_t parse_size(std::string_view word, std::string_view all) {
    std::int64_t out = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), out);
    if (failure != std::errc() || end != word.data() + word.size() || out < 1 || out > largest_size)
        throw error(fmt::format("--sizes {}: '{}' is no size from 1 to {}; write it like 1..32 or 8,16,24x8x4", all,
                                word, largest_size));
    return out;
}

using sizes = std::array<std::int64_t, 3>; ///< m, n, k

std::vector<sizes> parse_sizes(std::string_view text) {
    std::vector<sizes> out;
    for (const auto item : split(text, ',')) {
        if (const auto dots = item.find(".."); dots != item.npos) {
            const auto first = parse_size(item.substr(0, dots), text), last = parse_size(item.substr(dots + 2), text);
            if (first > last) throw error(fmt::format("--sizes {}: {} is more than {}", text, first, last));
            for (auto n = first; n <= last; ++n) out.push_back({n, n, n});
            continue;
        }
        const auto sides = split(item, 'x');
        if (sides.size() != 1 && sides.size() != 3)
            throw error(fmt::format("--sizes {}: '{}' is neither N nor MxNxK; write it like 1..32 or 8,16,24x8x4",
                                    text, item));
        sizes one{};
        for (std::size_t n = 0; n < 3; ++n) one[n] = parse_size(sides[sides.size() == 1 ? 0 : n], text);
        out.push_back(one);
    }
    return out;
}

struct types {
    scalar_type operand, result;
};

std::vector<types> parse_types(std::string_view text) {
    std::vector<types> out;
    for (const auto item : split(text, ',')) {
        const auto colon = item.find(':');
        const auto operand = lowering::scalar_type_named(item.substr(0, colon));
        const auto result = colon == item.npos ? operand : lowering::scalar_type_named(item.substr(colon + 1));
        if (!operand || !result)
            throw error(fmt::format(
                "--types {}: '{}' is none of f16, bf16, f32, f64, c64 and c128, nor two of them like f16:f32", text,
                item));
        out.push_back({*operand, *result});
    }
    return out;
}

/// The words of a list, each of which must be one of `known`.
std::vector<std::string_view> parse_words(std::string_view text, std::string_view option,
                                          std::initializer_list<std::string_view> known) {
    auto out = split(text, ',');
    for (const auto word : out)
        if (std::find(known.begin(), known.end(), word) == known.end())
            throw error(fmt::format("{} {}: '{}' is none of {}", option, text, word, fmt::join(known, ", ")));
    return out;
}

tuning_request request_for(const sizes& s, const types& t, std::string_view transpose, std::string_view form,
                           std::string_view op, double bytes) {
    const auto [m, n, k] = s;
    const auto in = lowering::size_of(t.operand), out = lowering::size_of(t.result);
    const auto filling = [&](std::int64_t each) {
        return std::max<std::int64_t>(1, std::llround(bytes / static_cast<double>(each)));
    };
    const bool a_turned = transpose[0] == 'T', b_turned = transpose[1] == 'T';
    const auto tensor = [](std::string_view name, scalar_type type, const auto&... extents) {
        return fmt::format("{}={}[{}]", name, lowering::name_of(type),
                           fmt::join(std::array<std::int64_t, sizeof...(extents)>{extents...}, ","));
    };
    const auto a = a_turned ? "k,i" : "i,k", b = b_turned ? "j,k" : "k,j";
    if (form == "atb" || form == "ab") {
        const bool atb = form == "atb";
        const auto tall = filling(atb ? (m + n) * in : n * out + k * in);
        const auto rows = atb ? m : tall, depth = atb ? tall : k;
        return {fmt::format("C(i,j) {} A({})*B({})", op, a, b),
                {tensor("C", t.result, rows, n),
                 a_turned ? tensor("A", t.operand, depth, rows) : tensor("A", t.operand, rows, depth),
                 b_turned ? tensor("B", t.operand, n, depth) : tensor("B", t.operand, depth, n)}};
    }
    const auto batch = filling(m * n * out + (m * k + k * n) * in);
    const auto a_rows = a_turned ? k : m, a_columns = a_turned ? m : k, b_rows = b_turned ? n : k,
               b_columns = b_turned ? k : n;
    if (form == "interleaved")
        return {fmt::format("C(e,i,j) {} A(e,{})*B(e,{})", op, a, b),
                {tensor("C", t.result, batch, m, n), tensor("A", t.operand, batch, a_rows, a_columns),
                 tensor("B", t.operand, batch, b_rows, b_columns)}};
    return {fmt::format("C(i,j,e) {} A({},e)*B({},e)", op, a, b),
            {tensor("C", t.result, m, n, batch), tensor("A", t.operand, a_rows, a_columns, batch),
             tensor("B", t.operand, b_rows, b_columns, batch)}};
}

bool is_operand(std::string_view word) {
    return word.find('=') != word.npos && (word.find('[') != word.npos || word.ends_with(".npy"));
}

} // namespace

std::vector<tuning_request> read_tuning_list(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in) throw error(fmt::format("--file {}: cannot be read", file.string()));
    std::vector<tuning_request> out;
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        const auto bad = [&](std::string_view why) {
            return error(fmt::format("{}, line {}: {}; write it like \"C(i,j,e) += A(i,k,e)*B(k,j,e)\" "
                                     "A=f64[8,8,1000] B=f64[8,8,1000] C=f64[8,8,1000]",
                                     file.string(), number, why));
        };
        auto rest = trimmed(std::string_view(line).substr(0, line.find('#')));
        if (rest.empty()) continue;
        tuning_request r;
        const bool quoted = rest.front() == '"';
        if (quoted) {
            const auto quote = rest.find('"', 1);
            if (quote == rest.npos) throw bad("the statement's second quote is missing");
            r.statements = rest.substr(1, quote - 1);
            rest.remove_prefix(quote + 1);
        }
        std::istringstream words{std::string(rest)};
        for (std::string word; words >> word;) {
            if (is_operand(word))
                r.operands.push_back(word);
            else if (quoted || !r.operands.empty())
                throw bad(fmt::format("'{}' is no operand", word));
            else
                r.statements += (r.statements.empty() ? "" : " ") + word;
        }
        if (trimmed(r.statements).empty()) throw bad("there is no statement");
        if (r.operands.empty()) throw bad("there are no operands");
        out.push_back(std::move(r));
    }
    if (in.bad()) throw error(fmt::format("--file {}: cannot be read", file.string()));
    if (out.empty()) throw error(fmt::format("--file {}: holds no statement", file.string()));
    return out;
}

std::vector<tuning_request> expand(const sweep& s) {
    const auto bytes = parse_bytes(s.bytes, "--bytes");
    const auto all_types = parse_types(s.types);
    std::vector<tuning_request> out;
    for (const auto& t : all_types)
        for (const auto form : parse_words(s.forms, "--form", {"batched", "interleaved", "atb", "ab"}))
            for (const auto op : parse_words(s.assignments, "--assign", {"=", "+=", "-="}))
                for (const auto transpose : parse_words(s.transpose, "--transpose", {"NN", "NT", "TN", "TT"}))
                    for (const auto& size : parse_sizes(s.sizes))
                        out.push_back(request_for(size, t, transpose, form, op, bytes));
    return out;
}

double parse_bytes(std::string_view text, std::string_view option) {
    double out = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, out);
    const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
    constexpr std::pair<std::string_view, double> units[] = {
        {"", 1},     {"B", 1},        {"K", 1e3}, {"KB", 1e3}, {"KiB", 0x1p10}, {"M", 1e6},
        {"MB", 1e6}, {"MiB", 0x1p20}, {"G", 1e9}, {"GB", 1e9}, {"GiB", 0x1p30}};
    for (const auto& [name, factor] : units)
        if (failure == std::errc() && unit == name && out * factor >= 1 && out * factor < 0x1p50) return out * factor;
    throw error(fmt::format("{} {}: expected bytes, like 1GB, 256MB or 4KiB", option, text));
}

double parse_percentage(std::string_view text, std::string_view option) {
    double out = 0;
    const auto number = text.substr(0, text.size() - (text.ends_with('%') ? 1 : 0));
    const auto [stop, failure] = std::from_chars(number.data(), number.data() + number.size(), out);
    if (failure != std::errc() || stop != number.data() + number.size() || !(out >= 0 && out <= 100))
        throw error(fmt::format("{} {}: expected a percentage from 0% to 100%, like 5%", option, text));
    return out / 100;
}

} // namespace ricci::tools
