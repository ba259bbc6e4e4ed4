// tuning_plan: which of the parameters that a step's or a chain's kernel may have are worth measuring.
//
//   candidates   all that the kernel takes: lowering/tile_candidates, chain_shape
//   pruned       those the model expects to be much slower than its best; of the rest the best few stay, and the best
//   of
//                each way to divide a product among threads
#pragma once

#include "lowering/plan.hpp"
#include "lowering/tuning_table.hpp"
#include "runtime/backend.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ricci::runtime {

struct tuning_effort {
    double prune = 1.5;    ///< leaves out candidates predicted to take more than this times the least; infinity: none
    std::size_t most = 64; ///< candidates measured at the most
    int samples = 7;
    double sample_seconds = 1e-3;          ///< launches are repeated until a sample takes as long
    std::size_t memory_bytes = 256u << 20; ///< that the launches of a sample go round, beyond any GPU's L2
    int threads = 0;                       ///< that compile; 0: as many as the machine has
    /// What is within this of the best may be kept too, 0.05 for 5%: it is measured to the end, and its result is
    /// checked.
    double tolerance = 0;
    /// Not null: these are measured, and the model's choice, whatever it expects of them; no others.
    const std::vector<lowering::batched_tile>* only = nullptr;
    std::function<bool()> stop;           ///< asked between candidates whether to leave off
    std::function<void(double)> progress; ///< told which part of the step is done
};

struct candidate {
    enum class outcome : std::uint8_t { pruned, alike, spills, failed, wrong, abandoned, measured };
    lowering::batched_tile tile;
    double predicted = 0;             ///< seconds
    outcome result = outcome::pruned; ///< pruned by the prediction, or alike others that are measured
    double seconds = 0;               ///< a launch: the median of the samples; abandoned: of the first one
    kernel_use use;
    int shared_bytes = 0; ///< dynamic, a block
    std::string problem;  ///< failed: what the compiler or the launch said
};

std::string_view name_of(candidate::outcome result);

struct tuned_step {
    lowering::tuning_key key;
    std::vector<candidate> candidates; ///< the model's choice first, then as predicted
    std::optional<std::size_t> best;   ///< none where it was stopped, or no candidate can be used
    bool stopped = false;

    std::size_t count(candidate::outcome result) const;
};

/// Candidates with predictions, `pruned` or `alike` but for those that would be compiled, which are `measured`. Needs
/// no device.
tuned_step plan_tuning(const lowering::step& st, const lowering::machine& chip, const tuning_effort& effort);
/// Whether step number `step` of a plan begins a kernel, its own or its chain's, that it pays to measure.
bool is_worth_measuring(const lowering::plan& p, std::size_t step, const lowering::machine& chip);

/// The same for a step of a plan and for a chain: of the kernel that step number `step` begins, which
/// is_worth_measuring.
tuned_step plan_tuning(const lowering::chain& c, const lowering::machine& chip, const tuning_effort& effort);
tuned_step plan_tuning(const lowering::plan& p, std::size_t step, const lowering::machine& chip,
                       const tuning_effort& effort);

} // namespace ricci::runtime
