// shapes: tensors of the command line that need not exist, NAME=TYPE[EXTENT,...] or NAME=FILE.npy.
#include "tools/shapes.hpp"
#include "tools/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

namespace ricci::tools {

namespace {

constexpr std::string_view example = "f64[64,64,9,8]";

/// "f64[64,64]" for rank 2.
std::string shape_example(int rank, bool has_integers) {
    return fmt::format("{}[{}]", has_integers ? "i32" : "f64",
                       fmt::join(std::vector(static_cast<std::size_t>(rank), 64), ","));
}

/// "f64[64,64,9,8]": dense, first index fastest, without data.
text_operand parse_shape(const argument& a) {
    const auto bad = [&](const std::string& why) -> error {
        return error(fmt::format("{}={}: {}; write it like {}={}", a.name, a.value, why, a.name, example));
    };
    std::string_view rest = a.value;
    const std::size_t bracket = std::min(rest.find('['), rest.size());
    const auto type = lowering::element_type_named(rest.substr(0, bracket));
    if (!type)
        throw bad(fmt::format("'{}' is none of f16, bf16, f32, f64, c64 and c128, for index tables i32 and i64",
                              rest.substr(0, bracket)));
    rest.remove_prefix(bracket);
    if (rest.size() < 2 || rest.back() != ']') throw bad("the extents stand in brackets behind the type");
    rest = rest.substr(1, rest.size() - 2);

    text_operand operand;
    operand.name = a.name;
    operand.type = *type;
    std::int64_t stride = 1, bytes = 0;
    for (bool more = !rest.empty(); more;) {
        const std::size_t comma = rest.find(',');
        std::string_view word = rest.substr(0, comma);
        more = comma != rest.npos;
        if (more) rest.remove_prefix(comma + 1);
        while (word.starts_with(' ')) word.remove_prefix(1);
        while (word.ends_with(' ')) word.remove_suffix(1);
        std::int64_t extent = 0;
        const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), extent);
        if (problem == std::errc::result_out_of_range) throw bad("an extent does not fit in 64 bits");
        if (problem != std::errc() || end != word.data() + word.size() || extent < 0)
            throw bad(fmt::format("'{}' is no extent", word));
        if (operand.extents.size() == lowering::max_axes)
            throw bad(fmt::format("there are more than {} axes", lowering::max_axes));
        operand.extents.push_back(extent);
        operand.strides.push_back(stride);
        if (__builtin_mul_overflow(stride, std::max<std::int64_t>(extent, 1), &stride))
            throw bad("its size does not fit in 64 bits");
    }
    if (__builtin_mul_overflow(stride, lowering::size_of(operand.type), &bytes))
        throw bad("its size does not fit in 64 bits");
    return operand;
}

/// A shape, or a file whose header has one; nothing where there is no such file, as of a result that is to be made.
given parse_operand(const argument& a) {
    if (!a.value.ends_with(".npy")) return {a, parse_shape(a)};
    if (std::error_code ignored; !std::filesystem::exists(a.value, ignored)) return {a, std::nullopt};
    const npy_header header = read_npy_header(a.value);
    return {a, text_operand{a.name, header.type, header.extents, header.strides()}};
}

void place(std::vector<text_operand>& operands, device where) {
    constexpr std::int64_t alignment = 256;
    std::int64_t address = alignment;
    for (auto& operand : operands) {
        operand.device = where.code();
        operand.data = reinterpret_cast<void*>(address);
        if (__builtin_add_overflow(address, bytes_of(operand), &address) ||
            __builtin_add_overflow(address, 2 * alignment - address % alignment, &address))
            throw error("the tensors together do not fit in an address space of 64 bits");
    }
}

} // namespace

resolved_program resolve_shapes(std::string_view statements, const std::vector<std::string>& operands) {
    std::vector<given> givens;
    for (const auto& a : parse_arguments(operands, example)) givens.push_back(parse_operand(a));
    return resolve(statements, givens, shape_example);
}

resolved_program place_shapes(std::string_view statements, const std::vector<std::string>& operands, device where) {
    auto program = resolve_shapes(statements, operands);
    place(program.operands, where);
    std::set<std::string> given;
    for (const auto& a : parse_arguments(operands, example)) given.insert(a.name);
    find_locals(program, given);
    return program;
}

} // namespace ricci::tools
