// lower: the ordered list of passes. Each takes a plan and returns a plan; the order is part of what they rely on.
#include "lowering/lower.hpp"

#include "lowering/check_call.hpp"
#include "lowering/check_overlap.hpp"
#include "lowering/choose_form.hpp"
#include "lowering/classify_axes.hpp"
#include "lowering/find_batches.hpp"
#include "lowering/find_symmetry.hpp"
#include "lowering/fix_indices.hpp"
#include "lowering/fuse_axes.hpp"
#include "lowering/fuse_statements.hpp"
#include "lowering/gathers.hpp"
#include "lowering/join_statements.hpp"
#include "lowering/matrix_steps.hpp"
#include "lowering/order_operands.hpp"
#include "lowering/passes.hpp"
#include "lowering/place_temporaries.hpp"
#include "lowering/print.hpp"
#include "lowering/scatter_left.hpp"
#include "lowering/scope_sums.hpp"
#include "lowering/slice_steps.hpp"

#include <algorithm>
#include <utility>

namespace ricci::lowering {

plan pass_tracer::operator()(std::string_view name, plan result) {
    if (trace_ == nullptr) return result;
    auto steps = print_steps(result, s_);
    const auto notes = print_notes(result, std::exchange(notes_, result.notes.size()));
    const auto* const same = notes.empty() ? "(unchanged)" : "(unchanged)\n";
    trace_->push_back({name, (steps == last_ ? same : steps) + notes});
    last_ = std::move(steps);
    return result;
}

plan split_into_steps(const statement& s, const machine& chip, bool in_program, const pass_observer& pass) {
    if (s.is_call()) check_call(s);
    auto p = pass("fix_indices", fix_indices(s));
    if (s.is_call()) return pass("matrix_steps", matrix_steps(std::move(p), s));
    p = pass("scope_sums", scope_sums(std::move(p), s));
    p = pass("check_overlap", check_overlap(std::move(p), s));
    const bool adds_up = std::any_of(p.steps.begin(), p.steps.end(),
                                     [](const step& st) { return collision_of(st) != collision::none; });
    if (adds_up) p = pass("scatter_left", scatter_left(std::move(p), s, chip));
    if (chip.kind == target::cpu) p = pass("find_symmetry", find_symmetry(std::move(p), s));
    p = pass("find_batches", find_batches(std::move(p)));
    return pass("order_operands", order_operands(std::move(p), chip, in_program));
}

plan choose_kernels(plan p, const machine& chip, const priors& known, bool dynamic_extents,
                    const pass_observer& pass) {
    if (chip.kind == target::cpu && !dynamic_extents) p = pass("slice_steps", slice_steps(std::move(p), chip));
    p = pass("classify_axes", classify_axes(std::move(p)));
    p = pass("fuse_axes", fuse_axes(std::move(p)));
    p = pass("choose_form", choose_form(std::move(p), chip, known, dynamic_extents));
    return pass("place_temporaries", place_temporaries(std::move(p)));
}

plan lower(const statement& s, const machine& chip, const priors& known, bool dynamic_extents,
           std::vector<stage>* trace) {
    pass_tracer tracer(s, trace);
    const pass_observer pass = [&](std::string_view name, plan result) { return tracer(name, std::move(result)); };
    auto p = split_into_steps(s, chip, false, pass);
    p.same_access = same_accesses(s);
    if (!dynamic_extents) p = pass("fuse_statements", fuse_statements(std::move(p), chip, known));
    return choose_kernels(std::move(p), chip, known, dynamic_extents, pass);
}

} // namespace ricci::lowering
