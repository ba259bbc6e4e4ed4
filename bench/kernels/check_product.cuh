// check_product: compares every element of C with its sum in double. Stands behind product_operands.cuh, reduce.cuh
// and random_value.hpp. Constants: theirs, and team_threads: 1, or 256 where a sum is long.
//
// What C was before is known again from random_value. An error counts in units of the root of the sum of squares of
// the terms, which is how large such a sum is.

struct findings {
    unsigned long long wrong;  ///< elements further off than allowed
    unsigned long long first;  ///< the lowest of them
    unsigned long long worst;  ///< the bits of the largest error, a double
};

struct arguments {
    operands o;
    findings* found;
    unsigned long long old_seed;
    long long old_digits;
    double old_scale;
    double allowed_sum;  ///< times the root of the sum of squares
    double allowed_last; ///< times the result
    long long blocks, every; ///< a team checks element block*every
};

constexpr int check_threads = 256;
constexpr bool is_complex = real_part<compute>::is_complex;
using exact = type_of<is_complex ? 5 : 3>::type;

template <class T> RICCI_FUNCTION double square(T x) {
    if constexpr (real_part<T>::is_complex) return x.re * x.re + x.im * x.im;
    else return x * x;
}

template <class T> RICCI_FUNCTION T old_value(const arguments& a, long long at) {
    const auto part = [&](long long place) {
        return random_value(a.old_seed, static_cast<unsigned long long>(place), static_cast<int>(a.old_digits),
                            a.old_scale);
    };
    if constexpr (!real_part<T>::is_complex) return part(at);
    else if constexpr (real_part<c_element>::is_complex) return {part(2 * at), part(2 * at + 1)};
    else return {part(at), 0};
}

/// The bits of a double that is not negative: in the same order as the numbers.
RICCI_FUNCTION unsigned long long ordered_bits(double x) {
#if RICCI_ON_GPU
    return static_cast<unsigned long long>(__double_as_longlong(x));
#else
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, 8);
    return bits;
#endif
}

RICCI_FUNCTION void judge(const arguments& a, long long place, long long at, exact sum, double squares) {
    if (accumulate) {
        const exact old = old_value<exact>(a, at);
        sum += old;
        squares += square(old);
    }
    const exact result = load_as<exact>(static_cast<const c_element*>(a.o.c)[at]);
    const double size = real_sqrt(squares), off = real_sqrt(square(result - sum));
    const bool good = off <= a.allowed_sum * size + a.allowed_last * real_sqrt(square(sum));
    const unsigned long long error = ordered_bits(off != off ? 1e308 : size > 0 ? off / size : off);
    if (error > *static_cast<volatile unsigned long long*>(&a.found->worst)) atomicMax(&a.found->worst, error);
    if (good) return;
    atomicAdd(&a.found->wrong, 1ull);
    atomicMin(&a.found->first, static_cast<unsigned long long>(place));
}

extern "C" __global__ void __launch_bounds__(check_threads) bench_check_product(const __grid_constant__ arguments a) {
    const long long block = block_number();
    if (block >= a.blocks) return;
    const long long place = team_threads == 1 ? block * check_threads + threadIdx.x : block * a.every;
    if (place >= a.o.elements) return;
    const places at = places_of(a.o, place);
    exact sum = from_real<exact>(0, 0);
    double squares = 0;
    for (long long p = team_threads == 1 ? 0 : threadIdx.x; p < a.o.k; p += team_threads) {
        const exact term = load_a<exact>(a.o, at.a + p * a.o.a_step) * load_b<exact>(a.o, at.b + p * a.o.b_step);
        sum += term;
        squares += square(term);
    }
    if constexpr (team_threads > 1) {
        sum = block_sum<check_threads>(sum);
        squares = block_sum<check_threads>(squares);
        if (threadIdx.x != 0) return;
    }
    judge(a, place, at.c, sum, squares);
}
