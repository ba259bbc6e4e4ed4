// operator_peer: who else applies the operators of the bake-off problems.
#pragma once

#include "bench/device_tools.hpp"
#include "bench/fem/problem.hpp"
#include "bench/peers/peer.hpp"
#include "bench/session.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ricci::bench::fem {

class operator_peer {
  public:
    virtual ~operator_peer() = default;
    /// For the report; empty where there is nothing to say.
    virtual std::string version() const = 0;
    /// All ways in which it can do `p` on these sets. What they run is valid as long as the peer and the operands.
    virtual std::vector<contender> contenders(const problem& p, const std::vector<operand_addresses>& sets) = 0;
};

/// "unfused": ricci, a contraction at a time, each intermediate in memory. "cublas", "blas": the same, the
/// contractions by that library. "loops": written by hand, on a CPU.
const std::vector<std::string>& operator_peer_names();

/// Throws ricci::error (environment) where the peer is not there: no library, or another kind of device.
std::unique_ptr<operator_peer> make_operator_peer(const std::string& name, device where, device_tools& tools);

// What make_operator_peer calls.
std::unique_ptr<operator_peer> make_loops_peer();
/// The contractions by `library`, by ricci where it is null.
std::unique_ptr<operator_peer> make_step_peer(const std::string& name, std::unique_ptr<peer> library, device where);

} // namespace ricci::bench::fem
