// npy_files: short ways to make and read .npy files in a test.
#pragma once

#include "tools/npy.hpp"

#include <complex>
#include <numeric>
#include <vector>

namespace ricci::tests {

/// 1, 2, 3, ...
inline std::vector<double> counting(std::size_t n) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), 1.0);
    return values;
}

/// Writes f64 values, given first index fastest.
inline void write_array(const std::filesystem::path& file, const std::vector<std::int64_t>& extents,
                        const std::vector<double>& values) {
    std::vector<std::int64_t> strides;
    std::int64_t stride = 1;
    for (const std::int64_t extent : extents) strides.push_back(stride), stride *= extent;
    tools::write_npy(file, lowering::scalar_type::f64, extents, strides, values.data());
}

struct array {
    tools::npy_header header;
    std::vector<char> bytes; ///< the elements in the file's order

    template <class T>
    std::vector<T> values() const {
        const T* first = reinterpret_cast<const T*>(bytes.data());
        return {first, first + bytes.size() / sizeof(T)};
    }
};

inline array read_array(const std::filesystem::path& file) {
    array a{tools::read_npy_header(file), {}};
    a.bytes.resize(static_cast<std::size_t>(a.header.data_bytes));
    tools::read_npy_data(file, a.header, a.bytes.data());
    return a;
}

} // namespace ricci::tests
