// embedded: the kernel sources and tuning tables, as compiled into the library.
#pragma once

#include <string_view>

namespace ricci::kernels {

/// The text of a file of kernels/, by its name below that folder; empty if there is none.
std::string_view source_file(std::string_view name);

} // namespace ricci::kernels
