// no_cuda: stands in for cuSOLVER in a build without CUDA.
#include "bench/factor/factor_peer.hpp"

#include <ricci/lowering/error.hpp>

namespace ricci::bench::factor {

std::unique_ptr<factor_peer> make_cusolver_peer(device) {
    throw error("this build of ricci has no CUDA", blame::environment);
}

} // namespace ricci::bench::factor
