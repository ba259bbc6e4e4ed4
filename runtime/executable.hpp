// executable: a lowered statement with its kernels loaded, to be launched on any data of the same structure.
#pragma once

#include "lowering/plan.hpp"
#include "runtime/backend.hpp"
#include "runtime/inverse_cache.hpp"
#include "runtime/kernel_source.hpp"
#include "runtime/loaded_request.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace ricci::runtime {

/// One step, prepared. Which members are used depends on what runs it: kernels, a library, or the interpreter.
struct prepared_step {
    enum class runner : std::uint8_t { kernel, library, interpreter };
    runner how = runner::kernel;
    lowering::step step;
    loaded_request kernel;
    gemm_problem gemm; ///< library: all but the pointers
    std::int32_t a = -1, b = -1; ///< library: the operands that play A and B, in the BLAS's order
};

class executable {
  public:
    /// Compiles or loads every kernel of `p`; throws without having run anything.
    executable(device d, lowering::plan p);

    /// Runs the steps on the data and scalars of `s`, whose structure is that of the statement that was lowered.
    void launch(const lowering::statement& s) const;

    /// Whether a step has elements to write.
    static bool has_work(const lowering::step& st);

    /// The requests of the plan's kernels, for looking into the cache without compiling.
    static std::vector<kernel_request> requests(const lowering::plan& p, const lowering::machine& chip);

  private:
    class workspace;
    struct places;
    void take_scatter(const lowering::step& st, std::vector<lowering::table_check>& checks);
    void launch(const prepared_step& st, const places& where) const;
    void launch_library(const prepared_step& st, const places& where) const;
    /// Steps [first, last), slice by slice.
    void launch_group(std::size_t first, std::size_t last, const places& all) const;

    device device_;
    backend& backend_;
    std::vector<lowering::temporary> temporaries_;
    std::vector<lowering::slices> groups_;
    std::size_t workspace_bytes_ = 0, slice_bytes_ = 0;
    std::vector<lowering::table_check> checks_; ///< made before a launch
    std::optional<scatter_use> scatter_;        ///< of the one step that adds through tables in their order
    std::vector<prepared_step> steps_;
};

} // namespace ricci::runtime
