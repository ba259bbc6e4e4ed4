// lower_program: from the statements of a program to one plan.
#include "lowering/lower_program.hpp"

#include "lowering/error.hpp"
#include "lowering/expected_seconds.hpp"
#include "lowering/fills_first.hpp"
#include "lowering/find_fills.hpp"
#include "lowering/find_winograd.hpp"
#include "lowering/fuse_statements.hpp"
#include "lowering/matrix_sizes.hpp"
#include "lowering/passes.hpp"
#include "lowering/temporaries.hpp"
#include "lowering/winograd_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace ricci::lowering {
namespace {

class program_joiner {
  public:
    program_joiner(const std::vector<statement>& statements, const std::vector<std::int32_t>& locals,
                   const shared_memory_of_accesses& shared, const machine& chip, const priors& known)
        : statements_(statements), locals_(locals), shared_(shared), chip_(chip), known_(known) {}

    plan run() {
        std::int32_t accesses = 0;
        for (const auto& s : statements_) {
            out_.first_accesses.push_back(accesses);
            accesses += static_cast<std::int32_t>(s.accesses.size());
        }
        const auto convolutions = find_winograd(statements_, locals_, shared_, chip_);
        const auto one_of = [&](std::size_t n) {
            return std::find_if(convolutions.begin(), convolutions.end(), [&](const found_winograd& w) {
                return n == w.inputs || n == w.product || n == w.outputs;
            });
        };
        for (std::size_t n = 0; n < statements_.size(); ++n) {
            if (const auto found = one_of(n); found == convolutions.end())
                append(n);
            else if (n == found->outputs)
                append(*found);
            scalars_ += static_cast<std::int32_t>(statements_[n].scalars.size());
        }
        out_.memory_of_access = shared_.memory, out_.same_access = shared_.same;
        rename_axes();
        find_zeroed();
        return std::move(out_);
    }

  private:
    void append(std::size_t n) {
        const auto& s = statements_[n];
        auto p = split_into_steps(s, chip_, true, [](std::string_view, plan result) { return result; });
        for (auto& st : p.steps) {
            st.statement = static_cast<std::int32_t>(n);
            for (auto& o : st.operands) o.source = source_of(n, o.source);
            count_scalars_on(st);
        }
        for (auto& check : p.checks) check.statement = static_cast<std::int32_t>(n);
        for (std::size_t t = 0; t < p.temporaries.size(); ++t)
            out_.temporaries[static_cast<std::size_t>(number_of_own(n, static_cast<std::int32_t>(t)))] =
                std::move(p.temporaries[t]);
        move_to(out_.steps, p.steps), move_to(out_.checks, p.checks), move_to(out_.notes, p.notes);
    }

    /// As one kernel, or as several where these are expected to be faster.
    void append(found_winograd found) {
        auto& st = found.convolution;
        st.statement = static_cast<std::int32_t>(found.outputs);
        for (std::size_t o = 0; o < st.operands.size(); ++o)
            st.operands[o].source = source_of(found.statement_of[o], st.operands[o].source);
        st.batched = *choose_winograd_tile(st, chip_); // find_winograd has seen that there is one
        if (append_apart(found, winograd_seconds(st, st.batched, chip_))) return;
        count_scalars_on(st);
        st.workspace = {-1 - next(), winograd_workspace_bytes(st, st.batched)};
        out_.temporaries.push_back({scalar_type::f32, st.workspace.bytes / size_of(scalar_type::f32)});
        out_.steps.push_back(std::move(st));
        out_.notes.push_back(fmt::format("statements {}, {} and {} are one convolution by minimal filtering",
                                         found.inputs + 1, found.product + 1, found.outputs + 1));
    }

    /// Whether that takes less than `seconds`.
    bool append_apart(const found_winograd& found, double seconds) {
        if (!found.apart) return false;
        auto [inputs, product, outputs, v, m] = *found.apart;
        const auto bytes_of = [](const step& st) {
            return element_count(st.axes, st.operands[0].present) * size_of(st.operands[0].type);
        };
        constexpr std::int64_t part_of_memory = 16;
        if (bytes_of(inputs) + bytes_of(product) > chip_.memory_bytes / part_of_memory) return false;

        plan alone; // V and M are its temporaries
        for (const auto* st : {&inputs, &product})
            alone.temporaries.push_back({st->operands[0].type, element_count(st->axes, st->operands[0].present)});
        alone.steps = {inputs, product, outputs};
        alone.steps[0].operands[0].source = alone.steps[1].operands[v].source = -1;
        alone.steps[1].operands[0].source = alone.steps[2].operands[m].source = -2;
        const pass_observer unseen = [](std::string_view, plan p) { return p; };
        if (expected_seconds(choose_kernels(std::move(alone), chip_, known_, false, unseen), chip_) > seconds)
            return false;

        const auto add = [&](step& st, std::size_t statement) {
            st.statement = static_cast<std::int32_t>(found.outputs);
            for (auto& o : st.operands) o.source = source_of(statement, o.source);
            if (statement == found.outputs) count_scalars_on(st);
            out_.steps.push_back(std::move(st));
        };
        add(inputs, found.inputs), add(product, found.product), add(outputs, found.outputs);
        out_.notes.push_back(fmt::format("statements {}, {} and {} are a convolution by minimal filtering, its "
                                         "channels' products by themselves",
                                         found.inputs + 1, found.product + 1, found.outputs + 1));
        return true;
    }

    void count_scalars_on(step& st) const {
        for (auto& node : st.nodes)
            if (node.kind == operation::scalar) node.a += scalars_;
    }

    template <class T>
    static void move_to(std::vector<T>& to, std::vector<T>& from) {
        for (auto& x : from) to.push_back(std::move(x));
    }

    std::int32_t source_of(std::size_t statement, std::int32_t source) {
        const auto& s = statements_[statement];
        if (source < 0) return -1 - number_of_own(statement, -1 - source);
        const auto joined = out_.first_accesses[statement] + source;
        const auto local = locals_[static_cast<std::size_t>(joined)];
        // The inverses of tables are found by the statement's own accesses.
        if (local == no_local)
            return is_index(s.accesses[static_cast<std::size_t>(source)].type)
                       ? joined
                       : shared_.same[static_cast<std::size_t>(joined)];
        return -1 - number_of_local(s, source, local);
    }

    std::int32_t number_of_own(std::size_t statement, std::int32_t temporary) {
        const auto [found, is_new] = own_numbers_.try_emplace({statement, temporary}, next());
        if (is_new) out_.temporaries.emplace_back();
        return found->second;
    }

    std::int32_t number_of_local(const statement& s, std::int32_t source, std::int32_t local) {
        const auto [found, is_new] = local_numbers_.try_emplace(local, next());
        if (!is_new) return found->second;
        const auto& a = s.accesses[static_cast<std::size_t>(source)];
        temporary t;
        t.type = a.type, t.elements = 1, t.is_local = true;
        for (int p = 0; p < a.position_count; ++p) {
            const auto extent = position_of(s, a, p).extent;
            t.extents.push_back(extent);
            if (__builtin_mul_overflow(t.elements, extent, &t.elements))
                throw error("the size of a ricci::local does not fit 64 bits");
        }
        out_.temporaries.push_back(std::move(t));
        return found->second;
    }

    std::int32_t next() const { return static_cast<std::int32_t>(out_.temporaries.size()); }

    /// Statements may call one dimension of a local by different indices; a chain knows axes by their names. The one
    /// who writes the local first names it.
    void rename_axes() {
        std::map<std::pair<std::int32_t, std::int64_t>, std::string_view> names; // by local and stride
        for (auto& st : out_.steps) {
            for (std::size_t o = 1; o <= st.operands.size(); ++o) { // the output last
                const auto& here = st.operands[o % st.operands.size()];
                if (here.source >= 0 || !out_.temporaries[static_cast<std::size_t>(-1 - here.source)].is_local)
                    continue;
                for (std::size_t a = 0; a < st.axes.size(); ++a) {
                    if (!here.present[a] || here.stride[a] == 0 || st.axes[a].extent < 2) continue;
                    const auto [found, is_new] = names.try_emplace({here.source, here.stride[a]}, st.axes[a].name);
                    if (!is_new && !is_made(st, o % st.operands.size()) && found->second != st.axes[a].name)
                        rename(st, a, found->second);
                }
            }
        }
    }

    /// Whether the step writes its operand o; of a call one that takes nothing from the same memory.
    static bool is_made(const step& st, std::size_t o) {
        if (st.matrices.task == matrix_task::none) return o == 0;
        for (std::size_t r = 0; r < st.operands.size(); ++r)
            if (st.operands[r].source == st.operands[o].source && reads_operand(st, r)) return false;
        return writes_operand(st, o);
    }

    static void rename(step& st, std::size_t axis, std::string_view name) {
        const auto taken =
            std::find_if(st.axes.begin(), st.axes.end(), [&](const auto& a) { return a.name == name; });
        if (taken != st.axes.end())
            std::swap(taken->name, st.axes[axis].name);
        else
            st.axes[axis].name = name;
    }

    /// A local is zero where nothing was written: only if its first use writes all of it need it not be made so.
    void find_zeroed() {
        std::set<std::int32_t> met;
        for (const auto& st : out_.steps)
            for (std::size_t o = 1; o <= st.operands.size(); ++o) {
                const auto& here = st.operands[o % st.operands.size()];
                if (here.source >= 0 || !met.insert(here.source).second) continue;
                auto& t = out_.temporaries[static_cast<std::size_t>(-1 - here.source)];
                const bool writes_all = is_made(st, o % st.operands.size()) && st.op == assignment::assign &&
                                        here.bounds.empty() && here.gathers.empty() &&
                                        element_count(st.axes, here.present) == t.elements;
                t.is_zeroed = t.is_local && !writes_all;
            }
    }

    const std::vector<statement>& statements_;
    const std::vector<std::int32_t>& locals_;
    const shared_memory_of_accesses& shared_;
    const machine& chip_;
    const priors& known_;
    plan out_;
    std::int32_t scalars_ = 0; ///< of the statements before
    std::map<std::pair<std::size_t, std::int32_t>, std::int32_t> own_numbers_;
    std::map<std::int32_t, std::int32_t> local_numbers_;
};

} // namespace

plan lower_program(const std::vector<statement>& statements, const std::vector<std::int32_t>& locals,
                   const shared_memory_of_accesses& shared, const machine& chip, const priors& known,
                   std::vector<stage>* trace) {
    statement joined;
    join_statements(statements, joined);
    pass_tracer traced(joined, trace);
    const pass_observer tracer = [&](std::string_view name, plan result) { return traced(name, std::move(result)); };
    auto p = tracer("statements as steps", program_joiner(statements, locals, shared, chip, known).run());
    p = tracer("fills_first", fills_first(std::move(p)));
    p = tracer("fuse_statements", fuse_statements(std::move(p), chip, known));
    p = choose_kernels(std::move(p), chip, known, false, tracer);
    return tracer("find_fills", find_fills(std::move(p)));
}

} // namespace ricci::lowering
