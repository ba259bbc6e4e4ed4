// lists: reads the lists of the command lines of bench and tune.
#include "bench/lists.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace ricci::bench {

namespace {

constexpr std::size_t longest_list = 100'000;

constexpr std::string_view size_examples = "write it like 1..32, 1..128:3, 2^10..2^20:*4 or 8,16,24";
constexpr std::string_view product_examples = "write it like 1..32, 1..128:3, 2^3..2^6:*2 or 8,16,24x8x4 (m x n x k)";

[[noreturn]] void refuse(std::string_view option, const std::string& what, std::string_view instead) {
    throw error(fmt::format("{}: {}; {}", option, what, instead));
}

std::optional<std::int64_t> read_digits(std::string_view word) {
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (problem != std::errc() || end != word.data() + word.size() || word.starts_with('-')) return std::nullopt;
    return value;
}

/// "17" or "2^20", at least 1.
std::optional<std::int64_t> read_number(std::string_view word) {
    const std::size_t power = word.find('^');
    if (power == word.npos) {
        const auto value = read_digits(word);
        return value && *value >= 1 ? value : std::nullopt;
    }
    const auto base = read_digits(word.substr(0, power)), exponent = read_digits(word.substr(power + 1));
    if (!base || !exponent || *base < 1 || *exponent > 62) return std::nullopt;
    std::int64_t value = 1;
    for (std::int64_t n = 0; n < *exponent; ++n)
        if (__builtin_mul_overflow(value, *base, &value)) return std::nullopt;
    return value;
}

/// "1..32", "1..32:3", "1..32:*2": appended to `all`; false where it is none.
bool read_range(std::string_view word, std::vector<std::int64_t>& all) {
    const std::size_t dots = word.find("..");
    const std::string_view rest = word.substr(dots + 2);
    const std::size_t colon = rest.find(':');
    const auto first = read_number(word.substr(0, dots)), last = read_number(rest.substr(0, colon));
    std::string_view step_word = colon == rest.npos ? "1" : rest.substr(colon + 1);
    const bool factor = step_word.starts_with('*');
    if (factor) step_word.remove_prefix(1);
    const auto step = read_number(step_word);
    if (!first || !last || !step || *first > *last || (factor && *step < 2)) return false;
    for (std::int64_t value = *first; value <= *last;) {
        all.push_back(value);
        if (all.size() > longest_list) return false;
        if (factor ? __builtin_mul_overflow(value, *step, &value) : __builtin_add_overflow(value, *step, &value))
            break;
    }
    return true;
}

bool read_sizes(std::string_view word, std::vector<std::int64_t>& all) {
    if (word.find("..") != word.npos) return read_range(word, all);
    const auto value = read_number(word);
    if (value) all.push_back(*value);
    return value.has_value();
}

/// "16x8x24"
std::optional<shape> read_shape(std::string_view word) {
    const auto sizes = read_extents(word);
    return sizes.size() == 3 ? std::optional(shape{sizes[0], sizes[1], sizes[2]}) : std::nullopt;
}

} // namespace

std::vector<std::string_view> split(std::string_view text, char mark) {
    std::vector<std::string_view> words;
    for (bool more = true; more;) {
        const std::size_t at = text.find(mark);
        words.push_back(text.substr(0, at));
        more = at != text.npos;
        if (more) text.remove_prefix(at + 1);
    }
    return words;
}

std::vector<std::int64_t> read_extents(std::string_view word) {
    std::vector<std::int64_t> all;
    for (const auto part : split(word, 'x')) {
        const auto size = read_number(part);
        if (!size) return {};
        all.push_back(*size);
    }
    return all;
}

std::vector<std::int64_t> parse_sizes(std::string_view text, std::string_view option) {
    std::vector<std::int64_t> all;
    for (const auto word : split(text, ','))
        if (!read_sizes(word, all))
            refuse(option, fmt::format("'{}' is no size and no range of sizes", word), size_examples);
    return all;
}

std::vector<shape> parse_products(std::string_view text, std::string_view option) {
    std::vector<shape> all;
    for (const auto word : split(text, ',')) {
        std::vector<std::int64_t> equal;
        if (const auto one = read_shape(word))
            all.push_back(*one);
        else if (read_sizes(word, equal))
            for (const auto n : equal) all.push_back({n, n, n});
        else
            refuse(option, fmt::format("'{}' is no size, no shape and no range of sizes", word), product_examples);
    }
    return all;
}

std::vector<shape> parse_shapes(std::string_view text, std::string_view option) {
    std::vector<shape> all;
    for (const auto word : split(text, ',')) {
        const auto one = read_shape(word);
        if (!one) refuse(option, fmt::format("'{}' is no shape", word), "write MxNxK, as 16x8x24");
        all.push_back(*one);
    }
    return all;
}

std::vector<shape> parse_widths(std::string_view text, std::string_view option) {
    std::vector<shape> all;
    for (const auto word : split(text, ',')) {
        std::vector<std::int64_t> equal;
        if (const auto parts = split(word, 'x'); parts.size() == 2) {
            const auto first = read_number(parts[0]), second = read_number(parts[1]);
            if (first && second) {
                all.push_back({*first, *second, 0});
                continue;
            }
        } else if (read_sizes(word, equal)) {
            for (const auto width : equal) all.push_back({width, width, 0});
            continue;
        }
        refuse(option, fmt::format("'{}' is no width and no pair of widths", word),
               "write it like 1..64, 8,16 or 8x3");
    }
    return all;
}

std::vector<type_pair> parse_types(std::string_view text, std::string_view option) {
    std::vector<type_pair> all;
    for (const auto word : split(text, ',')) {
        const std::size_t colon = word.find(':');
        const auto in = lowering::scalar_type_named(word.substr(0, colon));
        const auto out = colon == word.npos ? in : lowering::scalar_type_named(word.substr(colon + 1));
        if (!in || !out)
            refuse(option, fmt::format("'{}' is no type", word),
                   "there are f16, bf16, f32, f64, c64 and c128, and pairs like f16:f32");
        if (lowering::is_complex(*in) && !lowering::is_complex(*out))
            refuse(option, fmt::format("'{}' would store complex sums as real numbers", word), "let both be complex");
        all.push_back({*in, *out});
    }
    return all;
}

std::string to_string(const type_pair& types) {
    if (types.in == types.out) return std::string(lowering::name_of(types.in));
    return fmt::format("{}:{}", lowering::name_of(types.in), lowering::name_of(types.out));
}

std::vector<lowering::scalar_type> parse_types_among(std::string_view text, std::string_view option,
                                                     const std::vector<lowering::scalar_type>& allowed,
                                                     std::string_view what) {
    std::vector<lowering::scalar_type> all;
    for (const type_pair& t : parse_types(text, option)) {
        if (t.in != t.out || std::find(allowed.begin(), allowed.end(), t.in) == allowed.end()) {
            std::string names;
            for (const auto type : allowed)
                names += (names.empty() ? "" : ", ") + std::string(lowering::name_of(type));
            throw error(
                fmt::format("{}: {} are not measured in {}; there are {}", option, what, to_string(t), names));
        }
        all.push_back(t.in);
    }
    return all;
}

std::vector<operations> parse_transpositions(std::string_view text, std::string_view option) {
    const auto known = [](char c) { return c == 'N' || c == 'T' || c == 'C'; };
    std::vector<operations> all;
    for (const auto word : split(text, ',')) {
        if (word.size() != 2 || !known(word[0]) || !known(word[1]))
            refuse(option, fmt::format("'{}' is no pair of transpositions", word),
                   "write two letters of N, T and C (conjugated), for A and B, as NT");
        all.push_back({word[0], word[1]});
    }
    return all;
}

std::vector<bool> parse_betas(std::string_view text, std::string_view option) {
    std::vector<bool> all;
    for (const auto word : split(text, ',')) {
        if (word != "0" && word != "1")
            refuse(option, fmt::format("'{}' is no beta", word), "there are 0 (C = A*B) and 1 (C += A*B)");
        all.push_back(word == "1");
    }
    return all;
}

std::vector<std::string> parse_choices(std::string_view text, std::string_view option,
                                       const std::vector<std::string>& known) {
    std::vector<std::string> all;
    for (const auto word : split(text, ',')) {
        if (std::find(known.begin(), known.end(), word) == known.end())
            refuse(option, fmt::format("there is no '{}'", word),
                   fmt::format("there are {}", fmt::join(known, ", ")));
        all.emplace_back(word);
    }
    return all;
}

std::int64_t parse_bytes(std::string_view text, std::string_view option) {
    struct unit {
        std::string_view suffix;
        double bytes;
    };
    static constexpr unit units[] = {{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"KB", 1e3},
                                     {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},    {"B", 1},        {"K", 1e3},
                                     {"M", 1e6},      {"G", 1e9},      {"T", 1e12},     {"", 1}};
    const auto suffix =
        std::find_if(std::begin(units), std::end(units), [&](const unit& u) { return text.ends_with(u.suffix); });
    const std::string_view number = text.substr(0, text.size() - suffix->suffix.size());
    double value = 0;
    const auto [end, problem] =
        std::from_chars(number.data(), number.data() + number.size(), value, std::chars_format::fixed);
    const double bytes = std::floor(value * suffix->bytes);
    if (problem != std::errc() || end != number.data() + number.size() || !(bytes >= 1) ||
        bytes > static_cast<double>(std::numeric_limits<std::int64_t>::max() / 2))
        refuse(option, fmt::format("'{}' is no number of bytes", text), "write it like 2GB, 1.5MB, 4KiB or 4096");
    return static_cast<std::int64_t>(bytes);
}

} // namespace ricci::bench
