// safetensors: 8 bytes with the header's length, little-endian; the header, JSON, {"name": {"dtype": "F32", "shape":
// [64,3,3,3], "data_offsets": [begin, end]}, ...}; the numbers, to whose beginning the offsets are relative.
#include "examples/cnn/network/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cstring>
#include <limits>

namespace cnn {
namespace {

using nlohmann::json;

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t longest_header = 100'000'000; // the format's own limit

static_assert(std::endian::native == std::endian::little, "the numbers of safetensors are little-endian");

/// A list of numbers from 0 on; `what` for the message.
std::vector<std::int64_t> counts(const json& list, const std::string& where, const char* what) {
    std::vector<std::int64_t> result;
    bool good = list.is_array();
    for (std::size_t n = 0; good && n < list.size(); ++n) {
        good = list[n].is_number_unsigned() &&
               list[n].get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
        if (good) result.push_back(list[n].get<std::int64_t>());
    }
    if (!good) throw common::input_error(fmt::format("{}: its {} is no list of sizes: {}", where, what, list.dump()));
    return result;
}

/// Bytes of so many floats; larger than any file where that overflows.
std::int64_t bytes_of(const std::vector<std::int64_t>& shape) {
    std::int64_t bytes = sizeof(float);
    for (const std::int64_t extent : shape)
        if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::numeric_limits<std::int64_t>::max();
    return bytes;
}

named_tensor read_tensor(const json& entry, const std::string& where, std::string_view data) {
    if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") || !entry.contains("data_offsets"))
        throw common::input_error(where + ": dtype, shape and data_offsets are wanted");
    if (entry["dtype"] != "F32")
        throw common::input_error(
            fmt::format("{}: its numbers are {}, but F32 is wanted", where, entry["dtype"].dump()));
    named_tensor result{counts(entry["shape"], where, "shape"), {}};
    const auto offsets = counts(entry["data_offsets"], where, "data_offsets");
    if (offsets.size() != 2 || offsets[1] < offsets[0])
        throw common::input_error(fmt::format("{}: its data_offsets are no begin and end: {}", where, offsets));
    const auto available = static_cast<std::int64_t>(data.size());
    if (offsets[1] > available)
        throw common::input_error(
            fmt::format("{}: its numbers end at byte {} of the data, but the file has only {}: it may be "
                        "cut short",
                        where, offsets[1], available));
    const std::int64_t bytes = bytes_of(result.shape);
    if (offsets[1] - offsets[0] != bytes)
        throw common::input_error(fmt::format("{}: shape {} does not fit {} bytes of numbers", where, result.shape,
                                              offsets[1] - offsets[0]));
    result.values.resize(static_cast<std::size_t>(bytes) / sizeof(float));
    if (bytes > 0) std::memcpy(result.values.data(), data.data() + offsets[0], static_cast<std::size_t>(bytes));
    return result;
}

} // namespace

weights read_safetensors(const std::string& path) {
    const std::string bytes = common::read_whole(path);
    std::uint64_t length = 0;
    if (bytes.size() < length_bytes)
        throw common::input_error(
            fmt::format("{}: has {} bytes, too few for a safetensors file: it may be cut short", path, bytes.size()));
    std::memcpy(&length, bytes.data(), length_bytes);
    if (length > longest_header)
        throw common::input_error(path + ": is no safetensors file: its header would be too long");
    if (length > bytes.size() - length_bytes)
        throw common::input_error(
            fmt::format("{}: its header should have {} bytes, but the file has only {}: it may be cut "
                        "short",
                        path, length, bytes.size() - length_bytes));
    const std::string_view all(bytes), header = all.substr(length_bytes, length),
                                       data = all.substr(length_bytes + length);
    const json parsed = json::parse(header, nullptr, false);
    if (!parsed.is_object())
        throw common::input_error(path + ": is no safetensors file: its header is no JSON object");
    weights result;
    for (const auto& [name, entry] : parsed.items())
        if (name != "__metadata__") result[name] = read_tensor(entry, fmt::format("{}: {}", path, name), data);
    return result;
}

} // namespace cnn
