// find_batches: which extents may change from call to call without a new kernel.
#include "lowering/find_batches.hpp"

#include "lowering/gathers.hpp"
#include "lowering/shared_batch.hpp"
#include "lowering/temporaries.hpp"
#include "lowering/tree.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

class batch_finder {
  public:
    explicit batch_finder(step& st) : st_(st) {
        for (const auto& n : st.nodes)
            if (n.kind == operation::access) read_.push_back(static_cast<std::size_t>(n.a));
        for (const auto& o : st.operands) nominal_.push_back(nominal(st, o));
    }

    void run() {
        // Without a sum every extent is an argument anyway.
        if (std::none_of(st_.nodes.begin(), st_.nodes.end(), [](const node& n) { return n.kind == operation::sum; }))
            return;
        matrix_product product;
        if (is_matrix_product(st_.nodes, static_cast<std::int32_t>(st_.nodes.size()) - 1, product) && product.y >= 0)
            mark_sides(static_cast<std::size_t>(product.x), static_cast<std::size_t>(product.y));
        else
            mark_by_place();
    }

  private:
    bool is_in(std::size_t axis, std::size_t operand) const { return st_.operands[operand].present[axis] != 0; }

    void mark_sides(std::size_t x, std::size_t y) {
        std::vector<std::int32_t> m, n;
        for (std::size_t a = 0; a < st_.axes.size(); ++a) {
            if (!is_in(a, 0)) continue;
            if (is_in(a, x) && is_in(a, y)) return;
            if (is_in(a, x)) m.push_back(static_cast<std::int32_t>(a));
            if (is_in(a, y)) n.push_back(static_cast<std::int32_t>(a));
        }
        if (m.size() > 1 && n.size() > 1) return;
        mark_side(m, x);
        mark_side(n, y);
    }

    /// Of several axes of a side all vary, whether they are a long side of one product or a batch that the other
    /// operand is shared by; but for the sides of that batch's matrices. What a table is as long as is a batch.
    void mark_side(const std::vector<std::int32_t>& side, std::size_t x) {
        if (side.size() < 2) return;
        const bool known = std::any_of(side.begin(), side.end(), [&](auto a) { return is_gathered_along(a); });
        std::vector<std::int32_t> own;
        if (!known) own = side_of_matrices(st_, side, static_cast<std::int32_t>(x));
        for (const auto a : side) {
            const bool is_own = std::find(own.begin(), own.end(), a) != own.end();
            st_.axes[static_cast<std::size_t>(a)].variable = known ? is_gathered_along(a) : !is_own;
        }
    }

    bool is_gathered_along(std::int32_t axis) const {
        return std::any_of(st_.operands.begin(), st_.operands.end(), [&](const operand& o) {
            return lowering::is_gathered_along(st_, o, static_cast<std::size_t>(axis));
        });
    }

    void mark_by_place() {
        bool found = false;
        std::size_t left_rank = 0;
        for (std::size_t a = 0; a < st_.axes.size(); ++a) {
            if (!is_in(a, 0)) continue;
            ++left_rank;
            const bool everywhere =
                std::all_of(read_.begin(), read_.end(), [&](std::size_t o) { return is_in(a, o); });
            if (everywhere) st_.axes[a].variable = found = true;
        }
        if (found || left_rank < 3) return;
        for (std::size_t a = 0; a < st_.axes.size(); ++a)
            if (is_in(a, 0) && (is_at_the_end(a, true) || is_at_the_end(a, false))) st_.axes[a].variable = true;
    }

    /// Whether an axis is the outermost (or innermost) in the left and in each operand that has it.
    bool is_at_the_end(std::size_t axis, bool outermost) const {
        if (!is_at_the_end_of(nominal_[0], axis, outermost)) return false;
        bool stands = false;
        for (const auto o : read_) {
            const auto& here = nominal_[o];
            if (!here.present[axis]) continue;
            stands = true;
            if (!is_at_the_end_of(here, axis, outermost)) return false;
            if (!outermost && std::count(here.present.begin(), here.present.end(), 1) < 3) return false;
        }
        return stands;
    }

    static bool is_at_the_end_of(const operand& o, std::size_t axis, bool outermost) {
        const auto here = magnitude(o.stride[axis]);
        for (std::size_t a = 0; a < o.stride.size(); ++a) {
            if (a == axis || !o.present[a]) continue;
            const auto other = magnitude(o.stride[a]);
            if (outermost ? other > here : other < here) return false;
        }
        return true;
    }

    step& st_;
    std::vector<std::size_t> read_;
    std::vector<operand> nominal_; ///< the step's operands
};

} // namespace

plan find_batches(plan p) {
    for (auto& st : p.steps) batch_finder(st).run();
    return p;
}

} // namespace ricci::lowering
