// lower: the ordered list of passes. Each takes a plan and returns a plan; the order is part of what they rely on.
#include "lowering/lower.hpp"

#include "lowering/check_overlap.hpp"
#include "lowering/choose_form.hpp"
#include "lowering/classify_axes.hpp"
#include "lowering/find_batches.hpp"
#include "lowering/find_symmetry.hpp"
#include "lowering/fix_indices.hpp"
#include "lowering/fuse_axes.hpp"
#include "lowering/gathers.hpp"
#include "lowering/order_operands.hpp"
#include "lowering/place_temporaries.hpp"
#include "lowering/print.hpp"
#include "lowering/scatter_left.hpp"
#include "lowering/scope_sums.hpp"
#include "lowering/slice_steps.hpp"

#include <algorithm>

namespace ricci::lowering {

plan lower(const statement& s, const machine& chip, const priors& known, bool dynamic_extents,
           std::vector<stage>* trace) {
    plan p;
    std::string last;
    const auto pass = [&](std::string_view name, plan result) {
        p = std::move(result);
        if (trace == nullptr) return;
        auto dump = to_string(p, s);
        trace->push_back({name, dump == last ? "(unchanged)" : dump});
        last = std::move(dump);
    };
    pass("fix_indices", fix_indices(s));
    pass("scope_sums", scope_sums(std::move(p), s));
    pass("check_overlap", check_overlap(std::move(p), s));
    const bool adds_up = std::any_of(p.steps.begin(), p.steps.end(),
                                     [](const step& st) { return collision_of(st) != collision::none; });
    if (adds_up) pass("scatter_left", scatter_left(std::move(p), s, chip));
    if (chip.kind == target::cpu) pass("find_symmetry", find_symmetry(std::move(p), s));
    pass("find_batches", find_batches(std::move(p)));
    pass("order_operands", order_operands(std::move(p), chip));
    if (chip.kind == target::cpu && !dynamic_extents) pass("slice_steps", slice_steps(std::move(p), chip));
    pass("classify_axes", classify_axes(std::move(p)));
    pass("fuse_axes", fuse_axes(std::move(p)));
    pass("choose_form", choose_form(std::move(p), chip, known, dynamic_extents));
    pass("place_temporaries", place_temporaries(std::move(p)));
    return p;
}

} // namespace ricci::lowering
