// factor_session: one run of `ricci bench factor`: its device, yardsticks, peers and operands, and what becomes of
// rows.
#pragma once

#include "bench/device_memory.hpp"
#include "bench/factor/factor_peer.hpp"
#include "bench/factor/operands.hpp"
#include "bench/factor/timing.hpp"
#include "bench/interrupt.hpp"
#include "bench/report.hpp"
#include "bench/session.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ricci::bench::factor {

/// What bench::session is to other benches, for work that starts from the original operands each time.
class factor_session {
  public:
    /// Opens the device, measures its memory and prints the report's head. Throws ricci::error for a device, peer,
    /// option or output file that cannot be had.
    explicit factor_session(const session_options& options);

    /// Measures one point, prints and keeps its row. A point that fails is reported and the run goes on, unless
    /// several in turn fail. False: stop, no more is wanted.
    bool run(const problem& p);

    /// Prints the summary and writes the files. The exit code: 0; 2 where a result of ricci was wrong or the run
    /// failed; 130 after a signal.
    int finish();

  private:
    void open_peers();
    void measure_row(row& r, const problem& p);
    /// What a peer offers, its contenders behind `all`.
    void add_peer(std::vector<entrant>& all, std::size_t peer, const problem& p, const operands& on);
    void print(const std::string& text) const;

    session_options options_;
    interruptible until_signal_;
    device where_;
    std::unique_ptr<device_tools> tools_;
    std::unique_ptr<energy_meter> meter_;
    device_memory memory_;
    std::vector<std::unique_ptr<factor_peer>> peers_; ///< in the order of report_.peers; null: missing
    report report_;
    int failures_in_turn_ = 0;
    bool gave_up_ = false;
};

} // namespace ricci::bench::factor
