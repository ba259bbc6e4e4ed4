// factor_peer: who else factors the matrices of a batch.
#pragma once

#include "bench/factor/operands.hpp"
#include "bench/factor/problem.hpp"
#include "bench/factor/reference.hpp"

#include <ricci/runtime/device.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ricci::bench::factor {

/// One way to do it, on one of the sets.
struct way {
    std::string variant; ///< "its own threads"; empty where a peer has but one
    std::function<void(std::size_t set)> run;
    copies spoils; ///< what it wants as it was, and does not leave so
    answer leaves; ///< where what comes of it stands
};

class factor_peer {
  public:
    virtual ~factor_peer() = default;
    /// For the report; empty where there is nothing to say.
    virtual std::string version() const = 0;
    /// All ways in which it can do `p` on these sets, none where it cannot: valid as long as the peer and the sets.
    /// Where `p` takes factors, ricci's stand in A and v now, and are not to be changed; so are originals.
    virtual std::vector<way> ways(const problem& p, const std::vector<operand_addresses>& sets) = 0;
};

/// "lapack": a LAPACK that is found at run time, a call for each matrix; on a CPU. "cusolver": the batched functions
/// of cuSOLVER (Cholesky) and cuBLAS (LU, QR, least squares, inverses); on a GPU.
const std::vector<std::string>& factor_peer_names();

/// Throws ricci::error (environment) where the peer is not there: no library, or another kind of device.
std::unique_ptr<factor_peer> make_factor_peer(const std::string& name, device where);

// What make_factor_peer calls. That of a GPU throws in a build without CUDA.
std::unique_ptr<factor_peer> make_lapack_peer();
std::unique_ptr<factor_peer> make_cusolver_peer(device where);

/// The pivots of all matrices of a set, which count rows from 0, counted from 1 as LAPACK does.
std::vector<std::int32_t> pivots_from_one(const problem& p, const operand_addresses& set, device where);

} // namespace ricci::bench::factor
