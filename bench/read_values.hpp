// read_values: elements of a tensor on a device, as numbers of a wider type on the host.
#pragma once

#include <ricci/lowering/scalar_type.hpp>
#include <ricci/runtime/device.hpp>
#include <ricci/runtime/half.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ricci::bench {

/// `count` numbers from element `first` on. Of real types.
template <class To>
std::vector<To> read_values(lowering::scalar_type type, const void* tensor, std::int64_t first, std::int64_t count,
                            device where) {
    const auto get = [&]<class T>(T) {
        std::vector<T> host(static_cast<std::size_t>(count));
        runtime::copy(cpu(), host.data(), where, static_cast<const T*>(tensor) + first, host.size() * sizeof(T));
        return std::vector<To>(host.begin(), host.end());
    };
    switch (type) {
    case lowering::scalar_type::f16:
        return get(half());
    case lowering::scalar_type::bf16:
        return get(bfloat16());
    case lowering::scalar_type::f32:
        return get(float());
    default:
        return get(double());
    }
}

/// Numbers as a tensor of `type` has them in memory. Of real types.
inline std::vector<std::byte> bytes_of_values(lowering::scalar_type type, const std::vector<double>& numbers) {
    std::vector<std::byte> out(numbers.size() * static_cast<std::size_t>(lowering::size_of(type)));
    const auto put = [&]<class T>(T) {
        auto* const to = reinterpret_cast<T*>(out.data());
        for (std::size_t n = 0; n < numbers.size(); ++n)
            if constexpr (sizeof(T) == 2)
                to[n] = T(static_cast<float>(numbers[n]));
            else
                to[n] = static_cast<T>(numbers[n]);
    };
    switch (type) {
    case lowering::scalar_type::f16:
        put(half());
        break;
    case lowering::scalar_type::bf16:
        put(bfloat16());
        break;
    case lowering::scalar_type::f32:
        put(float());
        break;
    default:
        put(double());
    }
    return out;
}

} // namespace ricci::bench
