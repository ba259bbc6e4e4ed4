// dlpack: tensors and views from and to DLPack, the exchange format of array libraries; needs <dlpack/dlpack.h>.
#pragma once

#include "dsl/tensor.hpp"
#include "dsl/view.hpp"

#include <dlpack/dlpack.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace ricci {

namespace dsl {

constexpr DLDataType dlpack_type(scalar_type t) {
    const auto code = lowering::is_index(t)     ? kDLInt
                      : lowering::is_complex(t) ? kDLComplex
                      : t == scalar_type::bf16  ? kDLBfloat
                                                : kDLFloat;
    return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * lowering::size_of(t)), 1};
}

inline DLDevice dlpack_device(device d) {
    if (!d.is_cpu() && !d.is_cuda()) throw error("DLPack has no name for the device " + d.name());
    return d.is_cpu() ? DLDevice{kDLCPU, 0} : DLDevice{kDLCUDA, d.code() - 1};
}

/// Memory that the host can reach counts as the CPU's.
inline device device_from(const DLDevice& d) {
    switch (d.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
        return cpu();
    case kDLCUDA:
    case kDLCUDAManaged:
        return cuda(d.device_id);
    default:
        throw error("a DLPack tensor on device type " + std::to_string(d.device_type) +
                    ": only CPU and CUDA are known");
    }
}

/// The managed tensor, what its fields point to, and what keeps the memory alive.
template <std::size_t Rank, class Owner>
struct dlpack_export {
    DLManagedTensor managed{};
    std::array<std::int64_t, Rank> extents{}, strides{};
    Owner owner;
};

template <class Owner, class X>
DLManagedTensor* export_to_dlpack(const X& x, Owner owner) {
    using exported = dlpack_export<static_cast<std::size_t>(X::rank), Owner>;
    auto e = std::make_unique<exported>(exported{{}, x.extents(), x.strides(), std::move(owner)});
    auto& t = e->managed.dl_tensor;
    t.data = const_cast<typename X::value_type*>(x.data());
    if constexpr (index_element<typename X::value_type>) runtime::contents_exposed(x.device(), t.data);
    t.device = dlpack_device(x.device());
    t.ndim = X::rank;
    t.dtype = dlpack_type(X::type);
    t.shape = e->extents.data();
    t.strides = e->strides.data();
    t.byte_offset = 0;
    e->managed.manager_ctx = e.get();
    e->managed.deleter = [](DLManagedTensor* m) { delete static_cast<exported*>(m->manager_ctx); };
    return &e.release()->managed;
}

struct no_owner {};

} // namespace dsl

/// The view's memory as a DLPack tensor. Whoever receives it calls its deleter; the memory stays the user's and must
/// outlive it. DLPack (before 1.0) cannot say that elements are const.
template <class T, int Rank>
DLManagedTensor* to_dlpack(const view<T, Rank>& v) {
    return dsl::export_to_dlpack(v, dsl::no_owner{});
}
/// The same for a tensor, which must outlive it.
template <class T, std::int64_t... Extents>
DLManagedTensor* to_dlpack(tensor<T, Extents...>& t) {
    return dsl::export_to_dlpack(t, dsl::no_owner{});
}
/// The tensor moves into the DLPack tensor, and is freed by its deleter.
template <class T, std::int64_t... Extents>
DLManagedTensor* to_dlpack(tensor<T, Extents...>&& t) {
    // The heap keeps the elements where they are when the tensor object moves.
    auto owner = std::make_unique<tensor<T, Extents...>>(std::move(t));
    auto& kept = *owner;
    return dsl::export_to_dlpack(kept, std::move(owner));
}

/// A view of a DLPack tensor's memory; the caller keeps the tensor, and calls its deleter when the view is done with.
/// Throws ricci::error where element type, number of axes or device do not fit.
template <class T, int Rank>
view<T, Rank> from_dlpack(const DLTensor& t) {
    constexpr auto expected = dsl::dlpack_type(dsl::element_traits<std::remove_const_t<T>>::type);
    if (t.dtype.code != expected.code || t.dtype.bits != expected.bits || t.dtype.lanes != 1)
        throw error("a DLPack tensor has elements of type code " + std::to_string(t.dtype.code) + ", " +
                    std::to_string(t.dtype.bits) + " bits, " + std::to_string(t.dtype.lanes) +
                    " lanes; the view's have code " + std::to_string(expected.code) + ", " +
                    std::to_string(expected.bits) + " bits, 1 lane");
    if (t.ndim != Rank)
        throw error("a DLPack tensor has " + std::to_string(t.ndim) + " axes, the view " + std::to_string(Rank));
    dsl::per_axis<Rank> extents{}, strides{};
    for (std::size_t r = 0; r < extents.size(); ++r) extents[r] = t.shape[r];
    if (t.strides != nullptr) {
        for (std::size_t r = 0; r < strides.size(); ++r) strides[r] = t.strides[r];
    } else {
        strides = dsl::row_major_strides(extents, sizeof(T));
    }
    auto* data = static_cast<T*>(static_cast<void*>(static_cast<char*>(t.data) + t.byte_offset));
    return {data, extents, strides, dsl::device_from(t.device)};
}
template <class T, int Rank>
view<T, Rank> from_dlpack(const DLManagedTensor* t) {
    if (t == nullptr) throw error("from_dlpack: the DLPack tensor is null");
    return from_dlpack<T, Rank>(t->dl_tensor);
}

} // namespace ricci
