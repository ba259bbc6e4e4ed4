// element_operator: what the matrix-free operators share: a space, its components, and two kinds of vectors.
#pragma once

#include "examples/fem/operators/gather_scatter.hpp"
#include "examples/fem/operators/locals.hpp"
#include "examples/fem/space/h1_space.hpp"
#include "examples/fem/space/tables.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace fem {

/// A symmetric bilinear form on an H1 space, applied element by element without a matrix. A field of several
/// components has the form applied to each.
///
/// Element vectors are u(i,j,k,e), or u(i,j,k,m,e) for components m; without k in 2-D. Global vectors are x(g) or
/// x(g,m). All are the memory of a `vector`, first index fastest.
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

    /// Calls steps_2d(u, v, m...) or steps_3d(u, v, m...), whose statements compute v(i,j,m...,e) or v(i,j,k,m...,e)
    /// from u: views for element vectors, or, if `global`, locals between a gather and a scatter. One component has
    /// no index: m... is empty then, else the index m.
    template <class Steps2, class Steps3>
    void on_vectors(bool global, const Steps2& steps_2d, const Steps3& steps_3d);

    /// The extents of u(i,j,k,m...,e), n values of each of i, j, k.
    template <std::size_t Rank>
    std::array<std::int64_t, Rank> extents(std::int64_t n) const;

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

template <std::size_t Rank>
std::array<std::int64_t, Rank> element_operator::extents(std::int64_t n) const {
    std::array<std::int64_t, Rank> result;
    result.fill(n);
    if (static_cast<int>(Rank) == dimension_ + 2) result[Rank - 2] = components_;
    result[Rank - 1] = elements_;
    return result;
}

template <class Steps2, class Steps3>
void element_operator::on_vectors(bool global, const Steps2& steps_2d, const Steps3& steps_3d) {
    const auto run = [&]<std::size_t Rank, class... Component>(std::integral_constant<std::size_t, Rank>,
                                                               const auto& steps, Component... m) {
        const auto sizes = extents<Rank>(nodes_along_);
        if (global) {
            auto u = make_local(sizes, device_), v = make_local(sizes, device_);
            sharing_.gather(*in_, u, m...);
            steps(u, v, m...);
            sharing_.scatter(v, *out_, m...);
        } else {
            const auto u = shaped<Rank>(*in_, sizes);
            const auto v = shaped<Rank>(*out_, sizes);
            steps(u, v, m...);
        }
    };
    using ricci::indices::m;
    if (dimension_ == 2 && components_ == 1)
        run(std::integral_constant<std::size_t, 3>(), steps_2d);
    else if (dimension_ == 2)
        run(std::integral_constant<std::size_t, 4>(), steps_2d, m);
    else if (components_ == 1)
        run(std::integral_constant<std::size_t, 4>(), steps_3d);
    else
        run(std::integral_constant<std::size_t, 5>(), steps_3d, m);
}

} // namespace fem
