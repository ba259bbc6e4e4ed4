// lists: how the command lines of bench and tune write sizes, shapes, types, transpositions and bytes.
#pragma once

#include <ricci/lowering/scalar_type.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::bench {

/// C is m x n, the sum runs over k.
struct shape {
    std::int64_t m = 0, n = 0, k = 0;
    bool operator==(const shape&) const = default;
};

/// The type of A and B, and that of C.
struct type_pair {
    lowering::scalar_type in = lowering::scalar_type::f64, out = lowering::scalar_type::f64;
    bool operator==(const type_pair&) const = default;
};

/// How A and B are stored, as BLAS names it: 'N' as they are multiplied, 'T' transposed, 'C' transposed and
/// conjugated.
struct operations {
    char a = 'N', b = 'N';
    bool operator==(const operations&) const = default;
};

/// The words between marks, empty ones too.
std::vector<std::string_view> split(std::string_view text, char mark);

/// "16x8x24": the sizes between the x's, each as in parse_sizes; nothing where one of them is none.
std::vector<std::int64_t> read_extents(std::string_view word);

// Each of these throws ricci::error that names `option`, the word that is wrong, and what can be written.

/// "1..32", "1..128:3" (every third), "2^10..2^20:*4" (four times the one before), "8,16,24", and lists of them.
std::vector<std::int64_t> parse_sizes(std::string_view text, std::string_view option);

/// "1..32,2^6,24x8x4": as parse_sizes, a number being m = n = k, or as parse_shapes.
std::vector<shape> parse_products(std::string_view text, std::string_view option);

/// "16x8x24,5x5x5": MxNxK each.
std::vector<shape> parse_shapes(std::string_view text, std::string_view option);

/// "1..64" or "8x16,2x3": both widths of a tall-skinny product, equal where one number is given; k of the shape is 0.
std::vector<shape> parse_widths(std::string_view text, std::string_view option);

/// "f64,f16,f16:f32": where C's type differs, it stands behind the colon.
std::vector<type_pair> parse_types(std::string_view text, std::string_view option);
std::string to_string(const type_pair& types);

/// The same where C has the operands' type, one of `allowed`; `what` is measured in no other.
std::vector<lowering::scalar_type> parse_types_among(std::string_view text, std::string_view option,
                                                     const std::vector<lowering::scalar_type>& allowed,
                                                     std::string_view what);

/// "NN,NT,TN,TT"
std::vector<operations> parse_transpositions(std::string_view text, std::string_view option);

/// "0,1": whether C is read.
std::vector<bool> parse_betas(std::string_view text, std::string_view option);

/// One of `known` for each word of a list.
std::vector<std::string> parse_choices(std::string_view text, std::string_view option,
                                       const std::vector<std::string>& known);

/// "2GB", "1.5M", "4KiB", "4096": powers of 1000, with an i of 1024.
std::int64_t parse_bytes(std::string_view text, std::string_view option);

} // namespace ricci::bench
