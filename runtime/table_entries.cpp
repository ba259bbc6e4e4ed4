// table_entries: the entries of the tables of a scatter_shape, on the host.
#include "runtime/table_entries.hpp"

namespace ricci::runtime {

using namespace lowering;

const void* first_entry(const scatter_table& table, const statement& s) {
    return static_cast<const std::byte*>(s.accesses[static_cast<std::size_t>(table.source)].data) +
           table.offset * size_of(table.type);
}

table_entries::table_entries(const scatter_shape& shape, const scatter_table& table, const statement& s, device d,
                             backend& b)
    : first_(first_entry(table, s)), is_narrow_(table.type == scalar_type::i32) {
    if (d.is_cpu()) return;
    std::int64_t low = 0, high = 0;
    for (std::size_t a = 0; a < shape.axes.size(); ++a)
        (table.stride[a] < 0 ? low : high) += table.stride[a] * (shape.extent[a] - 1);
    const auto size = size_of(table.type);
    copy_.resize(static_cast<std::size_t>((high - low + 1) * size));
    b.copy_out(copy_.data(), static_cast<const std::byte*>(first_) + low * size, copy_.size());
    first_ = copy_.data() - low * size;
}

} // namespace ricci::runtime
