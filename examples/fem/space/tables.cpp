// tables: see tables.hpp.
#include "examples/fem/space/tables.hpp"

namespace fem {

rule make_rule(quadrature kind, int p, int points) {
    if (kind == quadrature::collocated) return gauss_lobatto(points > 0 ? points : p + 1);
    return gauss_legendre(points > 0 ? points : p + 2);
}

matrix to_device(const table& t, ricci::device device) {
    matrix result(ricci::uninitialized, t.rows, t.columns, device);
    result.upload(t.values);
    return result;
}

vector to_device(const std::vector<double>& values, ricci::device device) {
    vector result(ricci::uninitialized, static_cast<std::int64_t>(values.size()), device);
    result.upload(values);
    return result;
}

index_table to_device(const std::vector<std::int64_t>& values, ricci::device device) {
    index_table result(ricci::uninitialized, static_cast<std::int64_t>(values.size()), device);
    result.upload(values);
    return result;
}

tables::tables(quadrature kind, int p, ricci::device device, int points)
    : order(p), collocated(kind == quadrature::collocated && (points == 0 || points == p + 1)),
      along(make_rule(kind, p, points)), B(0, 0, device), G(0, 0, device), D(0, 0, device), device_(device) {
    const lagrange basis(positions(node_points::gauss_lobatto, p));
    B = to_device(basis.values(along.points), device);
    G = to_device(basis.derivatives(along.points), device);
    D = to_device(lagrange(along.points).derivatives(along.points), device);
}

} // namespace fem
