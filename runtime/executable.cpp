// executable: a lowered statement with its kernels loaded.
#include "runtime/executable.hpp"

#include "lowering/error.hpp"
#include "lowering/families.hpp"
#include "lowering/matrix_sizes.hpp"
#include "lowering/temporaries.hpp"
#include "lowering/tree.hpp"
#include "runtime/kernel_arguments.hpp"
#include "runtime/reference.hpp"
#include "runtime/reference_matrices.hpp"
#include "runtime/table_check.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <utility>

namespace ricci::runtime {
namespace {

using namespace lowering;

/// Of a thread of a chain's kernel, which was to leave registers for more blocks. On an H100 (2026-11-25, f64, the
/// mass operator) 8 and 32 bytes cost nothing, 96 a third, 216 two thirds of the speed.
constexpr int most_local_bytes = 48;

/// Writes the BLAS call of a library step, all but its pointers: choose_form made sure that the strides fit.
void plan_gemm(prepared_step& out) {
    const auto& st = out.step;
    const auto axis = [&](axis_class c) { return static_cast<std::size_t>(axes_of(st, c).front()); };
    const auto stride = [&](std::int32_t o, std::size_t a) {
        return st.operands[static_cast<std::size_t>(o)].stride[a];
    };
    auto m = axis(axis_class::m), n = axis(axis_class::n);
    const auto k = axis(axis_class::k);
    out.a = st.x, out.b = st.y;
    bool a_conjugated = st.x_conjugated, b_conjugated = st.y_conjugated;
    if (stride(0, m) != 1 || stride(0, n) < st.axes[m].extent) { // C^T = Y^T X^T
        std::swap(m, n);
        std::swap(out.a, out.b);
        std::swap(a_conjugated, b_conjugated);
    }
    auto& g = out.gemm;
    g.compute = st.compute;
    g.a.type = st.operands[static_cast<std::size_t>(out.a)].type,
    g.b.type = st.operands[static_cast<std::size_t>(out.b)].type;
    g.c.type = st.operands[0].type;
    g.math = st.math;
    g.m = st.axes[m].extent, g.n = st.axes[n].extent, g.k = st.axes[k].extent;
    const auto fits = [&](std::int32_t o, std::size_t rows, std::size_t columns) {
        return stride(o, rows) == 1 && stride(o, columns) >= st.axes[rows].extent;
    };
    const bool a_upright = fits(out.a, m, k) && !a_conjugated, b_upright = fits(out.b, k, n) && !b_conjugated;
    g.a.transpose = a_upright ? 'N' : a_conjugated ? 'C' : 'T';
    g.b.transpose = b_upright ? 'N' : b_conjugated ? 'C' : 'T';
    g.a.leading = stride(out.a, a_upright ? k : m);
    g.b.leading = stride(out.b, b_upright ? n : k);
    g.c.leading = stride(0, n);
    matrix_product product;
    is_matrix_product(st.nodes, static_cast<std::int32_t>(st.nodes.size()) - 1, product);
    g.alpha = product.negative != (st.op == assignment::subtract) ? -1 : 1; // coefficients have a step of their own
    g.beta = st.op == assignment::assign ? 0 : 1;
    if (const auto batch = axes_of(st, axis_class::batch); !batch.empty()) {
        const auto b = static_cast<std::size_t>(batch.front());
        g.count = st.axes[b].extent;
        g.a.stride = stride(out.a, b), g.b.stride = stride(out.b, b), g.c.stride = stride(0, b);
    }
}

/// Also in its signs.
bool is_zero(const scalar& x) {
    return std::bit_cast<std::uint64_t>(x.real) == 0 && std::bit_cast<std::uint64_t>(x.imaginary) == 0;
}

} // namespace

/// Memory of one launch, or of one slice: taken from this thread's arena on a CPU, so that a warm statement takes
/// nothing from the heap; stream-ordered elsewhere.
class executable::workspace {
  public:
    enum class use : std::uint8_t { launch, slice };

    workspace(const executable& owner, use what) : backend_(owner.backend_) {
        const auto bytes = what == use::launch ? owner.workspace_bytes_ : owner.slice_bytes_;
        if (bytes > 0) memory_ = static_cast<char*>(take(owner.device_, bytes, what));
    }
    ~workspace() {
        if (memory_ != nullptr && !in_arena_) backend_.release(memory_);
    }
    workspace(const workspace&) = delete;
    workspace& operator=(const workspace&) = delete;

    char* data() const { return memory_; }

  private:
    static constexpr std::size_t largest_arena = std::size_t{64} << 20;

    struct arena {
        backend* owner = nullptr;
        void* memory = nullptr;
        std::size_t size = 0;
        ~arena() {
            if (memory != nullptr) owner->release(memory);
        }
    };

    void* take(device d, std::size_t bytes, use what) {
        in_arena_ = d.is_cpu() && bytes <= largest_arena;
        if (!in_arena_) return backend_.allocate(bytes);
        static thread_local arena of_launches, of_slices;
        auto& mine = what == use::launch ? of_launches : of_slices;
        if (mine.size < bytes) {
            if (mine.memory != nullptr) backend_.release(std::exchange(mine.memory, nullptr));
            mine.size = 0;
            mine.owner = &backend_;
            mine.memory = backend_.allocate(std::bit_ceil(bytes));
            mine.size = std::bit_ceil(bytes);
        }
        return mine.memory;
    }

    backend& backend_;
    char* memory_ = nullptr;
    bool in_arena_ = false;
};

/// Where a statement's operands and temporaries lie, for one slice if it is in a group.
struct executable::places {
    const statement& s;
    const std::vector<temporary>& temporaries;
    char* workspace = nullptr;
    char* of_slice = nullptr;
    std::int64_t slice = 0;
    bool in_slice = false;
    row_lists lists{};         ///< of the one step that adds through tables
    bool adds_at_once = false; ///< of the one step that is a chain

    void* operator()(std::int32_t source) const {
        if (source >= 0) return s.accesses[static_cast<std::size_t>(source)].data;
        const auto& t = temporaries[static_cast<std::size_t>(-1 - source)];
        return (t.of_slice ? of_slice : workspace) + t.offset;
    }
};

namespace {

/// By the kernel that begins at a step: pivots and infos are integers, which may be the entries of a table in a later
/// statement.
std::vector<std::int32_t> tables_written_by(const plan& p, std::size_t first) {
    std::vector<std::int32_t> out;
    for (auto n = first; n == first || (n < p.steps.size() && !begins_kernel(p, n)); ++n) {
        const auto& st = p.steps[n];
        for (std::size_t o = 0; o < st.operands.size() && st.matrices.task != matrix_task::none; ++o)
            if (is_index(st.operands[o].type) && writes_operand(st, o)) out.push_back(st.operands[o].source);
    }
    return out;
}

} // namespace

executable::executable(device d, plan p)
    : device_(d), backend_(backend_of(d)), temporaries_(std::move(p.temporaries)), groups_(std::move(p.groups)),
      workspace_bytes_(static_cast<std::size_t>(p.workspace_bytes)),
      slice_bytes_(static_cast<std::size_t>(p.slice_bytes)), first_accesses_(std::move(p.first_accesses)) {
    const auto& chip = backend_.machine();
    std::vector<std::int32_t> prepared(p.steps.size(), -1); // numbers of prepared steps
    for (std::size_t n = 0; n < p.steps.size(); ++n) {
        const auto& st = p.steps[n];
        if (!begins_kernel(p, n) || !has_work(st)) continue;
        prepared[n] = static_cast<std::int32_t>(steps_.size());
        auto& out = steps_.emplace_back();
        if (st.kernel == family::scatter && chip.has_compiler) {
            out.scatter = static_cast<std::int32_t>(scatters_.size());
            take_scatter(st, p.checks);
        }
        out.step = st;
        out.written_tables = tables_written_by(p, n);
        if (out.step.kernel == family::library) {
            out.how = prepared_step::runner::library;
            plan_gemm(out);
        } else if (!chip.has_compiler) {
            out.how = prepared_step::runner::interpreter;
        } else {
            out.kernel = loaded_request(backend_, make_kernel_of(p, n, chip));
            if (st.chain >= 0 && out.kernel.use(backend_).local_bytes > most_local_bytes) {
                p.chains[static_cast<std::size_t>(st.chain)].blocks_of_processor = 1; // all registers it wants
                out.kernel = loaded_request(backend_, make_kernel_of(p, n, chip));
            }
        }
    }
    link_additions(p);
    link_fills(p, prepared);
    keep_checks(p.checks);
}

/// Finds the steps that chains may do themselves, by the temporaries that they read.
void executable::link_additions(const plan& p) {
    for (auto& st : steps_) {
        if (st.step.chain < 0 || st.how != prepared_step::runner::kernel) continue;
        const auto& c = p.chains[static_cast<std::size_t>(st.step.chain)];
        for (const auto& addition : c.additions) {
            const auto source = c.memories[static_cast<std::size_t>(addition.from)].source;
            for (const auto& other : steps_)
                if (other.scatter >= 0 && std::any_of(other.step.operands.begin(), other.step.operands.end(),
                                                      [&](const operand& o) { return o.source == source; }))
                    st.additions.push_back(other.scatter);
        }
        // All of them or none. Steps of groups run slice by slice.
        const bool in_groups = std::any_of(steps_.begin(), steps_.end(), [](const auto& other) {
            return other.scatter >= 0 && other.step.group >= 0;
        });
        if (st.additions.size() != c.additions.size() || in_groups) st.additions.clear();
    }
}

void executable::link_fills(const plan& p, const std::vector<std::int32_t>& prepared) {
    for (std::size_t n = 0; n < p.steps.size(); ++n) {
        const auto fill = p.steps[n].fill;
        if (fill < 0 || prepared[n] < 0 || prepared[static_cast<std::size_t>(fill)] < 0) continue;
        steps_[static_cast<std::size_t>(prepared[static_cast<std::size_t>(fill)])].fills_for =
            steps_[static_cast<std::size_t>(prepared[n])].scatter;
    }
}

void executable::keep_checks(const std::vector<table_check>& checks) {
    for (const auto& check : checks) {
        if (!is_checked(check, device_)) continue;
        const auto statement = static_cast<std::size_t>(check.statement);
        if (checks_.size() <= statement) checks_.resize(statement + 1);
        checks_[statement].push_back(check);
    }
}

/// Entries are checked where an inverse is built of them, which is where they changed.
void executable::take_scatter(const step& st, std::vector<table_check>& checks) {
    auto shape = scatter_shape_of(st);
    const auto first = first_access_of(st.statement);
    for (auto& t : shape.tables) t.source -= first; // as its own statement counts them
    auto& use = scatters_.emplace_back(scatter_of_statement{scatter_use(std::move(shape)), st.statement}).use;
    const auto is_its = [&](const table_check& check) {
        return check.statement == st.statement && check.access == 0 &&
               std::any_of(use.shape.tables.begin(), use.shape.tables.end(),
                           [&](const auto& t) { return t.source == check.table; });
    };
    const auto others = std::stable_partition(checks.begin(), checks.end(), std::not_fn(is_its));
    use.checks.assign(others, checks.end());
    checks.erase(others, checks.end());
}

std::int32_t executable::first_access_of(std::int32_t statement) const {
    return first_accesses_.empty() ? 0 : first_accesses_[static_cast<std::size_t>(statement)];
}

bool executable::can_run(const plan& p) {
    return std::count_if(p.steps.begin(), p.steps.end(), [](const step& st) {
               return st.kernel == family::scatter;
           }) <= static_cast<std::ptrdiff_t>(most_scatters);
}

void executable::zero_temporaries(char* workspace) const {
    for (const auto& t : temporaries_)
        if (t.is_zeroed && !t.of_slice)
            backend_.zero(workspace + t.offset, static_cast<std::size_t>(t.elements * size_of(t.type)));
}

bool executable::has_work(const step& st) {
    if (st.chain >= 0) return true; // fuse_statements has seen to it
    if (st.matrices.task == matrix_task::none) return element_count(st.axes, st.operands[0].present) > 0;
    return matrix_sizes_of(st).matrices > 0;
}

std::vector<kernel_request> executable::requests(const plan& p, const machine& chip) {
    std::vector<kernel_request> out;
    for (std::size_t n = 0; n < p.steps.size(); ++n)
        if (const auto& st = p.steps[n];
            begins_kernel(p, n) && has_work(st) && st.kernel != family::library && chip.has_compiler)
            out.push_back(make_kernel_of(p, n, chip));
    return out;
}

executable::inverses executable::check(std::span<const statement> statements,
                                       std::span<const statement> before) const {
    inverses out;
    if (steps_.empty()) return out;
    for (std::size_t n = 0; n < checks_.size(); ++n)
        for (const auto& one : checks_[n])
            if (is_checked(one, device_)) // still
                check_tables({&one, 1}, statements[n], before.empty() ? statements.first(n) : before, device_,
                             backend_);
    for (std::size_t n = 0; n < scatters_.size(); ++n)
        out[n] = inverse_of(scatters_[n].use, statements[static_cast<std::size_t>(scatters_[n].statement)], device_,
                            backend_);
    return out;
}

void executable::launch(const statement& joined, const inverses& tables) const {
    if (steps_.empty()) return;
    const workspace memory(*this, workspace::use::launch); // before anything is written; slices take theirs later
    zero_temporaries(memory.data());
    places all{joined, temporaries_, memory.data()};
    const auto inverse = [&](std::int32_t scatter) -> const table_inverse& {
        return *tables[static_cast<std::size_t>(scatter)];
    };
    const auto adds_at_once = [&](const prepared_step& st) {
        return !st.additions.empty() && backend_.machine().processors == 1 &&
               std::ranges::all_of(st.additions,
                                   [&](auto n) { return inverse(n).longest_row() <= longest_row_in_order; });
    };
    std::array<bool, most_scatters> is_done{}, starts_from_zero{};
    for (const auto& st : steps_)
        if (adds_at_once(st))
            for (const auto n : st.additions) is_done[static_cast<std::size_t>(n)] = true;
    for (const auto& st : steps_) {
        if (st.fills_for < 0) continue;
        const auto n = static_cast<std::size_t>(st.fills_for);
        starts_from_zero[n] = !is_done[n] && inverse(st.fills_for).has_row_for_each_key() &&
                              is_zero(joined.scalars[static_cast<std::size_t>(st.step.nodes[0].a)]);
    }
    const auto is_needed = [&](const prepared_step& st) {
        if (st.scatter >= 0) return !is_done[static_cast<std::size_t>(st.scatter)];
        return st.fills_for < 0 || !starts_from_zero[static_cast<std::size_t>(st.fills_for)];
    };
    for (std::size_t n = 0; n < steps_.size();) {
        if (!is_needed(steps_[n])) {
            ++n;
            continue;
        }
        auto end = n + 1;
        const auto group = steps_[n].step.group;
        all.adds_at_once = adds_at_once(steps_[n]);
        if (const auto scatter = steps_[n].scatter; scatter >= 0) {
            all.lists = inverse(scatter).lists();
            all.lists.start_from_zero = starts_from_zero[static_cast<std::size_t>(scatter)];
        }
        if (group < 0) {
            launch(steps_[n], all);
        } else {
            while (end < steps_.size() && steps_[end].step.group == group) ++end;
            launch_group(n, end, all);
        }
        n = end;
    }
}

void executable::launch_group(std::size_t first, std::size_t last, const places& all) const {
    struct one_group {
        const executable& owner;
        const places& all;
        std::size_t first, last;

        void run(std::int64_t slice) const {
            const workspace own(owner, workspace::use::slice);
            auto here = all;
            here.of_slice = own.data(), here.slice = slice, here.in_slice = true;
            for (auto n = first; n < last; ++n) owner.launch(owner.steps_[n], here);
        }
    };
    const one_group group{*this, all, first, last};
    double seconds = 0;
    bool has_library = false;
    for (auto n = first; n < last; ++n) {
        const auto& shape = steps_[n].kernel.request().shape;
        seconds += static_cast<double>(shape.grid) * shape.seconds_per_block;
        has_library = has_library || steps_[n].how != prepared_step::runner::kernel;
    }
    const auto count = groups_[static_cast<std::size_t>(steps_[first].step.group)].count;
    const backend::slice_work work{
        [](const void* context, std::int64_t slice) { static_cast<const one_group*>(context)->run(slice); }, &group,
        seconds};
    if (has_library)
        backend_.backend::run_slices(count, work); // a BLAS has threads of its own
    else
        backend_.run_slices(count, work);
}

void executable::launch(const prepared_step& st, const places& where) const {
    if (st.how == prepared_step::runner::library) return launch_library(st, where);
    if (st.how == prepared_step::runner::interpreter && st.step.matrices.task != matrix_task::none)
        return run_reference_matrices(st.step, where), note_written_tables(st, where);
    if (st.how == prepared_step::runner::interpreter) return run_reference(st.step, where.s.scalars, where);
    // While a thread waits for other nodes to end a kernel, which read its words, it may take up another statement's
    // slices.
    static thread_local std::vector<std::uint64_t> of_launches, of_slices;
    auto& words = where.in_slice ? of_slices : of_launches;
    write_arguments(backend_, st.kernel.request(), st.step.compute, where.s.scalars, where, words, where.slice,
                    where.lists, where.adds_at_once);
    st.kernel.launch(backend_, words, where.lists.rows);
    note_written_tables(st, where);
}

void executable::note_written_tables(const prepared_step& st, const places& where) const {
    for (const auto source : st.written_tables) contents_written(device_, where(source));
}

void executable::launch_library(const prepared_step& st, const places& where) const {
    auto call = st.gemm;
    const auto address = [&](std::int32_t o) {
        const auto& operand = st.step.operands[static_cast<std::size_t>(o)];
        return static_cast<const char*>(where(operand.source)) +
               (operand.offset + where.slice * operand.slice) * size_of(operand.type);
    };
    call.a.data = address(st.a), call.b.data = address(st.b), call.c.data = address(0);
    backend_.gemm(call);
}

} // namespace ricci::runtime
