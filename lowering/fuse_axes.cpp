// fuse_axes: fewer and longer axes.
#include "lowering/fuse_axes.hpp"

#include "lowering/fuse_matrix_axes.hpp"
#include "lowering/gathers.hpp"
#include "lowering/temporaries.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>

namespace ricci::lowering {
namespace {

/// Takes axis `a` out of every operand and sum.
void remove(step& st, std::size_t a) {
    for (auto& o : st.operands) {
        o.present[a] = 0;
        o.stride[a] = 0;
        for (auto& b : o.bounds) b.coefficient[a] = 0;
    }
    for (auto& list : st.sums) std::erase(list, static_cast<std::int32_t>(a));
}

class axis_fuser {
  public:
    explicit axis_fuser(step& st) : st_(st) {}

    void run() {
        for (std::size_t a = 0; a < st_.axes.size(); ++a)
            if (st_.axes[a].extent == 1 && !st_.operands[0].present[a]) remove(st_, a);
        while (join_one()) {
        }
        drop_unused_axes(st_);
        sort();
    }

  private:
    bool is_used(std::size_t a) const {
        for (const auto& o : st_.operands)
            if (o.present[a]) return true;
        return std::any_of(st_.sums.begin(), st_.sums.end(), [&](const auto& list) { return holds(list, a); });
    }

    static bool holds(const std::vector<std::int32_t>& list, std::size_t a) {
        return std::find(list.begin(), list.end(), static_cast<std::int32_t>(a)) != list.end();
    }

    /// Whether stepping past the end of `inner` is one step of `outer`, in every operand.
    bool can_join(std::size_t inner, std::size_t outer) const {
        std::int64_t together = 0;
        if (st_.axes[inner].mirrored || st_.axes[outer].mirrored) return false;
        if (__builtin_mul_overflow(st_.axes[inner].extent, st_.axes[outer].extent, &together)) return false;
        for (const auto& list : st_.sums)
            if (holds(list, inner) != holds(list, outer)) return false;
        for (const auto& o : st_.operands) {
            if (o.present[inner] != o.present[outer]) return false;
            std::int64_t reach = 0;
            if (o.present[inner] &&
                (__builtin_mul_overflow(o.stride[inner], st_.axes[inner].extent, &reach) || o.stride[outer] != reach))
                return false;
            for (const auto& b : o.bounds)
                if (b.coefficient[inner] != 0 || b.coefficient[outer] != 0) return false;
        }
        return true;
    }

    bool join_one() {
        for (std::size_t inner = 0; inner < st_.axes.size(); ++inner)
            for (std::size_t outer = 0; outer < st_.axes.size(); ++outer) {
                if (inner == outer || !is_used(inner) || !is_used(outer) || !can_join(inner, outer)) continue;
                st_.axes[inner].name = intern(std::string(st_.axes[inner].name).append(st_.axes[outer].name));
                st_.axes[inner].extent *= st_.axes[outer].extent;
                st_.axes[inner].variable |= st_.axes[outer].variable;
                remove(st_, outer);
                return true;
            }
        return false;
    }

    void sort() {
        const auto left = nominal(st_, st_.operands[0]);
        std::vector<std::uint64_t> farthest(st_.axes.size(), 0);
        for (const auto& o : st_.operands) {
            const auto here = nominal(st_, o);
            for (std::size_t a = 0; a < farthest.size(); ++a)
                farthest[a] = std::max(farthest[a], magnitude(here.stride[a]));
        }
        std::vector<std::size_t> order(st_.axes.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            if (left.present[a] != left.present[b]) return left.present[a] > left.present[b];
            if (left.present[a] && (st_.axes[a].extent == 1) != (st_.axes[b].extent == 1))
                return st_.axes[b].extent == 1;
            if (left.present[a]) return magnitude(left.stride[a]) < magnitude(left.stride[b]);
            return farthest[a] > farthest[b];
        });
        std::vector<std::int32_t> number(order.size());
        for (std::size_t n = 0; n < order.size(); ++n) number[order[n]] = static_cast<std::int32_t>(n);
        for (auto& o : st_.operands) {
            permute(o.stride, order);
            permute(o.present, order);
            for (auto& b : o.bounds) permute(b.coefficient, order);
        }
        permute(st_.axes, order);
        if (!st_.classes.empty()) permute(st_.classes, order);
        for (auto& list : st_.sums) {
            for (auto& a : list) a = number[static_cast<std::size_t>(a)];
            std::sort(list.begin(), list.end());
        }
    }

    template <class T>
    static void permute(std::vector<T>& values, const std::vector<std::size_t>& order) {
        std::vector<T> out;
        for (const auto from : order) out.push_back(values[from]);
        values = std::move(out);
    }

    step& st_;
};

} // namespace

plan fuse_axes(plan p) {
    for (auto& st : p.steps)
        // What has a kernel knows its axes: a chain by their names, winograd by their order.
        if (st.chain >= 0)
            continue;
        else if (st.matrices.task != matrix_task::none)
            fuse_matrix_axes(st);
        else if (st.kernel == family::none)
            axis_fuser(st).run();
    return p;
}

void drop_single_axes(step& st) {
    for (std::size_t a = 0; a < st.axes.size(); ++a)
        if (st.axes[a].extent == 1 && !st.axes[a].variable) remove(st, a);
    drop_unused_axes(st);
}

} // namespace ricci::lowering
