// fuse_matrix_axes: fewer and longer axes of a step that works on matrices.
#include "lowering/fuse_matrix_axes.hpp"

#include "lowering/matrix_sizes.hpp"
#include "lowering/temporaries.hpp"

#include <algorithm>
#include <string>

namespace ricci::lowering {
namespace {

class matrix_axes {
  public:
    explicit matrix_axes(step& st) : st_(st) {}

    void run() {
        auto& w = st_.matrices;
        auto batch = batch_of_matrices(st_);
        std::erase_if(batch, [&](std::int32_t a) {
            return st_.axes[index(a)].extent == 1 ||
                   std::none_of(st_.operands.begin(), st_.operands.end(),
                                [&](const operand& o) { return o.present[index(a)] != 0; });
        });
        std::sort(batch.begin(), batch.end(), [&](auto a, auto b) { return nearness(a) < nearness(b); });
        if (w.right >= 0 && w.of(matrix_role::given) >= 0) // the identity's columns are those of one matrix
            for (std::size_t b = 0; b < batch.size();) {
                const bool is_outer = counts_sides(batch[b]) && join(w.right, batch[b]);
                const bool is_inner = !is_outer && counts_sides(batch[b]) && join(batch[b], w.right);
                if (is_inner) w.right = batch[b];
                if (is_outer || is_inner)
                    batch.erase(batch.begin() + static_cast<std::ptrdiff_t>(b)), b = 0;
                else
                    ++b;
            }
        for (std::size_t a = 0; a < batch.size(); ++a)
            for (std::size_t b = 0; b < batch.size();) {
                if (a != b && join(batch[a], batch[b])) {
                    batch.erase(batch.begin() + static_cast<std::ptrdiff_t>(b));
                    a = b = 0;
                } else {
                    ++b;
                }
            }
        reorder(batch);
        set_idle_strides();
    }

  private:
    /// Along an extent of 1 any stride means the same: the one that dense matrices have, for kernels copy those
    /// whole.
    void set_idle_strides() {
        const auto& w = st_.matrices;
        auto& stride = st_.operands[index(w.of(matrix_role::matrix))].stride;
        const auto set = [&](std::int32_t idle, std::int32_t other) {
            if (st_.axes[index(idle)].extent != 1) return;
            const auto extent = st_.axes[index(other)].extent;
            stride[index(idle)] = extent == 1 ? 1 : stride[index(other)] * extent;
        };
        set(w.column, w.row);
        set(w.row, w.column);
    }
    static std::size_t index(std::int32_t a) { return static_cast<std::size_t>(a); }

    /// By the matrix's stride, or of axes that it lacks the solutions'.
    std::uint64_t nearness(std::int32_t a) const {
        std::uint64_t out = 0;
        for (const auto& o : st_.operands) out = std::max(out, magnitude(o.stride[index(a)]));
        const auto own = magnitude(st_.operands[0].stride[index(a)]);
        return own != 0 ? own : out;
    }

    /// Whether right-hand sides alone have an axis.
    bool counts_sides(std::int32_t a) const {
        for (std::size_t o = 0; o < st_.operands.size(); ++o) {
            const auto number = static_cast<std::int32_t>(o);
            const bool is_side =
                number == st_.matrices.of(matrix_role::given) || number == st_.matrices.of(matrix_role::solution);
            if (!is_side && st_.operands[o].present[index(a)]) return false;
        }
        return true;
    }

    /// Makes `outer` a part of `inner` where each step of it follows the end of inner, in every operand.
    bool join(std::int32_t inner, std::int32_t outer) {
        auto &in = st_.axes[index(inner)], &out = st_.axes[index(outer)];
        std::int64_t together = 0;
        if (__builtin_mul_overflow(in.extent, out.extent, &together)) return false;
        for (const auto& o : st_.operands) {
            std::int64_t reach = 0;
            if (in.extent > 1 && o.present[index(inner)] != o.present[index(outer)]) return false;
            if (in.extent > 1 && (__builtin_mul_overflow(o.stride[index(inner)], in.extent, &reach) ||
                                  o.stride[index(outer)] != reach))
                return false;
        }
        for (auto& o : st_.operands)
            if (in.extent == 1)
                o.stride[index(inner)] = o.stride[index(outer)], o.present[index(inner)] = o.present[index(outer)];
        in.name = in.extent == 1 ? out.name : intern(std::string(in.name).append(out.name));
        in.extent = together, in.variable |= out.variable;
        return true;
    }

    void reorder(const std::vector<std::int32_t>& batch) {
        auto& w = st_.matrices;
        std::vector<std::int32_t> order;
        const auto take = [&](std::int32_t& axis) {
            if (axis < 0) return;
            const auto found = std::find(order.begin(), order.end(), axis);
            const auto number = static_cast<std::int32_t>(found - order.begin());
            if (found == order.end()) order.push_back(axis);
            axis = number;
        };
        for (auto* axis : {&w.row, &w.column, &w.right, &w.along_vector, &w.given_row, &w.solution_row}) take(*axis);
        order.insert(order.end(), batch.begin(), batch.end());
        for (auto& o : st_.operands) {
            permute(o.stride, order);
            permute(o.present, order);
        }
        permute(st_.axes, order);
    }

    template <class T>
    static void permute(std::vector<T>& values, const std::vector<std::int32_t>& order) {
        std::vector<T> out;
        for (const auto from : order) out.push_back(values[index(from)]);
        values = std::move(out);
    }

    step& st_;
};

} // namespace

void fuse_matrix_axes(step& st) { matrix_axes(st).run(); }

} // namespace ricci::lowering
