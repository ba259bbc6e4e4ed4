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
#include <sstream>

namespace ricci::tools {

namespace {

using lowering::scalar_type;

constexpr std::int64_t largest_size = 4096;

std::string_view trimmed(std::string_view text) {
    constexpr const char* blanks = " \t\r";
    const auto first = text.find_first_not_of(blanks);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

tuning_request request_for(const bench::shape& s, const bench::type_pair& t, const bench::operations& ops,
                           std::string_view form, std::string_view op, double bytes) {
    const auto [m, n, k] = s;
    const auto in = lowering::size_of(t.in), out = lowering::size_of(t.out);
    const auto filling = [&](std::int64_t each) {
        return std::max<std::int64_t>(1, std::llround(bytes / static_cast<double>(each)));
    };
    const bool a_turned = ops.a != 'N', b_turned = ops.b != 'N';
    const auto tensor = [](std::string_view name, scalar_type type, const auto&... extents) {
        return fmt::format("{}={}[{}]", name, lowering::name_of(type),
                           fmt::join(std::array<std::int64_t, sizeof...(extents)>{extents...}, ","));
    };
    const auto access = [](std::string_view name, std::string_view indices, char how) {
        return how == 'C' ? fmt::format("conj({}({}))", name, indices) : fmt::format("{}({})", name, indices);
    };
    const auto product = [&](std::string_view before, std::string_view behind) { // where the batch's index stands
        return access("A", fmt::format("{}{}{}", before, a_turned ? "k,i" : "i,k", behind), ops.a) + "*" +
               access("B", fmt::format("{}{}{}", before, b_turned ? "j,k" : "k,j", behind), ops.b);
    };
    if (form == "atb" || form == "ab") {
        const bool atb = form == "atb";
        const auto tall = filling(atb ? (m + n) * in : n * out + k * in);
        const auto rows = atb ? m : tall, depth = atb ? tall : k;
        return {fmt::format("C(i,j) {} {}", op, product("", "")),
                {tensor("C", t.out, rows, n),
                 a_turned ? tensor("A", t.in, depth, rows) : tensor("A", t.in, rows, depth),
                 b_turned ? tensor("B", t.in, n, depth) : tensor("B", t.in, depth, n)}};
    }
    const auto batch = filling(m * n * out + (m * k + k * n) * in);
    const auto a_rows = a_turned ? k : m, a_columns = a_turned ? m : k, b_rows = b_turned ? n : k,
               b_columns = b_turned ? k : n;
    if (form == "interleaved")
        return {fmt::format("C(e,i,j) {} {}", op, product("e,", "")),
                {tensor("C", t.out, batch, m, n), tensor("A", t.in, batch, a_rows, a_columns),
                 tensor("B", t.in, batch, b_rows, b_columns)}};
    return {fmt::format("C(i,j,e) {} {}", op, product("", ",e")),
            {tensor("C", t.out, m, n, batch), tensor("A", t.in, a_rows, a_columns, batch),
             tensor("B", t.in, b_rows, b_columns, batch)}};
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
        r.place = fmt::format("{}, line {}", file.string(), number);
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
    const auto bytes = static_cast<double>(bench::parse_bytes(s.bytes, "--bytes"));
    const auto all_sizes = bench::parse_products(s.sizes, "--sizes");
    for (const auto& [m, n, k] : all_sizes)
        if (const auto size = std::max({m, n, k}); size > largest_size)
            throw error(fmt::format("--sizes: {} is more than {}, the largest size of a sweep", size, largest_size));
    const auto all_ops = bench::parse_transpositions(s.transpose, "--transpose");
    const auto forms = bench::parse_choices(s.forms, "--form", {"batched", "interleaved", "atb", "ab"});
    const auto assignments = bench::parse_choices(s.assignments, "--assign", {"=", "+=", "-="});
    std::vector<tuning_request> out;
    for (const auto& t : bench::parse_types(s.types, "--types"))
        for (const auto& form : forms)
            for (const auto& op : assignments)
                for (const auto& ops : all_ops)
                    for (const auto& size : all_sizes) out.push_back(request_for(size, t, ops, form, op, bytes));
    return out;
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
