// prelude: writes the constants that stand before a kernel's one #include, and packs its arguments.
#pragma once

#include "runtime/kernel_source.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace ricci::runtime {

/// Marks a constant that comes in the arguments instead; `argument` in kernels.
inline constexpr std::int64_t argument = std::numeric_limits<std::int64_t>::min();

/// constexpr declarations, one a line. Arrays of no element get one, since C++ has no empty arrays.
class prelude {
  public:
    prelude() : text_("constexpr long long argument = -9223372036854775807LL - 1;\n") {}

    void constant(std::string_view name, std::int64_t value) {
        text_ += fmt::format("constexpr int {} = {};\n", name, value);
    }
    void wide_constant(std::string_view name, std::int64_t value); ///< or `argument`
    void flag(std::string_view name, bool value) { text_ += fmt::format("constexpr bool {} = {};\n", name, value); }
    void list(std::string_view name, std::span<const std::int32_t> values);
    void wide_list(std::string_view name, std::span<const std::int64_t> values);
    void table(std::string_view name, const std::vector<std::vector<std::int64_t>>& rows); ///< of int
    void wide_table(std::string_view name, const std::vector<std::vector<std::int64_t>>& rows);
    const std::string& text() const { return text_; }

  private:
    void add_table(std::string_view type, std::string_view name, const std::vector<std::vector<std::int64_t>>& rows);
    std::string text_;
};

/// `text` followed by a kernel's file, every #include of a file of kernels/ replaced by its text, once.
std::string complete_source(const std::string& text, std::string_view file);

/// Appends words in the order of the kernel's struct.
class argument_packer {
  public:
    explicit argument_packer(kernel_request& request) : request_(request) {}

    void number(std::int64_t value) { request_.words.push_back(static_cast<std::uint64_t>(value)); }
    void numbers(std::span<const std::int64_t> values) {
        for (const auto v : values) number(v);
        if (values.empty()) number(0); // the kernel's array has one element
    }
    void address(const lowering::operand& o) {
        patch(argument_patch::value::address, o.source, o.offset * lowering::size_of(o.type));
        request_.patches.back().slice_bytes = o.slice * lowering::size_of(o.type);
    }
    void patch(argument_patch::value what, std::int32_t source, std::int64_t byte_offset = 0) {
        request_.patches.push_back({static_cast<std::int32_t>(request_.words.size()), what, source, byte_offset});
        request_.words.push_back(0);
    }

  private:
    kernel_request& request_;
};

} // namespace ricci::runtime
