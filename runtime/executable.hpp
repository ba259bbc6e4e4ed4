// executable: a lowered statement with its kernels loaded, to be launched on any data of the same structure.
#pragma once

#include "lowering/plan.hpp"
#include "runtime/backend.hpp"
#include "runtime/inverse_cache.hpp"
#include "runtime/kernel_source.hpp"
#include "runtime/loaded_request.hpp"

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace ricci::runtime {

/// One step, prepared. Which members are used depends on what runs it: kernels, a library, or the interpreter.
struct prepared_step {
    enum class runner : std::uint8_t { kernel, library, interpreter };
    runner how = runner::kernel;
    lowering::step step;
    loaded_request kernel;
    std::int32_t scatter = -1;                ///< of the executable's
    std::vector<std::int32_t> written_tables; ///< sources of integers that the kernel writes
    std::vector<std::int32_t> additions;      ///< of a chain: scatters that its kernel may do itself
    std::int32_t fills_for = -1; ///< a scatter that can start from zero instead, if zero is what this step sets
    gemm_problem gemm;           ///< library: all but the pointers
    std::int32_t a = -1, b = -1; ///< library: the operands that play A and B, in the BLAS's order
};

class executable {
  public:
    /// Compiles or loads every kernel of `p`; throws without having run anything.
    executable(device d, lowering::plan p);

    static constexpr std::size_t most_scatters = 4; ///< steps that add through tables, of a program that is one plan
    /// The inverses of the tables that a launch adds through.
    using inverses = std::array<std::shared_ptr<const table_inverse>, most_scatters>;

    /// Throws if an entry of a table is no valid position, or a pivot no row, where these are checked; before
    /// anything is written. `before`: what runs before it of the same program.
    inverses check(std::span<const lowering::statement> statements,
                   std::span<const lowering::statement> before = {}) const;

    /// Runs the steps on the data and scalars of `s`, whose structure is that of the statement that was lowered.
    void launch(const lowering::statement& s) const { launch(s, {&s, 1}); }
    /// The same for a program: its statements, and those joined.
    void launch(const lowering::statement& joined, std::span<const lowering::statement> statements) const {
        launch(joined, check(statements));
    }
    void launch(const lowering::statement& joined, const inverses& tables) const;

    /// Whether a program's plan can be run as one: of steps that add through tables there are few enough.
    static bool can_run(const lowering::plan& p);

    /// Whether a step has elements to write.
    static bool has_work(const lowering::step& st);

    /// The requests of the plan's kernels, for looking into the cache without compiling.
    static std::vector<kernel_request> requests(const lowering::plan& p, const lowering::machine& chip);

  private:
    class workspace;
    struct places;
    void take_scatter(const lowering::step& st, std::vector<lowering::table_check>& checks);
    void keep_checks(const std::vector<lowering::table_check>& checks);
    void link_additions(const lowering::plan& p);
    void link_fills(const lowering::plan& p, const std::vector<std::int32_t>& prepared);
    void zero_temporaries(char* workspace) const;
    std::int32_t first_access_of(std::int32_t statement) const;
    void launch(const prepared_step& st, const places& where) const;
    void note_written_tables(const prepared_step& st, const places& where) const;
    void launch_library(const prepared_step& st, const places& where) const;
    /// Steps [first, last), slice by slice.
    void launch_group(std::size_t first, std::size_t last, const places& all) const;

    device device_;
    backend& backend_;
    std::vector<lowering::temporary> temporaries_;
    std::vector<lowering::slices> groups_;
    std::size_t workspace_bytes_ = 0, slice_bytes_ = 0;
    std::vector<std::int32_t> first_accesses_;               ///< of a program's statements among the joined ones
    std::vector<std::vector<lowering::table_check>> checks_; ///< of each statement, made before a launch
    struct scatter_of_statement {
        scatter_use use;
        std::int32_t statement = 0;
    };
    std::vector<scatter_of_statement> scatters_; ///< of the steps that add through tables in their order
    std::vector<prepared_step> steps_;
};

} // namespace ricci::runtime
