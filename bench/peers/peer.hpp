// peer: who ricci is measured against, and what each of them offers to do with a product.
#pragma once

#include "bench/device_tools.hpp"
#include "bench/product.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::bench {

/// One way to compute a product.
struct contender {
    std::string peer;                         ///< "ricci", "cublas"
    std::string variant;                      ///< "strided"; empty where a peer has but one
    std::function<void(std::size_t set)> run; ///< on one of the sets of operands, on the device's current stream
    bool computes = true;                     ///< false: there is nothing to check
    std::function<void()> show = {};          ///< puts the first set's results where they are checked, if need be
};

class peer {
  public:
    virtual ~peer() = default;
    /// Library and version, for the report; empty where there is nothing to say.
    virtual std::string version() const { return ""; }
    /// All ways in which it can do `p`, which may be none. What they run is valid as long as the peer and the
    /// operands.
    virtual std::vector<contender> contenders(const product& p, std::span<const operand_set> sets) = 0;
};

/// The names that make_peer knows.
const std::vector<std::string>& peer_names();

/// Throws ricci::error (environment) where the peer is not there: no library, or another kind of device.
std::unique_ptr<peer> make_peer(const std::string& name, device where, device_tools& tools);

// What make_peer calls. Those of a GPU throw in a build without CUDA.
std::unique_ptr<peer> make_plain_peer(device_tools& tools);
std::unique_ptr<peer> make_triad_peer(device where, device_tools& tools);
std::unique_ptr<peer> make_blas_peer();
std::unique_ptr<peer> make_libxsmm_peer();
std::unique_ptr<peer> make_eigen_peer();
std::unique_ptr<peer> make_loop_peer(const std::string& order); ///< "ijk" or "ikj"
std::unique_ptr<peer> make_cublas_peer(device where);
std::unique_ptr<peer> make_cutensor_peer(device where);

} // namespace ricci::bench
