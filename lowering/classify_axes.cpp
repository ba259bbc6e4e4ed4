// classify_axes: the roles of the axes in a product of two operands.
#include "lowering/classify_axes.hpp"

#include "lowering/find_symmetry.hpp"
#include "lowering/tree.hpp"

namespace ricci::lowering {
namespace {

void classify(step& st) {
    matrix_product product;
    const auto last = static_cast<std::int32_t>(st.nodes.size()) - 1;
    if (!is_matrix_product(st.nodes, last, product) || product.y < 0) return;
    st.x = product.x;
    st.y = product.y;
    st.x_conjugated = product.x_conjugated;
    st.y_conjugated = product.y_conjugated;
    st.classes.clear();
    const auto& c = st.operands[0].present;
    const auto& x = st.operands[static_cast<std::size_t>(st.x)].present;
    const auto& y = st.operands[static_cast<std::size_t>(st.y)].present;
    for (std::size_t a = 0; a < st.axes.size(); ++a) {
        using enum axis_class;
        const bool in_both = x[a] && y[a];
        st.classes.push_back(c[a] ? (in_both ? batch : x[a] ? m : y[a] ? n : other) : in_both ? k : other);
    }
}

/// Symmetry that is not one of rows and columns is of no use to any kernel, and in the way of fewer and longer axes.
void keep_symmetry_of_sides(step& st) {
    bool rows = false, columns = false;
    for (std::size_t a = 0; a < st.classes.size(); ++a) {
        rows |= st.axes[a].mirrored && st.classes[a] == axis_class::m;
        columns |= st.axes[a].mirrored && st.classes[a] == axis_class::n;
    }
    if (!rows || !columns) forget_symmetry(st);
}

} // namespace

plan classify_axes(plan p) {
    for (auto& st : p.steps) {
        if (st.nodes.empty()) continue; // it works on matrices
        classify(st);
        keep_symmetry_of_sides(st);
    }
    return p;
}

} // namespace ricci::lowering
