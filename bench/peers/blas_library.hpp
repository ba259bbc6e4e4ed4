// blas_library: which BLAS was linked, as far as it can be asked, and how many threads it uses.
#pragma once

#include <string>

namespace ricci::bench {

/// "OpenBLAS 0.3.21 ..."; empty for another.
std::string blas_version();

/// Does nothing with a BLAS that is not OpenBLAS.
void set_blas_threads(int count);

} // namespace ricci::bench
