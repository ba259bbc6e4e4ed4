// npy: NumPy's .npy files, format versions 1.0 to 3.0, holding f2, f4, f8, c8 or c16; or i4 or i8, for index tables.
#pragma once

#include <ricci/lowering/scalar_type.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::tools {

/// What an .npy file says of its data.
struct npy_header {
    lowering::scalar_type type = lowering::scalar_type::f64;
    bool swapped = false; ///< in the other byte order than this machine's
    bool fortran_order = true;
    std::vector<std::int64_t> extents;
    std::int64_t data_offset = 0; ///< bytes from the file's begin to its first element
    std::int64_t data_bytes = 0;

    /// Elements from one value of each index to the next, in the file's order.
    std::vector<std::int64_t> strides() const;
};

/// The header of `file`, checked wholly: the file holds at least the data that it names. Throws ricci::error naming
/// the file.
npy_header read_npy_header(const std::filesystem::path& file);

/// Reads the elements into `target`, of header.data_bytes bytes, in the file's order and this machine's byte order.
void read_npy_data(const std::filesystem::path& file, const npy_header& header, void* target);

/// Writes `file` in Fortran order, version 1.0. `data` is element (0, ..., 0); strides count elements.
/// Throws ricci::error (environment) if the file cannot be written, named as `shown` where that is given; it may then
/// be there in part.
void write_npy(const std::filesystem::path& file, lowering::scalar_type type,
               const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides, const void* data,
               const std::filesystem::path& shown = {});

/// Reads the Python dictionary that describes the data; `file` is for messages only. Leaves data_offset alone.
npy_header parse_npy_dictionary(std::string_view dictionary, const std::filesystem::path& file);

} // namespace ricci::tools
