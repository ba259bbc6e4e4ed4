// pointer_view: matrices of the user at any addresses as one tensor, whose last index runs over an array of pointers.
#pragma once

#include "dsl/operand.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ricci {

/// Element (i, j, e) lies at pointers[e] + i*strides[0] + j*strides[1]. The pointers are in the device's memory, each
/// aligned to its elements; they are read when a statement runs. T may be const. On a left side the matrices must not
/// overlap each other; those of two pointer_views in one statement, one of them on the left, nor those and another
/// operand, unless both begin at the same element of one array of pointers: where a matrix lies cannot be seen before
/// the statement runs.
template <class T, int Rank>
class pointer_view : public dsl::operand_tag {
    static_assert(dsl::element<std::remove_const_t<T>>, "a pointer_view is of numbers");
    static_assert(Rank >= 1 && Rank <= lowering::max_axes, "a pointer_view has a last index, over the pointers");
    static constexpr std::size_t inner = static_cast<std::size_t>(Rank) - 1;

  public:
    using element_type = T;
    using value_type = std::remove_const_t<T>;
    static constexpr int rank = Rank;
    static constexpr lowering::scalar_type type = dsl::element_traits<value_type>::type;
    static constexpr bool writable = !std::is_const_v<T>;

    /// The last of the extents is the number of pointers; the others have strides, in elements.
    pointer_view(T* const* pointers, const dsl::per_axis<Rank>& extents,
                 const std::array<std::int64_t, inner>& strides, ricci::device device = cpu())
        : extents_(extents) {
        dsl::checked_size(extents.data(), Rank, sizeof(T));
        for (std::size_t r = 0; r < inner; ++r) strides_[r] = strides[r];
        header_.type = type;
        header_.device = pointers_.device = device.code();
        pointers_.type = lowering::scalar_type::address;
        pointers_.data = const_cast<void*>(static_cast<const void*>(pointers));
    }

    /// Dense matrices, first index fastest.
    template <std::same_as<ricci::device> Device = ricci::device>
    explicit pointer_view(T* const* pointers, const dsl::per_axis<Rank>& extents, Device device = cpu())
        : pointer_view(pointers, extents, inner_strides(extents), device) {}

    std::int64_t extent(int r) const { return extents_[static_cast<std::size_t>(r)]; }
    const dsl::per_axis<Rank>& extents() const { return extents_; }
    ricci::device device() const { return ricci::device(header_.device); }
    T* const* pointers() const { return static_cast<T* const*>(pointers_.data); }

    /// One index, affine position or integer per axis.
    template <dsl::position_argument... P>
    auto operator()(const P&... p) const {
        (void)dsl::rank_of_the_tensor_is<sizeof...(P), Rank>{};
        if constexpr (sizeof...(P) == Rank) return at(std::make_index_sequence<inner>{}, std::tie(p...));
    }

  private:
    using shape = dsl::run_time_shape<Rank>;

    template <std::size_t... N, class All>
    auto at(std::index_sequence<N...>, const All& positions) const {
        constexpr std::int64_t one = 1;
        const auto& last = std::get<inner>(positions);
        return dsl::make_access<type, writable, shape>(
            header_, extents_.data(), strides_.data(), std::get<N>(positions)...,
            dsl::make_table<lowering::scalar_type::address, false, dsl::entries::any, dsl::shape<dyn>>(
                pointers_, &extents_[inner], &one, last));
    }

    static std::array<std::int64_t, inner> inner_strides(const dsl::per_axis<Rank>& extents) {
        std::array<std::int64_t, inner> own{};
        for (std::size_t r = 0; r < inner; ++r) own[r] = extents[r];
        return dsl::dense_strides(own, sizeof(T));
    }

    lowering::access header_, pointers_;
    dsl::per_axis<Rank> extents_{}, strides_{};
};

} // namespace ricci
