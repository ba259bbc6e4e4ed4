// chain_numbers: what the memories of a chain that factors or solves hold where its kernel is tried.
#include "runtime/chain_numbers.hpp"

#include "lowering/matrix_sizes.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ricci::runtime {
namespace {

using namespace lowering;

class finder {
  public:
    finder(const chain& c, const std::vector<step>& steps) : steps_(steps) {
        for (const auto& m : c.memories) memories_.insert(m.source);
    }

    chain_numbers find() && {
        for (const auto& st : steps_) {
            if (st.matrices.task == matrix_task::none) continue;
            out_.matrices.push_back(only_in_memory(st));
            const auto* const matrix = operand_in(st, matrix_role::matrix);
            const bool assembles = st.matrices.task == matrix_task::factor &&
                                   st.matrices.method == matrix_method::cholesky && matrix != nullptr &&
                                   !is_in_memory(*matrix);
            if (assembles)
                visit({matrix->source, along(*matrix, st.matrices.row), along(*matrix, st.matrices.column)});
        }
        return std::move(out_);
    }

  private:
    /// What a local is to its matrix: elements from one of the matrix's rows and columns to the next; 0: it has none.
    struct part {
        std::int32_t source = 0;
        std::int64_t row = 0, column = 0;
        auto operator<=>(const part&) const = default;
    };

    bool is_in_memory(const operand& o) const { return memories_.contains(o.source); }
    static std::int64_t along(const operand& o, std::int32_t axis) {
        return axis < 0 ? 0 : o.stride[static_cast<std::size_t>(axis)];
    }

    step only_in_memory(step st) const {
        for (const auto role : {matrix_role::matrix, matrix_role::vector}) {
            auto& o = st.matrices.operand[static_cast<std::size_t>(role)];
            if (o >= 0 && !is_in_memory(st.operands[static_cast<std::size_t>(o)])) o = -1;
        }
        return st;
    }

    /// The axis that walks along a part's rows, or columns; -1: none.
    static std::int32_t axis_of(const step& st, std::int64_t stride) {
        for (std::size_t a = 0; a < st.axes.size() && stride != 0; ++a)
            if (st.operands[0].stride[a] == stride && st.axes[a].extent > 1) return static_cast<std::int32_t>(a);
        return -1;
    }

    /// All that the steps which write a local read.
    void visit(const part& local) {
        if (!visited_.insert(local).second) return;
        for (const auto& st : steps_) {
            if (st.matrices.task != matrix_task::none || st.operands[0].source != local.source) continue;
            const auto row = axis_of(st, local.row), column = axis_of(st, local.column);
            for (std::size_t o = 1; o < st.operands.size(); ++o) {
                const auto& from = st.operands[o];
                const part its{from.source, along(from, row), along(from, column)};
                if (is_index(from.type)) continue;
                if (!is_in_memory(from))
                    visit(its);
                else if (its.row != 0 && its.column != 0)
                    add_matrix(st, o, row, column);
                else
                    (its.row != 0 || its.column != 0 ? out_.factors : out_.weights).insert(from.source);
            }
        }
    }

    /// The operand as if it were what is factored; what tables find as if it were another axis of the batch.
    void add_matrix(step st, std::size_t which, std::int32_t row, std::int32_t column) {
        auto& o = st.operands[which];
        if (!o.bounds.empty()) return;
        for (const auto& g : o.gathers) {
            if (st.operands[static_cast<std::size_t>(g.table)].type == scalar_type::address) return;
            st.axes.push_back({"", g.extent});
            for (auto& other : st.operands) other.stride.push_back(&other == &o ? g.stride : 0);
        }
        st.matrices.task = matrix_task::factor, st.matrices.method = matrix_method::cholesky;
        st.matrices.row = row, st.matrices.column = column;
        st.matrices.operand[static_cast<std::size_t>(matrix_role::matrix)] = static_cast<std::int32_t>(which);
        out_.matrices.push_back(std::move(st));
    }

    const std::vector<step>& steps_;
    std::set<std::int32_t> memories_;
    std::set<part> visited_;
    chain_numbers out_;
};

} // namespace

chain_numbers chain_numbers_of(const chain& c, const std::vector<step>& steps) { return finder(c, steps).find(); }

} // namespace ricci::runtime
