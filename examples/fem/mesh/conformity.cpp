// conformity: shared faces are compared node by node; vertices near faces of the boundary are projected onto them.
#include "examples/fem/mesh/conformity.hpp"

#include "examples/fem/mesh/boundary.hpp"
#include "examples/fem/mesh/topology.hpp"
#include "examples/fem/space/basis.hpp"
#include "examples/fem/space/h1_numbering.hpp"
#include "examples/fem/space/h1_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <vector>

namespace fem {
namespace {

/// Relative to the size of a face: files hold some 7 digits at least.
constexpr double slack = 1e-6;

double distance(const point& a, const point& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

double dot(const point& a, const point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// The largest distance of two of the points from the first.
double size_of(const std::vector<point>& points) {
    double size = 0;
    for (const point& p : points) size = std::max(size, distance(p, points.front()));
    return size;
}

/// The mesh's elements by nodes that include their corners, and so their faces.
class shapes {
  public:
    explicit shapes(const mesh& m)
        : mesh_(m), closed_(m.points != node_points::gauss_legendre), basis_(positions(m.points, m.order)),
          to_closed_(basis_.values(positions(node_points::gauss_lobatto, m.order))),
          closed_basis_(closed_ ? basis_ : lagrange(positions(node_points::gauss_lobatto, m.order))) {
        for (int face = 0; face < faces_of_element(m.dimension); ++face)
            on_face_.push_back(nodes_on_face(m.dimension, m.order, face));
    }

    const std::vector<std::int64_t>& nodes_on(int face) const { return on_face_[face]; }

    /// The places of an element's nodes on a face, in the order of nodes_on.
    std::vector<point> face_points(std::int64_t e, int face) const {
        const std::int64_t n = nodes_per_element(mesh_);
        std::vector<point> points(on_face_[face].size());
        for (int d = 0; d < mesh_.dimension; ++d) {
            const double* x = &mesh_.nodes[(e * mesh_.dimension + d) * n];
            std::vector<double> closed;
            if (!closed_) {
                closed = apply_along(std::vector<const table*>(mesh_.dimension, &to_closed_), x);
                x = closed.data();
            }
            for (std::size_t k = 0; k < points.size(); ++k) points[k][d] = x[on_face_[face][k]];
        }
        return points;
    }

    /// The distance of x from the face (2-D: edge) with these points, by Gauss-Newton steps from the nearest of them.
    double distance_from(const std::vector<point>& points, const point& x) const {
        const int side = mesh_.order + 1, parameters = mesh_.dimension - 1;
        const auto along = positions(closed_ ? mesh_.points : node_points::gauss_lobatto, mesh_.order);
        std::size_t nearest = 0;
        for (std::size_t k = 0; k < points.size(); ++k)
            if (distance(points[k], x) < distance(points[nearest], x)) nearest = k;
        double at[2]{along[nearest % side], parameters == 2 ? along[nearest / side] : 0};
        double best = distance(points[nearest], x);
        for (int step = 0; step < 12; ++step) {
            const auto [here, du, dv] = tangents(points, at[0], at[1], parameters);
            best = std::min(best, distance(here, x));
            const point gap{x[0] - here[0], x[1] - here[1], x[2] - here[2]};
            const double uu = dot(du, du), uv = dot(du, dv), vv = parameters == 2 ? dot(dv, dv) : 1;
            const double det = uu * vv - uv * uv;
            if (!(det > 0)) break;
            at[0] = std::clamp(at[0] + (vv * dot(du, gap) - uv * dot(dv, gap)) / det, 0.0, 1.0);
            at[1] = std::clamp(at[1] + (uu * dot(dv, gap) - uv * dot(du, gap)) / det, 0.0, 1.0);
        }
        return best;
    }

  private:
    struct frame {
        point here, du, dv;
    };
    frame tangents(const std::vector<point>& points, double u, double v, int parameters) const {
        const table bu = closed_basis_.values({u}), gu = closed_basis_.derivatives({u});
        const table bv = parameters == 2 ? closed_basis_.values({v}) : table{1, 1, {1.0}};
        const table gv = parameters == 2 ? closed_basis_.derivatives({v}) : table{1, 1, {0.0}};
        frame f{};
        for (int j = 0; j < bv.columns; ++j)
            for (int i = 0; i < bu.columns; ++i)
                for (int d = 0; d < 3; ++d) {
                    const double x = points[i + bu.columns * j][d];
                    f.here[d] += bu(0, i) * bv(0, j) * x;
                    f.du[d] += gu(0, i) * bv(0, j) * x;
                    f.dv[d] += bu(0, i) * gv(0, j) * x;
                }
        return f;
    }

    const mesh& mesh_;
    bool closed_;
    lagrange basis_;
    table to_closed_;
    lagrange closed_basis_;
    std::vector<std::vector<std::int64_t>> on_face_;
};

/// Both elements must have the same shape at what they share: nodes with the same number the same distances; and they
/// must lie on its two sides.
void compare_shared_faces(const mesh& m, const topology& t, const shapes& shape) {
    struct seen {
        std::int64_t element = -1;
        int face = 0;
    };
    const h1_numbering numbering(m, t, m.order);
    std::vector<seen> first(t.elements_at.size());
    std::vector<std::int64_t> numbers(nodes_per_element(m)), others(numbers.size());
    for (std::int64_t e = 0; e < m.elements; ++e)
        for (int face = 0; face < faces_of_element(m.dimension); ++face) {
            seen& other = first[t.separator(e, face)];
            if (other.element < 0) {
                other = {e, face};
                continue;
            }
            numbering.nodes_of(e, numbers);
            numbering.nodes_of(other.element, others);
            const std::vector<point> mine = shape.face_points(e, face);
            const std::vector<point> theirs = shape.face_points(other.element, other.face);
            const auto& on_mine = shape.nodes_on(face);
            const auto& on_theirs = shape.nodes_on(other.face);
            std::vector<point> matched;
            for (const std::int64_t node : on_mine)
                for (std::size_t k = 0; k < theirs.size(); ++k)
                    if (others[on_theirs[k]] == numbers[node]) matched.push_back(theirs[k]);
            const double size = std::max(size_of(mine), size_of(matched));
            for (std::size_t k = 1; k < mine.size(); ++k)
                if (std::abs(distance(mine[k], mine[0]) - distance(matched[k], matched[0])) > slack * size)
                    throw mesh_error(
                        fmt::format("{}: elements {} and {} (counted from 0) share the vertices of {}, but "
                                    "not its shape; a non-conforming mesh is not handled",
                                    m.name, other.element, e, m.dimension == 2 ? "an edge" : "a face"));
            // What is glued to a face elsewhere may be so in either way: a Moebius strip is periodic too.
            double moved = 0;
            for (std::size_t k = 0; k < mine.size(); ++k) moved = std::max(moved, distance(mine[k], matched[k]));
            if (moved <= slack * size && same_cycle(face_cycle(m, e, face), face_cycle(m, other.element, other.face)))
                throw mesh_error(
                    fmt::format("{}: elements {} and {} (counted from 0) lie on the same side of {} that "
                                "they share: they overlap",
                                m.name, other.element, e, m.dimension == 2 ? "an edge" : "a face"));
        }
}

/// Points of space by cells of a grid, for those near a box.
class point_grid {
  public:
    explicit point_grid(double cell) : cell_(cell) {}
    void add(std::int64_t number, const point& at) { cells_[key(cell_of(at))].push_back({number, at}); }

    template <class Visit>
    void near(const point& low, const point& high, const Visit& visit) const {
        const auto from = cell_of(low), to = cell_of(high);
        for (std::int64_t x = from[0]; x <= to[0]; ++x)
            for (std::int64_t y = from[1]; y <= to[1]; ++y)
                for (std::int64_t z = from[2]; z <= to[2]; ++z)
                    if (const auto found = cells_.find(key({x, y, z})); found != cells_.end())
                        for (const auto& [number, at] : found->second) visit(number, at);
    }

  private:
    using cell = std::array<std::int64_t, 3>;
    cell cell_of(const point& at) const {
        cell c;
        for (int d = 0; d < 3; ++d) c[d] = static_cast<std::int64_t>(std::floor(at[d] / cell_));
        return c;
    }
    static std::uint64_t key(const cell& c) { // two cells may have one key: then points too far away are visited too
        std::uint64_t h = 0;
        for (const std::int64_t v : c) h = (h ^ static_cast<std::uint64_t>(v)) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
        return h;
    }

    struct entry {
        std::int64_t number;
        point at;
    };
    double cell_;
    std::unordered_map<std::uint64_t, std::vector<entry>> cells_;
};

/// No vertex may lie on a face of the boundary that it is no corner of.
void look_for_hanging_vertices(const mesh& m, const topology& t, const shapes& shape) {
    const auto faces = boundary_faces(m, t);
    const int corners = 1 << (m.dimension - 1), last = m.order;
    const std::size_t side = m.order + 1;
    const auto corner_at = [&](int c) { return (c & 1) * last + (c >> 1) * last * side; };
    std::vector<std::vector<point>> points;
    double largest = 0;
    for (const boundary_part& part : faces) {
        points.push_back(shape.face_points(part.element, part.face));
        largest = std::max(largest, size_of(points.back()));
    }
    if (!(largest > 0)) return;

    point_grid vertices(largest);
    std::vector<bool> added(m.vertices);
    std::vector<std::vector<std::int64_t>> own(faces.size());
    for (std::size_t n = 0; n < faces.size(); ++n)
        for (int c = 0; c < corners; ++c) {
            const std::int64_t node = shape.nodes_on(faces[n].face)[corner_at(c)];
            int at = 0; // which corner of the element that node is
            while (lexicographic({corner_positions[at][0] * last, corner_positions[at][1] * last,
                                  corner_positions[at][2] * last},
                                 m.order) != node)
                ++at;
            own[n].push_back(m.corners[(faces[n].element << m.dimension) + at]);
            if (!added[own[n].back()]) vertices.add(own[n].back(), points[n][corner_at(c)]);
            added[own[n].back()] = true;
        }

    for (std::size_t n = 0; n < faces.size(); ++n) {
        const double size = size_of(points[n]);
        point low = points[n].front(), high = low;
        for (const point& p : points[n])
            for (int d = 0; d < 3; ++d) low[d] = std::min(low[d], p[d]), high[d] = std::max(high[d], p[d]);
        for (int d = 0; d < 3; ++d) low[d] -= 0.05 * size, high[d] += 0.05 * size;
        vertices.near(low, high, [&](std::int64_t vertex, const point& at) {
            if (std::find(own[n].begin(), own[n].end(), vertex) != own[n].end()) return;
            for (int d = 0; d < 3; ++d)
                if (at[d] < low[d] || at[d] > high[d]) return;
            // Another vertex in the same place is a crack or two bodies that touch, which may be meant.
            for (int c = 0; c < corners; ++c)
                if (distance(points[n][corner_at(c)], at) < slack * size) return;
            if (shape.distance_from(points[n], at) < slack * size)
                throw mesh_error(
                    fmt::format("{}: vertex {} lies on {} of element {} (counted from 0) without being one "
                                "of its vertices; a non-conforming mesh is not handled",
                                m.name, vertex, m.dimension == 2 ? "an edge" : "a face", faces[n].element));
        });
    }
}

} // namespace

void check_conformity(const mesh& m) {
    const topology t = find_topology(m);
    const shapes shape(m);
    compare_shared_faces(m, t, shape);
    look_for_hanging_vertices(m, t, shape);
}

} // namespace fem
