// blas_library: which BLAS was linked, as far as it can be asked.
#pragma once

#include <string>

namespace ricci::bench {

/// "OpenBLAS 0.3.21 ..."; empty for another.
std::string blas_version();

} // namespace ricci::bench
