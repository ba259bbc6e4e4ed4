// compiled_product: constants and calls of sources with the sizes of a product.
#include "bench/peers/compiled_product.hpp"

#include "bench/in_parallel.hpp"
#include "bench/native_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ricci::bench {

namespace {

constexpr std::int64_t largest_size = 128;

bool has_lines(const matrix& x, std::int64_t rows, std::int64_t columns) {
    return x.row_stride == 1 || x.column_stride == 1 || rows == 1 || columns == 1;
}

std::string strides_of(char name, const matrix& x) {
    return fmt::format("constexpr long {0}_row = {1}, {0}_column = {2}, {0}_batch = {3};\n", name, x.row_stride,
                       x.column_stride, x.batch_stride);
}

} // namespace

bool is_compilable(const product& p) {
    return p.a.type == p.b.type && p.a.type == p.c.type && lowering::size_of(lowering::real_of(p.a.type)) >= 4 &&
           std::max({p.m, p.n, p.k}) <= largest_size && has_lines(p.a, p.m, p.k) && has_lines(p.b, p.k, p.n) &&
           has_lines(p.c, p.m, p.n);
}

std::string constants_of(const product& p) {
    return fmt::format("using real = {};\nconstexpr bool is_complex = {}, accumulate = {}, gathered = {}, "
                       "a_conjugated = {}, b_conjugated = {};\nconstexpr long m = {}, n = {}, k = {};\n{}{}{}",
                       lowering::real_of(p.a.type) == lowering::scalar_type::f64 ? "double" : "float",
                       lowering::is_complex(p.a.type), p.accumulate, p.places != nullptr, p.a_conjugated,
                       p.b_conjugated, p.m, p.n, p.k, strides_of('a', p.a), strides_of('b', p.b),
                       strides_of('c', p.c));
}

contender compiled_contender(std::string peer, std::string variant, runtime::cpu_kernel batch, bool swapped,
                             const product& p, std::span<const operand_set> sets) {
    std::vector<std::array<std::uint64_t, 4>> words;
    for (const operand_set& set : sets)
        words.push_back({word_of(set.c), word_of(swapped ? set.b : set.a), word_of(swapped ? set.a : set.b),
                         word_of(p.places ? p.places->data() : nullptr)});
    return {std::move(peer), std::move(variant),
            [batch, count = p.batch, seconds = seconds_of_one(p), places = p.places,
             words = std::move(words)](std::size_t set) {
                in_parallel_if_worth(count, seconds, batch, words[set].data());
            }};
}

} // namespace ricci::bench
