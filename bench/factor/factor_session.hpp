// factor_session: one run of `ricci bench factor`: its peers, and how a point is measured.
#pragma once

#include "bench/factor/factor_peer.hpp"
#include "bench/factor/operands.hpp"
#include "bench/factor/timing.hpp"
#include "bench/session_base.hpp"

#include <memory>
#include <vector>

namespace ricci::bench::factor {

/// What bench::session is to other benches, for work that starts from the original operands each time.
class factor_session : public session_base {
  public:
    /// Opens the device, makes the kernels of all `points`, measures the device's memory and prints the report's
    /// head. Throws ricci::error for a device, peer, option or output file that cannot be had.
    factor_session(const session_options& options, const std::vector<problem>& points);

    /// Measures one point, prints and keeps its row. A point that fails is reported and the run goes on, unless
    /// several in turn fail. False: stop, no more is wanted.
    bool run(const problem& p);

  private:
    void measure_row(row& r, const problem& p);

    std::vector<std::unique_ptr<factor_peer>> peers_; ///< in the order of report_.peers; null: missing
};

} // namespace ricci::bench::factor
