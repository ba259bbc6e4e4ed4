// session_base: what every run of the bench has: its device, yardsticks and peers, and what becomes of the rows.
#pragma once

#include "bench/device_memory.hpp"
#include "bench/interrupt.hpp"
#include "bench/report.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ricci::bench {

struct session_options {
    std::string device; ///< empty: default_device()
    /// Comma-separated, or "none"; empty: all that the device has, those that are missing being noted.
    std::string peers;
    bool plain_loops = true; ///< among them, if none are named
    int repeat = 15;
    bool check = true, energy = false;
    bool processor_time = false; ///< of a CPU, with one thread
    bool counters = false;       ///< the processor's, where it has some
    bool warm_cache = false;     ///< one set of operands, however small
    bool in_cache = false;       ///< one that stays in a CPU's L2, against the peak; what does not fit is refused
    std::string json, csv;       ///< files, "-" for the standard output; empty: none
    std::string command;         ///< the command line, for the report
    std::string version;         ///< ricci's
};

/// How a report is told.
struct report_forms {
    std::string (*head)(const report&);
    std::string (*line)(const report&, const row&);
    std::string (*foot)(const report&);
    std::string (*json)(const report&);
    std::string (*csv)(const report&);
};

class session_base {
  public:
    session_base(const session_base&) = delete;
    session_base& operator=(const session_base&) = delete;

    device where() const { return where_; }

    /// Prints the summary and writes the files. The exit code: 0; 2 where a result of ricci was wrong or the run
    /// failed; 130 after a signal.
    int finish();

  protected:
    /// Opens the device. Throws ricci::error for a device or output file that cannot be had.
    session_base(const session_options& options, const report_forms& forms);
    ~session_base() = default;

    /// The peers that the options name, of those `known`, else the `usual` ones; `open` makes one ready and returns
    /// its version. Throws ricci::error for one that is named and cannot be had, others are noted as missing.
    void open_peers(const std::vector<std::string>& known, std::vector<std::string> usual,
                    const std::function<std::string(const std::string& name)>& open);
    /// Measures the device's memory, and `with_peak` the CPU's peak, and prints the report's head.
    void begin(bool with_peak);
    /// A CPU whose peak can be measured.
    bool has_peak() const;

    /// offer(n) for each peer that is there; returns those that refused.
    std::vector<measured> refusals(const std::function<void(std::size_t peer)>& offer) const;
    /// Measures a row, prints and keeps it. A point that fails is reported and the run goes on, unless several in
    /// turn fail. False: stop, no more is wanted.
    bool keep(row r, const std::function<void(row&)>& measure_row);

    /// How each point is measured, but for what a bench adds.
    measure_options measuring() const;

    session_options options_;
    interruptible until_signal_;
    device where_;
    std::unique_ptr<device_tools> tools_;
    std::unique_ptr<energy_meter> meter_;
    device_memory memory_;
    report report_;

  private:
    void print(const std::string& text) const;

    report_forms forms_;
    int failures_in_turn_ = 0;
    bool gave_up_ = false;
};

} // namespace ricci::bench
