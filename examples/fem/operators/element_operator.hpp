// element_operator: what the matrix-free operators share: a space, its components, and two kinds of vectors.
#pragma once

#include "examples/fem/operators/gather_scatter.hpp"
#include "examples/fem/space/h1_space.hpp"
#include "examples/fem/space/tables.hpp"

#include <cstdint>
#include <functional>

namespace fem {

/// A symmetric bilinear form on an H1 space, applied element by element without a matrix. A field of several
/// components has the form applied to each.
///
/// Element vectors are u(i,j,k,m,e) (without k in 2-D): node i,j,k, component m, element e. Global vectors are
/// x(g,m). Both are the memory of a `vector`, first index fastest.
class element_operator {
  public:
    virtual ~element_operator() = default;
    element_operator(const element_operator&) = delete;
    element_operator& operator=(const element_operator&) = delete;

    /// v = A u for each element by itself: CEED's bake-off kernels.
    void apply_to_elements(const vector& u, vector& v);
    /// y = A x, x and y global: the same with gather and scatter around it.
    void apply(const vector& x, vector& y);
    /// The diagonal of A, global.
    vector diagonal();

    std::int64_t element_size() const { return nodes_ * components_ * elements_; }
    std::int64_t global_size() const { return dofs_ * components_; }
    int components() const { return components_; }
    const ricci::device& device() const { return device_; }

    /// What an application to element vectors has to read and write, and its multiplications and additions.
    virtual double bytes_of_elements() const = 0;
    virtual double flops() const = 0;
    /// The same for global vectors: nodes once, numbers once.
    double bytes() const;

  protected:
    element_operator(const h1_space& space, const tables& basis, int components);

    /// Runs the statements of v = A u: calls on_vectors.
    virtual void statements(bool global) = 0;
    /// d(i,j,k,e), the diagonals of the element matrices.
    virtual void element_diagonal(vector& d) = 0;

    /// Calls steps_2d(u, v) or steps_3d(u, v), whose statements compute v(i,j,m,e) or v(i,j,k,m,e) from u, each a
    /// view or a local: for element vectors in and out, or, if `global`, between a gather and a scatter.
    template <class Steps2, class Steps3>
    void on_vectors(bool global, const Steps2& steps_2d, const Steps3& steps_3d);

    int dimension_, components_;
    std::int64_t nodes_along_, points_along_, nodes_, elements_, dofs_;
    const tables& basis_;
    ricci::device device_;

  private:
    gather_scatter sharing_;
    const vector* in_ = nullptr; ///< what the programs below are called for
    vector* out_ = nullptr;
    std::function<void()> element_program_, global_program_;
};

template <class Steps2, class Steps3>
void element_operator::on_vectors(bool global, const Steps2& steps_2d, const Steps3& steps_3d) {
    using ricci::dyn;
    const std::int64_t P = nodes_along_, M = components_, E = elements_;
    const auto between = [&](auto& u, auto& v, const auto& steps) {
        sharing_.gather(shaped<2>(*in_, {dofs_, M}), u);
        steps(u, v);
        sharing_.scatter(v, shaped<2>(*out_, {dofs_, M}));
    };
    if (dimension_ == 2 && global) {
        ricci::local<double, dyn, dyn, dyn, dyn> u(P, P, M, E, device_), v(P, P, M, E, device_);
        between(u, v, steps_2d);
    } else if (dimension_ == 2) {
        const auto u = shaped<4>(*in_, {P, P, M, E});
        const auto v = shaped<4>(*out_, {P, P, M, E});
        steps_2d(u, v);
    } else if (global) {
        ricci::local<double, dyn, dyn, dyn, dyn, dyn> u(P, P, P, M, E, device_), v(P, P, P, M, E, device_);
        between(u, v, steps_3d);
    } else {
        const auto u = shaped<5>(*in_, {P, P, P, M, E});
        const auto v = shaped<5>(*out_, {P, P, P, M, E});
        steps_3d(u, v);
    }
}

} // namespace fem
