// embedded: the sources of the bench's own GPU kernels, as compiled into the library.
#pragma once

#include <string_view>

namespace ricci::bench {

/// The text of a file, by its name in bench/kernels/; empty if there is none.
std::string_view source_file(std::string_view name);

} // namespace ricci::bench
