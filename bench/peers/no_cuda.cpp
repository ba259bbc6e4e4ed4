// no_cuda: stands in for the peers and facts of a GPU in a build without CUDA.
#include "bench/conv/convolution_peer.hpp"
#include "bench/gpu_facts.hpp"
#include "bench/peers/peer.hpp"

#include <ricci/lowering/error.hpp>

namespace ricci::bench {

namespace {

[[noreturn]] void refuse() { throw error("this build of ricci has no CUDA", blame::environment); }

} // namespace

std::unique_ptr<peer> make_cublas_peer(device) { refuse(); }
std::unique_ptr<peer> make_cutensor_peer(device) { refuse(); }
gpu_facts facts_of(device) { return {}; }
std::unique_ptr<energy_meter> make_energy_meter(device) { refuse(); }
std::unique_ptr<conv::convolution_peer> conv::make_cudnn_peer(const std::string&, device, cudnn_choice) {
    refuse();
}

} // namespace ricci::bench
