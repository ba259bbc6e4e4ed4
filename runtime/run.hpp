// run: the runtime's front door for the dsl, the text parser and the C interface: give it a statement.
#pragma once

#include "lowering/error.hpp"
#include "lowering/statement.hpp"
#include "runtime/device.hpp"
#include "runtime/half.hpp"
#include "runtime/math_mode.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ricci {

/// Who chooses among a kernel's parameters. off: the cost model; cached: what was measured on this chip, then what
/// ricci ships for its architecture, then the model; on_first_use: as cached, and what is not measured yet is, when a
/// statement first runs on a device.
enum class tuning { off, cached, on_first_use };

} // namespace ricci

namespace ricci::runtime {

/// For all statements from now on, also those that ran before: they are lowered again.
void choose_tuning(tuning choice);
/// tuning::cached at first.
tuning chosen_tuning() noexcept;

/// Runs `s`, or hands it to this thread's collector where one is set. On a GPU it returns once the kernels are
/// launched. Throws ricci::error, with nothing written, for every mistake that fix_indices and check_overlap find.
void run(const lowering::statement& s);

/// Lowers `s` and compiles its kernels, as runs that follow one another need them; runs nothing. Throws as run does.
void prepare(const lowering::statement& s);

/// prepare() for all of them, on all threads of the host; locals get memory meanwhile. Throws what the first of them
/// throws that does.
void prepare(const std::vector<lowering::statement>& statements);

/// What takes the statements of a thread instead of running them (record, explain). Null: they run.
using collector = std::function<void(const lowering::statement&)>;

/// Sets this thread's collector for its lifetime; nests.
class collecting {
  public:
    explicit collecting(collector take);
    ~collecting();
    collecting(const collecting&) = delete;
    collecting& operator=(const collecting&) = delete;

  private:
    collector take_;
    collector* outer_;
};

/// Whether a collector is set on this thread, so that a scalar read cannot give a value.
bool is_collecting();

/// Whether run_program would fuse something of these; for what shows statements or programs. Mistakes are left to
/// what runs them.
bool fuses_something(const std::vector<lowering::statement>& statements);

/// Runs statements as one program, fused where that pays; other locals get memory, zeroed.
void run_program(const std::vector<lowering::statement>& statements);

/// Every stage of `s` from IR 1 to the launch, as text; says whether its kernels are cached. Runs nothing.
std::string explain(const lowering::statement& s);
/// Of statements that run one after another; as one program where they have locals.
std::string explain(const std::vector<lowering::statement>& statements);

/// Seconds that the cost model expects statements to take that run one after another, as one program where they would
/// be; see lowering::expected_seconds. Runs and compiles nothing.
double expected_seconds(const std::vector<lowering::statement>& statements);

/// A number for a new ricci::local, unique in the process.
std::int32_t new_local();

} // namespace ricci::runtime
