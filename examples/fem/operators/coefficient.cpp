// coefficient: the matrices of the parts are read through a table of each element's part.
#include "examples/fem/operators/coefficient.hpp"

#include "examples/fem/operators/shaped.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace fem {

symmetric_matrix identity_matrix() { return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }

symmetric_matrix symmetric_matrix_of(const std::vector<double>& upper, int dimension) {
    symmetric_matrix K = identity_matrix();
    const auto pairs = symmetric_pairs(dimension);
    if (upper.size() != pairs.size())
        throw std::invalid_argument(fmt::format("a symmetric matrix in {}-D has {} numbers ({}), not {}", dimension,
                                                pairs.size(), dimension == 2 ? "xx,xy,yy" : "xx,xy,xz,yy,yz,zz",
                                                upper.size()));
    for (std::size_t n = 0; n < pairs.size(); ++n)
        K[pairs[n].first][pairs[n].second] = K[pairs[n].second][pairs[n].first] = upper[n];
    const double minor = K[0][0] * K[1][1] - K[0][1] * K[0][1];
    const double det = K[0][0] * (K[1][1] * K[2][2] - K[1][2] * K[1][2]) -
                       K[0][1] * (K[0][1] * K[2][2] - K[1][2] * K[0][2]) +
                       K[0][2] * (K[0][1] * K[1][2] - K[1][1] * K[0][2]);
    if (!(K[0][0] > 0 && minor > 0 && det > 0)) throw std::invalid_argument("the matrix is not positive definite");
    return K;
}

coefficient::coefficient(const mesh& m, const symmetric_matrix& everywhere, ricci::device device)
    : coefficient(
          m,
          [&] {
              std::map<int, symmetric_matrix> all;
              for (const int attribute : m.attributes) all[attribute] = everywhere;
              return all;
          }(),
          device) {}

coefficient::coefficient(const mesh& from, const std::map<int, symmetric_matrix>& by_attribute, ricci::device device)
    : dimension_(from.dimension), elements_(from.elements),
      values_(ricci::uninitialized, dimension_ * dimension_ * elements_, device) {
    std::map<int, std::int64_t> number;
    std::vector<double> entries; // K(x,y,part)
    for (const auto& [attribute, K] : by_attribute) {
        number.emplace(attribute, static_cast<std::int64_t>(number.size()));
        for (int column = 0; column < dimension_; ++column)
            for (int row = 0; row < dimension_; ++row) entries.push_back(K[row][column]);
    }
    std::vector<std::int64_t> parts;
    for (std::size_t n = 0; n < from.attributes.size(); ++n) {
        const auto found = number.find(from.attributes[n]);
        if (found == number.end())
            throw mesh_error(fmt::format("{}: {} has attribute {}, for which no coefficient is given", from.name,
                                         element_text(from, static_cast<std::int64_t>(n)), from.attributes[n]));
        parts.push_back(found->second);
    }
    using namespace ricci::indices;
    const vector given = to_device(entries, device);
    const index_table part = to_device(parts, device);
    const auto K = shaped<3>(given, {dimension_, dimension_, static_cast<std::int64_t>(number.size())});
    shaped<3>(values_, {dimension_, dimension_, elements_})(x, y, e) = K(x, y, part(e));
}

ricci::view<const double, 4> coefficient::at_points(std::int64_t points) const {
    const std::int64_t d = dimension_;
    return {values_.data(), {points, d, d, elements_}, {0, 1, d, d * d}, values_.device()};
}

} // namespace fem
