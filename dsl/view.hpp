// view: the user's memory as a tensor, with any strides; nothing is owned.
#pragma once

#include "dsl/mdspan.hpp"
#include "dsl/operand.hpp"

namespace ricci {

/// The argument of a view that says that the last index is the fastest, as in C and NumPy.
struct row_major_t {};
inline constexpr row_major_t row_major{};

/// Memory of the user on a device: element (i, j, ...) lies at data + i*strides[0] + j*strides[1] + ... Strides are
/// in elements, of any sign, and may be zero. T may be const. Throws ricci::error for a negative extent, and where
/// the size in bytes does not fit 64 bits.
template <class T, int Rank>
class view : public dsl::operand_base<T, dsl::run_time_shape<Rank>> {
    using base = dsl::operand_base<T, dsl::run_time_shape<Rank>>;

  public:
    using typename base::value_type;
    static constexpr bool writable = !std::is_const_v<T>;

    view(T* data, const dsl::per_axis<Rank>& extents, const dsl::per_axis<Rank>& strides,
         ricci::device device = cpu())
        : base(data, extents, strides, device) {}

    /// Dense memory, first index fastest, as a tensor's.
    view(T* data, const dsl::per_axis<Rank>& extents) : view(data, extents, cpu()) {}
    // A template, as the one below, so that a third argument in braces means strides.
    template <std::same_as<ricci::device> Device>
    view(T* data, const dsl::per_axis<Rank>& extents, Device device)
        : base(data, extents, dsl::dense_strides(extents, sizeof(T)), device) {}

    /// Dense memory, last index fastest: `view<double, 2> v(memory, {2, 3}, ricci::row_major)`.
    template <std::same_as<row_major_t> Order>
    view(T* data, const dsl::per_axis<Rank>& extents, Order, ricci::device device = cpu())
        : base(data, extents, dsl::row_major_strides(extents, sizeof(T)), device) {}

    // Braces with too few numbers would be filled up with zeros.
    template <std::size_t Extents, class... More>
    requires(Extents != static_cast<std::size_t>(Rank))
    view(T* data, const std::int64_t (&)[Extents], const More&...) : view(data, {}, {}) {
        (void)dsl::a_view_has_an_extent_and_a_stride_for_each_index<Rank, Extents>{};
    }
    template <std::size_t Extents, std::size_t Strides>
    requires(Extents != static_cast<std::size_t>(Rank) || Strides != static_cast<std::size_t>(Rank))
        view(T* data, const std::int64_t (&)[Extents], const std::int64_t (&)[Strides], ricci::device = cpu())
        : view(data, {}, {}) {
        (void)dsl::a_view_has_an_extent_and_a_stride_for_each_index<Rank, Extents, Strides>{};
    }

    /// Anything shaped like std::mdspan whose elements are plain memory.
    template <dsl::mdspan_of<T, Rank> M>
    explicit view(const M& m, ricci::device device = cpu())
        : base(m.data_handle(), dsl::extents_of<Rank>(m), dsl::strides_of<Rank>(m), device) {}

    /// A view of const elements from one of others.
    template <std::same_as<value_type> U>
    view(const view<U, Rank>& v) : view(v.data(), v.extents(), v.strides(), v.device()) {}

    T* data() const { return static_cast<T*>(this->header_.data); }

    /// Sets every element to x, by a statement: within record() it is part of the program.
    void fill(const value_type& x) const requires writable {
        (void)dsl::filled_elements_are_numbers<value_type>{};
        dsl::run_fill(this->header_, this->extents_, this->strides_, dsl::as_scalar(x));
    }

    /// One index, affine position or integer per axis.
    template <dsl::position_argument... P>
    auto operator()(const P&... p) const {
        return this->template at<writable>(false, p...);
    }
};

template <dsl::mdspan_like M>
view(const M&, ricci::device = cpu()) -> view<typename M::element_type, static_cast<int>(M::rank())>;

/// `padded(D)(b, c, y + r - 1, x + s - 1)`: reads outside of D are zero, writes outside are dropped.
template <class T, int Rank>
auto padded(const view<T, Rank>& d) {
    return dsl::padded_operand<view<T, Rank>::writable, T, dsl::run_time_shape<Rank>>(d);
}

/// `C(i, j, distinct(p)(e)) = ...`: the user's promise that all entries of p differ, so that no element is written
/// twice.
template <class T, int Rank>
auto distinct(const view<T, Rank>& p) {
    return dsl::marked_table<dsl::entries::distinct, T, dsl::run_time_shape<Rank>>(p);
}

/// `v(atomic(l)(i, e)) += ...`: what equal entries of l add may be added in any order, by a GPU's atomic operations.
template <class T, int Rank>
auto atomic(const view<T, Rank>& l) {
    return dsl::marked_table<dsl::entries::atomic, T, dsl::run_time_shape<Rank>>(l);
}

} // namespace ricci
