// table_fingerprint: a number that changes with a table's entries, for tables that others may write.
#pragma once

#include "lowering/scatter_shape.hpp"
#include "lowering/statement.hpp"
#include "runtime/backend.hpp"
#include "runtime/kernel_source.hpp"

#include <cstddef>
#include <cstdint>

namespace ricci::runtime {

/// Of the entries that the shape's axes reach: 64 bits, in which every change of an entry shows but for one in 2^64.
/// By the device's threads; waits for it. Takes nothing from the heap on the CPU.
std::uint64_t table_fingerprint(const lowering::scatter_shape& shape, const lowering::scatter_table& table,
                                const lowering::statement& s, backend& b);

/// The kernel that does so on a GPU, for tables of this type and so many axes.
kernel_launch fingerprint_kernel(lowering::scalar_type type, std::size_t axes);

} // namespace ricci::runtime
