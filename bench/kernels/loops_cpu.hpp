// loops_cpu: a batch of products as three loops, ijk or ikj, as one writes them; the compiler knows all sizes. C is
// taken by row: where it is stored by column, the product is C^T = B^T*A^T. Stands behind product_cpu.hpp.

struct complex_number {
    real re, im;
    complex_number& operator+=(const complex_number& x) { return re += x.re, im += x.im, *this; }
};
inline complex_number operator*(const complex_number& x, const complex_number& y) {
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
inline complex_number conjugate(const complex_number& x) { return {x.re, -x.im}; }
inline real conjugate(real x) { return x; }

template <bool Complex> struct element_of { using type = real; };
template <> struct element_of<true> { using type = complex_number; };
using element = element_of<is_complex>::type;

inline element a_at(const element* a, long i, long q) {
    const element x = a[i * a_row + q * a_column];
    return a_conjugated ? conjugate(x) : x;
}
inline element b_at(const element* b, long q, long j) {
    const element x = b[q * b_row + j * b_column];
    return b_conjugated ? conjugate(x) : x;
}

inline void ijk(element* __restrict c, const element* __restrict a, const element* __restrict b) {
    for (long i = 0; i < m; ++i)
        for (long j = 0; j < n; ++j) {
            element sum{};
            for (long q = 0; q < k; ++q) sum += a_at(a, i, q) * b_at(b, q, j);
            if (accumulate)
                c[i * c_row + j * c_column] += sum;
            else
                c[i * c_row + j * c_column] = sum;
        }
}

inline void ikj(element* __restrict c, const element* __restrict a, const element* __restrict b) {
    for (long i = 0; i < m; ++i) {
        if (!accumulate)
            for (long j = 0; j < n; ++j) c[i * c_row + j * c_column] = element{};
        for (long q = 0; q < k; ++q)
            for (long j = 0; j < n; ++j) c[i * c_row + j * c_column] += a_at(a, i, q) * b_at(b, q, j);
    }
}

inline void ijk_batch(const unsigned long* words, long first, long last) {
    for_each_product<element>(words, first, last, ijk);
}
inline void ikj_batch(const unsigned long* words, long first, long last) {
    for_each_product<element>(words, first, last, ikj);
}

extern "C" void native_functions(const unsigned long* words, long, long) {
    auto* const all = reinterpret_cast<void (**)(const unsigned long*, long, long)>(words[0]);
    all[0] = ijk_batch, all[1] = ikj_batch;
}
