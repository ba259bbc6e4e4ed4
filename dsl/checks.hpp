// checks: the mistakes that the types of a statement show. One static_assert each, inside a struct whose template
// arguments name the index and both sizes, so that g++ and clang print them.
#pragma once

#include "dsl/extents.hpp"
#include "dsl/index.hpp"
#include "dsl/index_set.hpp"

#include "lowering/statement.hpp"

namespace ricci::dsl {

template <int Positions, int Rank>
struct rank_of_the_tensor_is {
    static_assert(Positions == Rank, "the number of positions differs from the rank of the tensor");
};

template <class IndexName, std::int64_t First, std::int64_t Second>
struct extents_of_an_index_agree {
    static_assert(First == Second, "an index without a range stands in two positions whose extents differ");
};

template <class IndexName, bool Bounded>
struct index_is_bounded {
    static_assert(Bounded, "nothing bounds this index: it stands in affine positions only; give it a range, i(0, n)");
};

template <class First, class Second, std::int64_t FirstExtent, std::int64_t SecondExtent>
struct every_element_is_written_once {
    static_assert(FirstExtent < 2 || SecondExtent < 2,
                  "different values of these two indices of the left side reach the same element");
};

template <lowering::scalar_type Right, lowering::scalar_type Left>
struct right_side_fits_left {
    static_assert(
        !lowering::is_complex(Right) || lowering::is_complex(Left),
        "a complex right side cannot be stored in a real left side; take abs, or store into a complex tensor");
};

template <lowering::operation Function, lowering::scalar_type Argument>
struct argument_has_an_order {
    static_assert(!lowering::is_complex(Argument), "relu, min and max are for real arguments; this one is complex");
};

template <int Rank, std::size_t Extents, std::size_t Strides = static_cast<std::size_t>(Rank)>
struct a_view_has_an_extent_and_a_stride_for_each_index {
    static_assert(Extents == static_cast<std::size_t>(Rank) && Strides == static_cast<std::size_t>(Rank),
                  "a view has as many extents, and strides, as its rank");
};

template <bool Writable>
struct left_side_is_writable {
    static_assert(Writable, "the left side is const: a const tensor, or a view of const elements");
};

template <bool Distinct>
struct gathered_left_is_distinct {
    static_assert(
        Distinct,
        "the left side of = takes a position from an index table: where two entries are equal an element would be "
        "written twice; += and -= add up what equal entries get; if all entries of p differ, write "
        "ricci::distinct(p)(e)");
};

template <class Right>
struct right_side_is_an_expression {
    static_assert(
        sizeof(Right) == 0,
        "the right side is neither a number nor an expression; a tensor stands with its indices, as in B(i)");
};

template <class... Operands>
struct tensors_stand_with_indices {
    static_assert(sizeof...(Operands) == 0, "a tensor in an expression stands with its indices, as in 2*B(i)");
};

template <class Left>
struct assignment_is_in_the_language {
    static_assert(sizeof(Left) == 0, "a statement has =, += or -=; for *= or /= write A(i) = A(i)*B(i)");
};

template <class... Operands>
struct operator_is_in_the_language {
    static_assert(sizeof...(Operands) == 0, "expressions have the operators +, -, * and /; a square is x(i)*x(i)");
};

template <class... Operands>
struct comparison_is_of_numbers {
    static_assert(sizeof...(Operands) == 0,
                  "an expression with an index cannot be compared, and is no condition; to test its sum take the "
                  "number first: double s = x(i)*y(i)");
};

template <class Expression>
struct left_side_is_an_access {
    static_assert(sizeof(Expression) == 0,
                  "only an access, as in A(i, j), can be assigned to; this is an expression");
};

/// Two occurrences that must agree and do not; first < 0: there are none.
struct conflict {
    int first = -1, second = -1;
};

/// Plain positions of an index without a range whose static extents differ.
template <std::size_t N, std::size_t Labels>
constexpr conflict differing_extents(const std::array<occurrence_value, N>& occurrences,
                                     const std::array<bool, Labels>& ranges) {
    const auto* all = occurrences.data();
    const auto* ranged = ranges.data();
    for (int y = 0; y < static_cast<int>(N); ++y)
        for (int x = 0; x < y; ++x)
            if (all[x].label == all[y].label && !ranged[all[x].label] && all[x].extent != dyn &&
                all[y].extent != dyn && all[x].extent != all[y].extent)
                return {x, y};
    return {};
}

/// Two indices of the left side, which has the first `left` occurrences, that have the same coefficients, up to one
/// sign, in each of its positions, all of them visibly 1 or -1, and run over at least two values each: one step of
/// both reaches the same element again. Coefficients that are run-time values are lowering's to check. Where equal
/// entries of tables add up, so may indices of a table.
template <std::size_t N, std::size_t Labels>
constexpr conflict colliding_indices(const std::array<occurrence_value, N>& occurrences, int left,
                                     const std::array<std::int64_t, Labels>& extents, bool adds_up) {
    const auto* all = occurrences.data();
    const auto* extent = extents.data();
    const auto is_in_table = [&](int label) {
        for (int o = 0; o < left; ++o)
            if (all[o].label == label && all[o].position >= lowering::max_axes) return true;
        return false;
    };
    for (int y = 0; y < left; ++y)
        for (int x = 0; x < y; ++x) {
            const int a = all[x].label, b = all[y].label;
            if (a == b || extent[a] < 2 || extent[b] < 2) continue;
            if (adds_up && (is_in_table(a) || is_in_table(b))) continue;
            bool same = true, opposite = true;
            for (int p = 0; p < left; ++p) { // the position of occurrence p
                int sum_a = 0, sum_b = 0;
                for (int o = 0; o < left; ++o) {
                    if (all[o].position != all[p].position || (all[o].label != a && all[o].label != b)) continue;
                    if (all[o].coefficient == sign::unknown) same = opposite = false;
                    (all[o].label == a ? sum_a : sum_b) += static_cast<int>(all[o].coefficient);
                }
                same = same && sum_a == sum_b;
                opposite = opposite && sum_a == -sum_b;
            }
            if (same || opposite) return {x, y};
        }
    return {};
}

/// Refuses what is wrong with `left op= right`, one mistake at a time.
template <class Left, class Right>
constexpr void check_statement() {
    using indices = statement_indices<typename Left::occurrences, typename Right::occurrences>;
    constexpr conflict extents = differing_extents(indices::occurrences, indices::ranged);
    constexpr conflict collision =
        colliding_indices(indices::occurrences, indices::left_count, indices::extents, !Left::gathers_distinct);
    if constexpr (!Left::writable) {
        (void)left_side_is_writable<Left::writable>{};
    } else if constexpr (lowering::is_complex(Right::type) && !lowering::is_complex(Left::type)) {
        (void)right_side_fits_left<Right::type, Left::type>{};
    } else if constexpr (extents.first >= 0) {
        constexpr auto first = indices::occurrences.data()[extents.first];
        constexpr auto second = indices::occurrences.data()[extents.second];
        (void)extents_of_an_index_agree<typename indices::template name<first.label>, first.extent, second.extent>{};
    } else if constexpr (indices::unbounded >= 0) {
        (void)index_is_bounded<typename indices::template name<indices::unbounded>, false>{};
    } else if constexpr (collision.first >= 0) {
        constexpr int first = indices::occurrences.data()[collision.first].label;
        constexpr int second = indices::occurrences.data()[collision.second].label;
        (void)every_element_is_written_once<typename indices::template name<first>,
                                            typename indices::template name<second>, indices::extents.data()[first],
                                            indices::extents.data()[second]>{};
    }
}

} // namespace ricci::dsl
