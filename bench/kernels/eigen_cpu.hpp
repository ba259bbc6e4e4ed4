// eigen_cpu: a batch of products by Eigen, maps of fixed size. Stands behind product_cpu.hpp, std::complex and
// Eigen/Core.

template <bool Complex> struct element_of { using type = real; };
template <> struct element_of<true> { using type = std::complex<real>; };
using element = element_of<is_complex>::type;

/// A matrix in memory, by row or by column, which a vector has to be along its length. Where nothing lies between
/// its lines, no stride is told: Eigen then knows that it is one piece.
template <long Rows, long Columns, long Row, long Column> struct layout {
    static constexpr bool by_row = Columns == 1 ? false : Rows == 1 ? true : Column == 1 && Row != 1;
    static constexpr long step = by_row ? Column : Row, line = by_row ? Row : Column;
    static constexpr long length = by_row ? Columns : Rows, lines = by_row ? Rows : Columns;
    static constexpr bool in_one_piece = step == 1 && (lines == 1 || line == length);
    using matrix = Eigen::Matrix<element, Rows, Columns, by_row ? Eigen::RowMajor : Eigen::ColMajor>;
    using stride = Eigen::Stride<in_one_piece ? 0 : line, in_one_piece || step == 1 ? 0 : step>;
    using map = Eigen::Map<matrix, Eigen::Unaligned, stride>;
    using const_map = Eigen::Map<const matrix, Eigen::Unaligned, stride>;
};

using a_layout = layout<m, k, a_row, a_column>;
using b_layout = layout<k, n, b_row, b_column>;
using c_layout = layout<m, n, c_row, c_column>;

template <bool Lazy, class A, class B> inline void multiply(element* c, const A& a, const B& b) {
    c_layout::map to(c);
    if constexpr (Lazy && accumulate)
        to.noalias() += a.lazyProduct(b);
    else if constexpr (Lazy)
        to.noalias() = a.lazyProduct(b);
    else if constexpr (accumulate)
        to.noalias() += a * b;
    else
        to.noalias() = a * b;
}

template <bool Lazy> void multiply_batch(const unsigned long* words, long first, long last) {
    for_each_product<element>(words, first, last, [](element* c, const element* a_at, const element* b_at) {
        const a_layout::const_map a(a_at);
        const b_layout::const_map b(b_at);
        if constexpr (a_conjugated && b_conjugated)
            multiply<Lazy>(c, a.conjugate(), b.conjugate());
        else if constexpr (a_conjugated)
            multiply<Lazy>(c, a.conjugate(), b);
        else if constexpr (b_conjugated)
            multiply<Lazy>(c, a, b.conjugate());
        else
            multiply<Lazy>(c, a, b);
    });
}

extern "C" void native_functions(const unsigned long* words, long, long) {
    auto* const all = reinterpret_cast<void (**)(const unsigned long*, long, long)>(words[0]);
    all[0] = multiply_batch<false>, all[1] = multiply_batch<true>;
}
