// unrolled: loops of a CPU's kernels whose number must be a constant, and divisions of many things into even parts.
#pragma once

#include "scalar.hpp"

// Lambdas whose vectors stay in registers only where they are inlined.
#define RICCI_INLINED __attribute__((always_inline))

// Before a loop over constants: all its rounds one behind another. g++ 12 sees arrays of vectors as registers after
// that, and takes a third of the time that as many instances of a template do.
#define RICCI_ALL_UNROLLED _Pragma("GCC unroll 128")

template <int Value> struct constant {
    static constexpr int value = Value;
    constexpr operator int() const { return Value; }
};
template <int... I> struct index_list {};
#if defined(__clang__)
template <class T, T... I> struct index_list_of { using type = index_list<I...>; };
template <int Count> using indices_to = typename __make_integer_seq<index_list_of, int, Count>::type;
#else
template <int Count> using indices_to = index_list<__integer_pack(Count)...>;
#endif

/// f(constant<0>()), ... f(constant<Count - 1>()).
template <int Count, class F> RICCI_FUNCTION void for_each_of(F f) {
    [&]<int... I>(index_list<I...>) RICCI_INLINED { (f(constant<I>()), ...); }(indices_to<Count>());
}

/// `count` things in `parts` as even as can be: the first `more` have one more than the others.
struct even_division {
    int parts, each, more;
    constexpr even_division(int count, int largest)
        : parts((count + largest - 1) / largest), each(count / parts), more(count % parts) {}
};

/// f(number) for [0, Count), without a loop where there is one.
template <int Count, class F> RICCI_FUNCTION void repeat(const F& f) {
    if constexpr (Count == 1) f(0);
    else if constexpr (Count > 1)
#pragma GCC unroll 1
        for (int number = 0; number < Count; ++number) f(number);
}

/// f(constant: how many things, the first of them) for every part of a division, in order.
template <const even_division& D, class F> RICCI_FUNCTION void for_each_part(const F& f) {
    repeat<D.more>([&](int t) RICCI_INLINED { f(constant<D.each + 1>(), t * (D.each + 1)); });
    repeat<D.parts - D.more>(
        [&](int t) RICCI_INLINED { f(constant<D.each>(), D.more * (D.each + 1) + t * D.each); });
}
/// f(constant: how many, constant: whether it is the last part, the first of them): the last one's code is its own.
template <const even_division& D, class F> RICCI_FUNCTION void for_each_part_and_last(const F& f) {
    constexpr int larger = D.more * (D.each + 1), same = D.parts - D.more - 1;
    repeat<D.more>([&](int t) RICCI_INLINED { f(constant<D.each + 1>(), constant<0>(), t * (D.each + 1)); });
    repeat<same>([&](int t) RICCI_INLINED { f(constant<D.each>(), constant<0>(), larger + t * D.each); });
    f(constant<D.each>(), constant<1>(), larger + same * D.each);
}
