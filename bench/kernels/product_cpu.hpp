// product_cpu: a batch of products with all sizes and strides as constants, for peers that a compiler makes of it.
// Constants: real, is_complex, m, n, k, accumulate, gathered, a_conjugated, b_conjugated, and of A, B and C how far
// two rows, columns and matrices of the batch are apart, in elements: a_row, a_column, a_batch, b_row, ...

/// f(c, a, b) for products [first, last) of the batch, with pointers to their elements. Words: C, A, B and, gathered,
/// which of A's and B's matrices each product takes.
template <class Element, class F>
inline void for_each_product(const unsigned long* words, long first, long last, F f) {
    auto* const c = reinterpret_cast<Element*>(words[0]);
    const auto* const a = reinterpret_cast<const Element*>(words[1]);
    const auto* const b = reinterpret_cast<const Element*>(words[2]);
    const auto* const places = reinterpret_cast<const int*>(words[3]);
    for (long e = first; e < last; ++e) {
        const long place = gathered ? places[e] : e;
        f(c + e * c_batch, a + place * a_batch, b + place * b_batch);
    }
}
