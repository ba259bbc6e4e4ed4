// tensor: memory of its own on one device, dense, first index fastest; extents in the type or given at run time.
#pragma once

#include "dsl/operand.hpp"
#include "dsl/view.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ricci {

/// First argument of a tensor's constructor that leaves its elements without a value.
struct uninitialized_t {};
inline constexpr uninitialized_t uninitialized{};

namespace dsl {

/// An extent as a constant: Hana's 64_c, std::integral_constant.
template <class X>
concept constant_extent = !std::integral<X> && requires {
    { X::value } -> std::convertible_to<std::int64_t>;
};

/// What a tensor's constructor takes: run-time extents, and a device behind them.
template <class X>
concept tensor_argument = integer<X> || std::same_as<X, device>;

template <int Given, int Expected>
struct number_of_run_time_extents_is {
    static_assert(Given == Expected, "a tensor takes one argument for each extent of its type that is ricci::dyn");
};

template <class X>
std::int64_t to_extent(const X& x) {
    if constexpr (constant_extent<X>) {
        return X::value;
    } else {
        return to_int64(x);
    }
}

/// The extents among a tensor's arguments: all but the device.
template <class... A>
auto extents_among(const A&... arguments) {
    constexpr std::size_t count = sizeof...(A) - (std::size_t{std::same_as<A, device>} + ... + 0);
    std::array<std::int64_t, count> out{};
    std::size_t n = 0;
    [[maybe_unused]] const auto take = [&](const auto& x) {
        if constexpr (!std::same_as<std::remove_cvref_t<decltype(x)>, device>) out[n++] = to_extent(x);
    };
    (take(arguments), ...);
    return out;
}

inline device device_among() { return default_device(); }
template <class First, class... A>
device device_among(const First& first, const A&... more) {
    if constexpr (std::same_as<First, device>)
        return first;
    else
        return device_among(more...);
}

/// The extents of Shape, with `arguments` for those that are dyn.
template <class Shape, class... A>
per_axis<Shape::rank> all_extents(const A&... arguments) {
    const auto given = extents_among(arguments...);
    (void)
        number_of_run_time_extents_is<static_cast<int>(std::tuple_size_v<decltype(given)>), Shape::run_time_count>{};
    per_axis<Shape::rank> out{};
    std::size_t r = 0, n = 0;
    for (const auto e : Shape::values) out[r++] = e == dyn ? given[n++] : e;
    return out;
}

/// `extents`, which must be those of Shape where it has constants.
template <class Shape>
const per_axis<Shape::rank>& matching_extents(const per_axis<Shape::rank>& extents) {
    for (std::size_t r = 0; r < extents.size(); ++r)
        if (Shape::values[r] != dyn && Shape::values[r] != extents[r])
            throw error("extent " + std::to_string(r + 1) + " of a tensor is " + std::to_string(extents[r]) +
                        ", but its type says " + std::to_string(Shape::values[r]));
    return extents;
}

} // namespace dsl

/// A tensor with elements of type T on one device. Extents are the constants of its type, or dyn. Movable; copy()
/// copies. A tensor that was moved from has no memory.
template <class T, std::int64_t... Extents>
class tensor : public dsl::operand_base<T, dsl::shape<Extents...>> {
    static_assert(((Extents >= 0 || Extents == dyn) && ...), "an extent is negative");
    using shape = dsl::shape<Extents...>;
    using base = dsl::operand_base<T, shape>;

  public:
    using base::rank;
    using typename base::value_type;
    static_assert(!std::is_const_v<T>, "a tensor of const elements could never be written");

    /// tensor(run-time extents..., device = default_device()): all elements zero.
    template <dsl::tensor_argument... A>
    explicit tensor(A... arguments)
        : tensor(true, dsl::all_extents<shape>(arguments...), dsl::device_among(arguments...)) {}

    /// From all extents at once; those in the type must be the same there.
    explicit tensor(const dsl::per_axis<rank>& extents, ricci::device d = default_device())
        : tensor(true, dsl::matching_extents<shape>(extents), d) {}

    /// tensor(uninitialized, run-time extents..., device): the elements have no value yet.
    template <dsl::tensor_argument... A>
    explicit tensor(uninitialized_t, A... arguments)
        : tensor(false, dsl::all_extents<shape>(arguments...), dsl::device_among(arguments...)) {}

    tensor(tensor&& other) noexcept : base(other) { other.forget(); }
    tensor& operator=(tensor&& other) noexcept {
        if (this == &other) return *this;
        runtime::release(this->device(), this->header_.data);
        base::operator=(other);
        other.forget();
        return *this;
    }
    tensor(const tensor&) = delete;
    tensor& operator=(const tensor&) = delete;
    ~tensor() { runtime::release(this->device(), this->header_.data); }

    /// To write through: from then on ricci looks at an index table's entries where it would know them else.
    T* data() {
        if constexpr (dsl::index_element<T>) runtime::contents_exposed(this->device(), this->header_.data);
        return static_cast<T*>(this->header_.data);
    }
    const T* data() const { return static_cast<const T*>(this->header_.data); }

    /// The extents of the type as Hana constants, dyn where there is none.
    static constexpr auto static_extents() { return shape::constants; }

    /// Sets every element to x, by a statement: within record() it is part of the program.
    void fill(const T& x) {
        (void)dsl::filled_elements_are_numbers<T>{};
        // Dense memory is one axis, whatever its shape: one kernel for every tensor of T.
        dsl::run_fill<1>(this->header_, {this->size()}, {1}, dsl::as_scalar(x));
    }

    /// A second tensor with the same elements, on the same device.
    tensor copy() const { return to(this->device()); }

    /// A second tensor with the same elements, on device d.
    tensor to(ricci::device d) const {
        dsl::refuse_read_while_collecting();
        if (data() == nullptr && dsl::checked_size(this->extents().data(), rank, sizeof(T)) != 0)
            throw error("a tensor that was moved from has no elements to copy");
        tensor out(false, this->extents(), d);
        runtime::copy(d, out.header_.data, this->device(), this->header_.data, bytes());
        return out;
    }

    /// Copies elements from the host, first index fastest. Throws ricci::error unless there are size() of them.
    void upload(std::span<const T> elements) {
        dsl::refuse_write_while_collecting();
        if (elements.size() != static_cast<std::size_t>(this->size()))
            throw error("upload of " + std::to_string(elements.size()) + " elements into " +
                        dsl::described(this->extents().data(), rank) + ", which has " + std::to_string(this->size()));
        if constexpr (dsl::index_element<T>) runtime::contents_written(this->device(), this->header_.data);
        runtime::copy(this->device(), this->header_.data, cpu(), elements.data(), bytes());
    }
    void upload(std::initializer_list<T> elements) { upload(std::span<const T>(elements.begin(), elements.size())); }

    /// The elements, first index fastest. Waits for the device.
    std::vector<T> download() const {
        dsl::refuse_read_while_collecting();
        std::vector<T> out(static_cast<std::size_t>(this->size()));
        runtime::copy(cpu(), out.data(), this->device(), this->header_.data, bytes());
        return out;
    }

    operator view<T, rank>() { return {data(), this->extents(), this->strides(), this->device()}; }
    operator view<const T, rank>() const { return {data(), this->extents(), this->strides(), this->device()}; }

    /// One index, affine position or integer per axis.
    template <dsl::position_argument... P>
    auto operator()(const P&... p) {
        return this->template at<true>(false, p...);
    }
    template <dsl::position_argument... P>
    auto operator()(const P&... p) const {
        return this->template at<false>(false, p...);
    }

  private:
    tensor(bool zeroed, const dsl::per_axis<rank>& extents, ricci::device d)
        : base(nullptr, extents, dsl::dense_strides(extents, sizeof(T)), d) {
        this->header_.data = runtime::allocate(d, bytes(), zeroed);
        if constexpr (dsl::index_element<T>) runtime::track_contents(d, this->header_.data);
    }
    void forget() noexcept {
        this->header_.data = nullptr;
        this->size_ = 0;
    }
    std::size_t bytes() const { return static_cast<std::size_t>(this->size()) * sizeof(T); }
};

/// `padded(D)(b, c, y + r - 1, x + s - 1)`: reads outside of D are zero, writes outside are dropped.
template <class T, std::int64_t... Extents>
auto padded(tensor<T, Extents...>& d) {
    return dsl::padded_operand<true, T, dsl::shape<Extents...>>(d);
}
template <class T, std::int64_t... Extents>
auto padded(const tensor<T, Extents...>& d) {
    return dsl::padded_operand<false, T, dsl::shape<Extents...>>(d);
}

/// `C(i, j, distinct(p)(e)) = ...`: the user's promise that all entries of p differ, so that no element is written
/// twice.
template <class T, std::int64_t... Extents>
auto distinct(const tensor<T, Extents...>& p) {
    return dsl::marked_table<dsl::entries::distinct, T, dsl::shape<Extents...>>(p);
}

/// `v(atomic(l)(i, e)) += ...`: what equal entries of l add may be added in any order, by a GPU's atomic operations.
template <class T, std::int64_t... Extents>
auto atomic(const tensor<T, Extents...>& l) {
    return dsl::marked_table<dsl::entries::atomic, T, dsl::shape<Extents...>>(l);
}

namespace dsl {

template <class T, class... A, std::size_t... N>
auto tensor_with_constants(std::index_sequence<N...>, const A&... a) {
    constexpr auto extent = []<class X>(const X*) {
        if constexpr (constant_extent<X>)
            return static_cast<std::int64_t>(X::value);
        else
            return dyn;
    };
    using arguments = std::tuple<A...>;
    constexpr std::array<std::int64_t, sizeof...(N)> extents{
        extent(static_cast<const std::tuple_element_t<N, arguments>*>(nullptr))...};
    return tensor<T, extents[N]...>(extents_among(a...), device_among(a...));
}

} // namespace dsl

/// make_tensor<float>(64_c, 64_c, count, device): an extent that is a constant goes into the type. All zero.
template <class T, class... A>
auto make_tensor(const A&... arguments) {
    using rank = std::tuple_size<decltype(dsl::extents_among(arguments...))>;
    return dsl::tensor_with_constants<T>(std::make_index_sequence<rank::value>{}, arguments...);
}

} // namespace ricci
