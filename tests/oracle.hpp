// oracle: what a statement must give, from nested loops in higher precision and a proved error bound. Tests' only
// judge.
//
// It knows the language's rules and nothing of lowering: no pass, no plan. A mistake shared with lowering can only be
// a misreading of the rules, so those are spelled out where they are applied (oracle_terms.cpp).
#pragma once

#include "lowering/statement.hpp"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ricci::tests {

/// What may stand in an element afterwards.
enum class verdict : std::uint8_t {
    within,     ///< each component within `bound` of the value; infinity too where value + bound reaches it
    nan,        ///< a NaN
    infinite,   ///< infinity of the value's sign
    non_finite, ///< at least one component is NaN or infinite: which one depends on the order of summation
    unknown,    ///< anything: the error bound reaches a pole, a branch cut or an intermediate overflow
};

struct expected_element {
    void* address = nullptr;
    std::int64_t ordinal = 0; ///< its place when the left's indices run, the first of `labels` fastest
    verdict kind = verdict::within;
    long double re = 0, im = 0;
    long double error = 0; ///< bound on each component's error before it is stored
    long double bound = 0; ///< and after
};

struct oracle_result {
    lowering::scalar_type type{};
    std::vector<std::string_view> labels; ///< of the left
    std::vector<std::int64_t> begin, extent;
    std::vector<expected_element> elements; ///< every element that must be written; none other may
    std::int64_t products = 0;              ///< work done, for generators that keep it small
    std::int64_t unknown = 0;               ///< how many elements nothing is known of
};

/// Of elements in memory that earlier statements computed: how far each may be from what stands there, in modulus;
/// infinite where nothing is known of it. Others are what stands there.
using element_errors = std::unordered_map<const void*, long double>;

/// Evaluates `s` on the CPU's memory as it stands and writes nothing. Throws std::logic_error when `s` is not valid
/// (ranges that disagree, a position outside, an element written twice): that is a mistake of the test.
///
/// The bound: a sum of products is right to ops * c * eps * (sum of the products' magnitudes), whatever the order,
/// association, distribution and fusing; ops counts its additions and a product's multiplications, eps is the
/// compute type's (the promotion of all accesses, at least f32), c is 1, and 3 for complex. A multiplication inside a
/// sum counts 4 in f32, which covers a split into three TF32 products; where the statement asks for tf32, each factor
/// of a product in a sum may be off by half a unit of TF32 first, 2^-11 of it. A copy has bound 0, and so has a sum
/// of products of integers that stays below 2^digits: tests that fill with integers see every lost product.
oracle_result evaluate(const lowering::statement& s, const element_errors& known = {});

/// The type `s` computes in.
lowering::scalar_type compute_type(const lowering::statement& s);

} // namespace ricci::tests
