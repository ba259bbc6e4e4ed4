// mesh_file: tokens, numbers and their mistakes.
#include "examples/fem/mesh/mesh_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fem {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

} // namespace

mesh_file::mesh_file(std::string path) : path_(std::move(path)) {
    namespace fs = std::filesystem;
    std::error_code code;
    const auto kind = fs::status(path_, code).type();
    if (kind == fs::file_type::not_found) throw mesh_error(path_ + ": there is no such file");
    if (kind == fs::file_type::none) throw mesh_error(path_ + ": cannot be opened: " + code.message());
    if (kind == fs::file_type::directory) throw mesh_error(path_ + ": is a folder, not a mesh file");
    if (kind != fs::file_type::regular) throw mesh_error(path_ + ": is not a regular file");
    const std::uintmax_t size = fs::file_size(path_, code);
    std::ifstream file(path_, std::ios::binary);
    if (code || !file) throw mesh_error(path_ + ": cannot be opened for reading");
    check_memory(path_, "reading it", static_cast<double>(size));
    text_.resize(size);
    file.read(text_.data(), static_cast<std::streamsize>(size));
    if (file.gcount() != static_cast<std::streamsize>(size)) throw mesh_error(path_ + ": cannot be read to its end");
    if (text_.empty()) throw mesh_error(path_ + ": the file is empty");
}

void mesh_file::fail_at(std::int64_t position, const std::string& message) const {
    if (bytes_) throw mesh_error(fmt::format("{}: byte {}: {}", path_, position, message));
    // The end of the file counts to the last line that holds anything.
    if (position == static_cast<std::int64_t>(text_.size()))
        while (position > 0 && is_blank(text_[position - 1])) --position;
    const auto line = 1 + std::count(text_.begin(), text_.begin() + position, '\n');
    throw mesh_error(fmt::format("{}:{}: {}", path_, line, message));
}

void mesh_file::fail_at_end(std::string_view what) const {
    fail(fmt::format("the file ends where {} was expected", what));
}

void mesh_file::skip_blanks() {
    const auto size = static_cast<std::int64_t>(text_.size());
    while (at_ < size) {
        if (is_blank(text_[at_]))
            ++at_;
        else if (comment_ && text_[at_] == comment_)
            at_ = static_cast<std::int64_t>(std::min(text_.size(), text_.find('\n', at_)));
        else
            break;
    }
    token_ = at_;
}

std::string_view mesh_file::rest_of_line() {
    token_ = at_;
    const auto end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line(text_.data() + at_, end - at_);
    at_ = std::min<std::int64_t>(end + 1, text_.size());
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    return line;
}

bool mesh_file::at_end() {
    skip_blanks();
    return remaining() == 0;
}

std::string_view mesh_file::word(std::string_view what) {
    if (at_end()) fail_at_end(what);
    const auto size = static_cast<std::int64_t>(text_.size());
    while (at_ < size && !is_blank(text_[at_]) && !(comment_ && text_[at_] == comment_)) ++at_;
    return {text_.data() + token_, static_cast<std::size_t>(at_ - token_)};
}

void mesh_file::expect(std::string_view expected) {
    if (const auto found = word(fmt::format("'{}'", expected)); found != expected)
        fail(fmt::format("'{}' was expected, not {}", expected, quoted(found)));
}

bool mesh_file::take(std::string_view expected) {
    const std::int64_t start = at_;
    if (!at_end() && word(expected) == expected) return true;
    at_ = start;
    return false;
}

std::int64_t mesh_file::integer(std::string_view what, std::int64_t low, std::int64_t high) {
    const std::string_view text = word(what);
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size())
        fail(fmt::format("{} should be a whole number, not {}", what, quoted(text)));
    if (value < low || value > high)
        fail(high == INT64_MAX ? fmt::format("{} is {}, but must be at least {}", what, value, low)
             : high == low + 1 ? fmt::format("{} is {}, but must be {} or {}", what, value, low, high)
                               : fmt::format("{} is {}, but must lie in {}..{}", what, value, low, high));
    return value;
}

double mesh_file::real(std::string_view what) {
    const std::string_view text = word(what);
    std::string_view digits = text;
    if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') digits.remove_prefix(1);
    double value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    // Out of range is either far too large, refused below, or so small that strtod's 0 or subnormal is right.
    if (code == std::errc::result_out_of_range)
        value = std::strtod(std::string(digits).c_str(), nullptr);
    else if (code != std::errc())
        fail(fmt::format("{} should be a number, not {}", what, quoted(text)));
    if (end != digits.data() + digits.size()) fail(fmt::format("{} should be a number, not {}", what, quoted(text)));
    if (!std::isfinite(value)) fail(fmt::format("{} should be a finite number, not {}", what, quoted(text)));
    return value;
}

std::int64_t mesh_file::count(std::string_view what, std::int64_t bytes_each) {
    const std::int64_t n = integer(what, 0, INT64_MAX);
    check_count(what, n, bytes_each);
    return n;
}

void mesh_file::check_count(std::string_view what, std::int64_t n, std::int64_t bytes_each) const {
    // The last token may have no blank behind it, hence the 1.
    if (n > (remaining() + 1) / bytes_each)
        fail(fmt::format("{} is {}, for which the remaining {} bytes of the file are too few", what, n, remaining()));
}

bool mesh_file::skip_past(std::string_view text) {
    const auto found = text_.find(text, at_);
    if (found == std::string::npos) return false;
    at_ = static_cast<std::int64_t>(found + text.size());
    return true;
}

std::optional<std::int64_t> repeated(std::span<const std::int64_t> numbers) {
    for (auto n = numbers.begin(); n != numbers.end(); ++n)
        if (std::find(numbers.begin(), n, *n) != n) return *n;
    return std::nullopt;
}

std::string quoted(std::string_view text) {
    std::string shown(text.substr(0, 40));
    for (char& c : shown)
        if (c < ' ' || c > '~') c = '.';
    return fmt::format("'{}{}'", shown, text.size() > 40 ? "..." : "");
}

} // namespace fem
