// convolution_peer: who else computes the layers.
#pragma once

#include "bench/conv/problem.hpp"
#include "bench/device_tools.hpp"
#include "bench/peers/peer.hpp"
#include "bench/session.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ricci::bench::conv {

class convolution_peer {
  public:
    virtual ~convolution_peer() = default;
    /// For the report; empty where there is nothing to say.
    virtual std::string version() const = 0;
    /// All ways in which it can do `p`, whatever its algorithm, on these sets; none where it cannot. What they run is
    /// valid as long as the peer and the operands.
    virtual std::vector<contender> contenders(const problem& p, const std::vector<operand_addresses>& sets) = 0;
};

/// "direct": ricci's direct statement. "im2col": every window a row of a matrix, multiplied by the BLAS that CMake
/// found, on a CPU. "cudnn": cuDNN, on a GPU; "cudnn-gemm": only its implicit GEMMs, which is what a direct statement
/// is.
const std::vector<std::string>& convolution_peer_names();

/// Throws ricci::error (environment) where the peer is not there: no library, or another kind of device.
std::unique_ptr<convolution_peer> make_convolution_peer(const std::string& name, device where);

// What make_convolution_peer calls. Those of a GPU throw in a build without CUDA.
std::unique_ptr<convolution_peer> make_direct_peer(device where);
std::unique_ptr<convolution_peer> make_im2col_peer();
enum class cudnn_choice : std::uint8_t { all, implicit_gemms };
std::unique_ptr<convolution_peer> make_cudnn_peer(const std::string& name, device where, cudnn_choice among);

} // namespace ricci::bench::conv
