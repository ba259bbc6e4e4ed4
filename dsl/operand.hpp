// operand: what tensors, views and locals have in common: they are indexed, and described, in the same way.
#pragma once

#include "dsl/access.hpp"
#include "dsl/capture.hpp"
#include "dsl/element.hpp"
#include "dsl/extents.hpp"

#include "lowering/statement.hpp"
#include "runtime/device.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace ricci::dsl {

template <class T>
struct element_type_is_supported {
    static_assert(
        element<T> || index_element<T>,
        "the element type must be float, double, std::complex of these, ricci::half or ricci::bfloat16; of an "
        "index table a signed integer of 4 or 8 bytes");
    static constexpr bool value = true;
};

struct operand_tag {};
template <class X>
concept without_indices = std::derived_from<X, operand_tag>;

/// Memory described by extents and strides, or none for a local. T may be const.
template <class T, class Shape>
class operand_base : public operand_tag {
    static_assert(element_type_is_supported<std::remove_const_t<T>>::value);
    static_assert(Shape::rank <= lowering::max_axes, "more axes than ricci supports");

  public:
    using element_type = T;
    using value_type = std::remove_const_t<T>;
    static constexpr int rank = Shape::rank;
    static constexpr scalar_type type = element_traits<value_type>::type;

    /// Elements along axis r, 0 <= r < rank.
    std::int64_t extent(int r) const { return extents_[static_cast<std::size_t>(r)]; }
    const per_axis<rank>& extents() const { return extents_; }
    /// In elements.
    const per_axis<rank>& strides() const { return strides_; }
    /// The number of elements, the product of the extents.
    std::int64_t size() const { return size_; }
    ricci::device device() const { return ricci::device(header_.device); }

  protected:
    operand_base(T* data, const per_axis<rank>& extents, const per_axis<rank>& strides, ricci::device device)
        : extents_(extents), strides_(strides), size_(checked_size(extents.data(), rank, sizeof(T))) {
        header_.data = const_cast<value_type*>(data);
        header_.type = type;
        header_.device = device.code();
    }

    template <bool Writable, class... P>
    auto at(bool padded, const P&... p) const {
        if constexpr (index_element<value_type>) {
            return make_table<type, Writable, entries::any, Shape>(header_, extents_.data(), strides_.data(), p...);
        } else {
            auto header = header_;
            header.padded = padded;
            return make_access<type, Writable, Shape>(header, extents_.data(), strides_.data(), p...);
        }
    }

    per_axis<rank> extents_{};
    per_axis<rank> strides_{};
    std::int64_t size_ = 0;
    lowering::access header_;
};

/// Every element = x, by a statement. Axes along which all elements are one are left out.
template <std::size_t Rank>
void run_fill(lowering::access header, const std::array<std::int64_t, Rank>& extents,
              const std::array<std::int64_t, Rank>& strides, const lowering::scalar& x) {
    static constexpr std::string_view names[] = {"i0",  "i1",  "i2",  "i3",  "i4",  "i5",  "i6",  "i7",
                                                 "i8",  "i9",  "i10", "i11", "i12", "i13", "i14", "i15",
                                                 "i16", "i17", "i18", "i19", "i20", "i21", "i22", "i23",
                                                 "i24", "i25", "i26", "i27", "i28", "i29", "i30", "i31"};
    auto& s = empty_statement();
    header.position_count = static_cast<std::int32_t>(Rank);
    s.accesses.push_back(header);
    for (std::size_t r = 0; r < Rank; ++r) {
        const bool fixed = strides[r] == 0 && extents[r] > 0;
        s.positions.push_back({extents[r], strides[r], 0, static_cast<std::int32_t>(s.terms.size()), fixed ? 0 : 1});
        if (fixed) continue;
        s.terms.push_back({static_cast<std::int32_t>(s.labels.size()), 1});
        s.labels.push_back({names[r], lowering::no_range, lowering::no_range});
    }
    s.scalars.push_back(x);
    s.add(operation::scalar, 0);
    runtime::run(s);
}

template <class T>
struct filled_elements_are_numbers {
    static_assert(element<T>, "fill is for numbers; the entries of an index table are uploaded");
};

/// `2 * B` for `2 * B(i)`.
template <class L, class R>
requires without_indices<L> || without_indices<R>
double refuse_without_indices() {
    (void)tensors_stand_with_indices<L, R>{};
    return 0;
}
template <class L, class R>
requires without_indices<L> || without_indices<R>
auto operator+(const L&, const R&) { return refuse_without_indices<L, R>(); }
template <class L, class R>
requires without_indices<L> || without_indices<R>
auto operator-(const L&, const R&) { return refuse_without_indices<L, R>(); }
template <class L, class R>
requires without_indices<L> || without_indices<R>
auto operator*(const L&, const R&) { return refuse_without_indices<L, R>(); }
template <class L, class R>
requires without_indices<L> || without_indices<R>
auto operator/(const L&, const R&) { return refuse_without_indices<L, R>(); }

template <class T>
struct padded_elements_are_numbers {
    static_assert(element<T>, "an index table cannot be padded");
};
template <class T>
struct distinct_is_for_index_tables {
    static_assert(index_element<T>, "distinct is for index tables: tensors and views of integers");
};
template <class T>
struct atomic_is_for_index_tables {
    static_assert(index_element<T>, "atomic is for index tables: tensors and views of integers");
};

/// An index table of whose entries the user says something.
template <entries Said, class T, class Shape>
class marked_table : operand_base<T, Shape> {
    using base = operand_base<T, Shape>;

  public:
    explicit marked_table(const base& table) : base(table) {
        if constexpr (Said == entries::distinct)
            (void)distinct_is_for_index_tables<typename base::value_type>{};
        else
            (void)atomic_is_for_index_tables<typename base::value_type>{};
    }
    template <position_argument... P>
    auto operator()(const P&... p) const {
        return make_table<base::type, false, Said, Shape>(this->header_, this->extents_.data(), this->strides_.data(),
                                                          p...);
    }
};

/// D with reads outside giving zero and writes outside dropped.
template <bool Writable, class T, class Shape>
class padded_operand : operand_base<T, Shape> {
  public:
    explicit padded_operand(const operand_base<T, Shape>& d) : operand_base<T, Shape>(d) {
        (void)padded_elements_are_numbers<std::remove_const_t<T>>{};
    }
    template <position_argument... P>
    auto operator()(const P&... p) const {
        return this->template at<Writable>(true, p...);
    }
};

} // namespace ricci::dsl
