// find_winograd: which statements of a program are a convolution by minimal filtering.
#include "lowering/find_winograd.hpp"

#include "lowering/check_overlap.hpp"
#include "lowering/fix_indices.hpp"
#include "lowering/scope_sums.hpp"
#include "lowering/sm_limits.hpp"
#include "lowering/winograd_layout.hpp"
#include "lowering/winograd_statements.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ricci::lowering {
namespace {

class winograd_finder {
  public:
    winograd_finder(const std::vector<statement>& statements, const std::vector<std::int32_t>& locals,
                    const shared_memory_of_accesses& shared, const machine& chip)
        : statements_(statements), locals_(locals), shared_(shared), chip_(chip) {
        std::size_t first = 0;
        for (const auto& s : statements) {
            first_.push_back(first);
            for (std::size_t a = 0; a < s.accesses.size(); ++a)
                if (const auto local = locals[first + a]; local != no_local)
                    uses_[local].push_back({first_.size() - 1, a});
            first += s.accesses.size();
        }
    }

    std::vector<found_winograd> run() const {
        std::vector<found_winograd> out;
        std::set<std::size_t> taken; // one's outputs may be another's inputs: then only the first is one
        for (std::size_t n = 0; n < statements_.size(); ++n)
            if (auto found = ending_in(n);
                found && !taken.contains(found->inputs) && !taken.contains(found->product)) {
                taken.insert({found->inputs, found->product, found->outputs});
                out.push_back(*std::move(found));
            }
        return out;
    }

  private:
    struct use {
        std::size_t statement, access;
    };

    /// Where the local is written that an access reads, if nothing else does either.
    std::optional<std::size_t> writer(std::size_t statement, std::size_t access) const {
        const auto local = locals_[first_[statement] + access];
        if (access == 0 || local == no_local) return {};
        const auto& uses = uses_.at(local);
        if (uses.size() != 2 || uses[0].access != 0 || uses[0].statement >= statement) return {};
        return uses[0].statement;
    }

    /// In one direction the filters' transform says what the inputs' does: the larger of the two locals is kept from
    /// memory.
    std::optional<found_winograd> ending_in(std::size_t outputs) const {
        std::optional<found_winograd> out;
        std::int64_t largest = 0;
        const auto& s = statements_[outputs];
        for (std::size_t m = 1; m < s.accesses.size(); ++m) {
            const auto product = writer(outputs, m);
            if (!product || statements_[*product].accesses.size() != 3) continue;
            for (std::size_t v = 1; v < 3; ++v) {
                const auto inputs = writer(*product, v);
                if (!inputs) continue;
                auto found = match({*inputs, 0}, {*product, v}, {outputs, m});
                if (!found) continue;
                const auto elements = elements_of({*product, v});
                if (!out || elements > largest) out = std::move(found), largest = elements;
            }
        }
        return out;
    }

    /// Saturating.
    std::int64_t elements_of(const use& of) const {
        const auto& s = statements_[of.statement];
        const auto& a = s.accesses[of.access];
        std::int64_t out = 1;
        for (int p = 0; p < a.position_count; ++p)
            if (__builtin_mul_overflow(out, position_of(s, a, p).extent, &out)) return INT64_MAX;
        return out;
    }

    /// A statement as one step in f32, all its axes as they were.
    std::optional<step> step_of(std::size_t number) const {
        const auto& s = statements_[number];
        if (s.is_call()) return {};
        auto p = fix_indices(s);
        const auto labels = p.steps.front().axes.size();
        p = check_overlap(scope_sums(std::move(p), s), s);
        if (p.steps.size() != 1 || !p.temporaries.empty() || !p.checks.empty()) return {};
        auto& st = p.steps.front();
        const bool overlaps = std::any_of(st.operands.begin(), st.operands.end(),
                                          [](const operand& o) { return o.overlaps || !o.gathers.empty(); });
        const bool is_empty = std::any_of(st.axes.begin(), st.axes.end(), [](const axis& a) { return a.extent < 1; });
        if (st.compute != scalar_type::f32 || st.axes.size() != labels || overlaps || is_empty) return {};
        return std::move(st);
    }

    /// The axes by which an access goes through a local, one a dimension and all of it.
    std::optional<std::vector<std::int32_t>> dimensions(const use& of) const {
        const auto& s = statements_[of.statement];
        const auto& a = s.accesses[of.access];
        std::vector<std::int32_t> out;
        for (int p = 0; p < a.position_count; ++p) {
            const auto& at = position_of(s, a, p);
            if (at.is_gathered() || at.term_count != 1 || at.offset != 0) return {};
            const auto& term = s.terms[static_cast<std::size_t>(at.first_term)];
            const auto& label = s.labels[static_cast<std::size_t>(term.label)];
            const bool is_all = !label.has_range() || (label.begin == 0 && label.end == at.extent);
            if (term.coefficient != 1 || !is_all || std::find(out.begin(), out.end(), term.label) != out.end())
                return {};
            out.push_back(term.label);
        }
        return out;
    }

    std::int32_t memory(std::size_t statement, std::size_t access) const {
        return shared_.memory[first_[statement] + access];
    }

    /// Whether statements up to `last`, behind its own, write what access `of` reads, but for one statement. What a
    /// table of addresses finds may lie anywhere.
    bool is_overwritten(const use& of, std::size_t last, std::size_t but) const {
        for (auto n = of.statement + 1; n <= last; ++n) {
            const auto& s = statements_[n];
            if (n != but && (memory(n, 0) == memory(of.statement, of.access) ||
                             position_of_addresses(s, s.accesses[0]) != nullptr))
                return true;
        }
        return false;
    }

    std::optional<found_winograd> match(const use& written, const use& v, const use& m) const {
        auto inputs = step_of(written.statement), product = step_of(v.statement), outputs = step_of(m.statement);
        const auto v_written = dimensions(written), v_read = dimensions(v), m_written = dimensions({v.statement, 0}),
                   m_read = dimensions(m);
        if (!inputs || !product || !outputs || !v_written || !v_read || !m_written || !m_read) return {};
        if (inputs->op != assignment::assign || product->op != assignment::assign) return {};
        winograd_statements all{*std::move(inputs),
                                *std::move(product),
                                *std::move(outputs),
                                v.access,
                                m.access,
                                *v_written,
                                *v_read,
                                *m_written,
                                *m_read};
        auto whole = as_one_step(all);
        if (!whole) return {};
        found_winograd out{written.statement,
                           v.statement,
                           m.statement,
                           std::move(whole->convolution),
                           {},
                           as_three_steps(std::move(all), whole->structure)};
        for (const auto part : whole->part_of)
            out.statement_of.push_back(part == winograd_part::inputs    ? out.inputs
                                       : part == winograd_part::product ? out.product
                                                                        : out.outputs);
        // What the statements read must still be there when the last one runs, and not be what it writes.
        auto& st = out.convolution;
        for (std::size_t o = 1; o < st.operands.size(); ++o) {
            const use of{out.statement_of[o], static_cast<std::size_t>(st.operands[o].source)};
            if (of.statement != out.outputs && is_overwritten(of, out.outputs, out.product)) return {};
        }
        if (!winograd_pays(st) || winograd_candidates(st, chip_).empty()) return {};
        return out;
    }

    const std::vector<statement>& statements_;
    const std::vector<std::int32_t>& locals_;
    const shared_memory_of_accesses& shared_;
    const machine& chip_;
    std::vector<std::size_t> first_; ///< of a statement's accesses, among all
    std::map<std::int32_t, std::vector<use>> uses_;
};

} // namespace

std::vector<found_winograd> find_winograd(const std::vector<statement>& statements,
                                          const std::vector<std::int32_t>& locals,
                                          const shared_memory_of_accesses& shared, const machine& chip) {
    if (chip.kind != target::cuda || !has_bulk_copies(chip) || !chip.has_compiler) return {};
    return winograd_finder(statements, locals, shared, chip).run();
}

} // namespace ricci::lowering
