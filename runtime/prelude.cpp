// prelude: constants, includes and arguments of kernels.
#include "runtime/prelude.hpp"

#include "kernels/embedded.hpp"
#include "lowering/error.hpp"

#include <fmt/ranges.h>

#include <set>

namespace ricci::runtime {
namespace {

std::string literal(std::int64_t value) { return value == argument ? "argument" : fmt::format("{}LL", value); }

std::string braces(std::span<const std::int64_t> values) {
    std::string out = "{";
    for (std::size_t v = 0; v < values.size(); ++v) out += (v == 0 ? "" : ", ") + literal(values[v]);
    if (values.empty()) out += "0";
    return out + "}";
}

/// Appends a file, its includes first where they stand. `seen` plays #pragma once.
void append(std::string& out, std::string_view name, std::set<std::string, std::less<>>& seen) {
    if (!seen.emplace(name).second) return;
    auto text = kernels::source_file(name);
    if (text.empty()) throw error(fmt::format("no kernel source named {} in this build", name), blame::environment);
    constexpr std::string_view include = "#include \"";
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.starts_with(include))
            append(out, line.substr(include.size(), line.rfind('"') - include.size()), seen);
        else if (!line.starts_with("#pragma once"))
            (out += line) += '\n';
    }
}

} // namespace

void prelude::wide_constant(std::string_view name, std::int64_t value) {
    text_ += fmt::format("constexpr long long {} = {};\n", name, literal(value));
}

void prelude::list(std::string_view name, std::span<const std::int32_t> values) {
    if (values.empty())
        text_ += fmt::format("constexpr int {}[1] = {{0}};\n", name);
    else
        text_ += fmt::format("constexpr int {}[{}] = {{{}}};\n", name, values.size(), fmt::join(values, ", "));
}

void prelude::wide_list(std::string_view name, std::span<const std::int64_t> values) {
    text_ += fmt::format("constexpr long long {}[{}] = {};\n", name, std::max<std::size_t>(values.size(), 1),
                         braces(values));
}

void prelude::table(std::string_view name, const std::vector<std::vector<std::int64_t>>& rows) {
    add_table("int", name, rows);
}

void prelude::wide_table(std::string_view name, const std::vector<std::vector<std::int64_t>>& rows) {
    add_table("long long", name, rows);
}

void prelude::add_table(std::string_view type, std::string_view name,
                        const std::vector<std::vector<std::int64_t>>& rows) {
    text_ += fmt::format("constexpr {} {}[{}][{}] = {{", type, name, rows.size(),
                         std::max<std::size_t>(rows[0].size(), 1));
    for (std::size_t r = 0; r < rows.size(); ++r) text_ += (r == 0 ? "" : ", ") + braces(rows[r]);
    text_ += "};\n";
}

std::string complete_source(const std::string& text, std::string_view file) {
    std::string out = text;
    std::set<std::string, std::less<>> seen;
    append(out, file, seen);
    return out;
}

} // namespace ricci::runtime
