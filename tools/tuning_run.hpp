// tuning_run: tunes a list of statements on one device, and says what came of it.
#pragma once

#include "tools/tuning_list.hpp"

#include <ricci/lowering/machine.hpp>
#include <ricci/lowering/plan.hpp>
#include <ricci/lowering/tuning_key.hpp>
#include <ricci/runtime/device.hpp>
#include <ricci/runtime/tuner.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ricci::tools {

/// A kernel that has parameters.
struct tuning_job {
    lowering::statement statement; ///< or all those of a program, joined
    std::shared_ptr<const lowering::plan> plan;
    std::size_t number; ///< of the plan's step that the kernel begins with
    lowering::tuning_key key;
    std::string name; ///< "C(i, j, e) += ...: m=8 n=8 k=8 batch=651042"

    const lowering::step& step() const { return plan->steps[number]; }
};

/// What came of a job that was measured.
struct tuned_job {
    const tuning_job* job;
    runtime::tuned_step result;
    std::optional<runtime::tuned_step>
        again; ///< with the patterns of all jobs; the same candidates in the same order

    const runtime::tuned_step& last() const { return again ? *again : result; }
};

/// What requests come to, on operands that have no memory. Several statements of one request that hand each other
/// locals are a program, as for `ricci explain`.
struct tuning_work {
    std::vector<lowering::statement> statements; ///< each on its own
    std::vector<std::vector<lowering::statement>> programs;
    std::vector<tuning_job> jobs; ///< one for each key
};

/// Throws ricci::error for mistakes in the statements, with the line of the file or, where there are several, the
/// number of the request.
tuning_work work_of(const std::vector<tuning_request>& requests, const lowering::machine& chip, device where);

struct tuning_output {
    std::optional<double> tolerance; ///< keep the fewest kernels that lose at most as much
    std::string json;                ///< the file for all timings, "-" the standard output; empty: none
    std::FILE* text = stdout;        ///< where it is told
    std::string kept = "kept";       ///< what becomes of what was measured: it "is kept"
};

/// Prints to `text` each job's candidates as the model sees them.
void print_candidates(std::FILE* text, const std::vector<tuning_job>& jobs, const lowering::machine& chip,
                      const runtime::tuning_effort& effort);

/// What run_tuning returns where a signal ended it, as shells have it for SIGINT.
inline constexpr int stopped_by_signal = 130;

/// Tunes the jobs, prints a line or two of each, and keeps the winners in the database of the device's chip as it
/// goes. Returns the exit code: stopped_by_signal where one came, after which what was found is kept all the
/// same.
int run_tuning(const std::vector<tuning_job>& jobs, device where, runtime::tuning_effort effort,
               const tuning_output& output);

/// Compiles all kernels of `work` as they run after all that was tuned, and says to `text` how many were compiled for
/// it.
void compile_ahead(std::FILE* text, const tuning_work& work);

} // namespace ricci::tools
