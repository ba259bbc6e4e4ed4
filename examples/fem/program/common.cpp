// common: see common.hpp.
#include "examples/fem/program/common.hpp"

#include "examples/fem/mesh/read_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

namespace fem {

CLI::Validator not_empty() {
    return {[](const std::string& text) { return text.empty() ? std::string("must not be empty") : std::string(); },
            ""};
}

CLI::Validator positive_number() {
    return {[](const std::string& text) {
                double value = 0;
                const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
                const bool good = code == std::errc() && end == text.data() + text.size();
                return good && std::isfinite(value) && value > 0
                           ? std::string()
                           : fmt::format("a finite number above 0 is wanted, not '{}'", text);
            },
            ""};
}

void add_mesh_options(CLI::App& app, mesh_options& o, std::int64_t elements) {
    o.elements = elements;
    app.add_option("MESH", o.path, "MFEM mesh v1.0 or Gmsh 4.1; without one a bent quarter of a ring is generated")
        ->check(not_empty());
    o.generated = app.add_option_group("generated", "The mesh that is generated where none is given");
    o.generated->add_option("--dimension", o.dimension, "2 or 3")->check(CLI::Range(2, 3))->capture_default_str();
    o.generated->add_option("--elements", o.elements, "about how many")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
        ->capture_default_str();
    o.generated->add_option("--geometry-order", o.geometry_order, "order of the curved elements")
        ->check(CLI::Range(1, largest_order))
        ->capture_default_str();
}

mesh load(const mesh_options& o) {
    if (o.path.empty()) return generate_ring(o.dimension, o.geometry_order, o.elements);
    for (const CLI::Option* option : o.generated->get_options())
        if (option->count() > 0)
            throw usage_error(
                fmt::format("{} is for a mesh that is generated, but {} is given", option->get_name(), o.path));
    return read_mesh(o.path);
}

void add_order_option(CLI::App& app, int& order) {
    app.add_option("--order", order, "order p of the basis")
        ->check(CLI::Range(1, largest_order))
        ->capture_default_str();
}

void add_device_option(CLI::App& app, std::string& device) {
    app.add_option("--device", device, "cpu, cuda or cuda:N (default: a GPU where there is one)")->check(not_empty());
}

ricci::device device_named(const std::string& name) {
    const ricci::device device = name.empty() ? ricci::default_device() : ricci::parse_device(name);
    const vector probe(1, device); // a name is refused here only where there is no such device
    return device;
}

namespace {

symmetric_matrix parsed_matrix(std::string_view text, const std::string& whole, int dimension) {
    std::vector<double> upper;
    while (true) {
        const auto comma = std::min(text.find(','), text.size());
        std::string_view number = text.substr(0, comma);
        if (number.size() > 1 && number[0] == '+') number.remove_prefix(1);
        double value = 0;
        const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), value);
        if (code != std::errc() || end != number.data() + number.size() || !std::isfinite(value))
            throw usage_error(fmt::format("--coefficient {}: '{}' is no number", whole, number));
        upper.push_back(value);
        if (comma == text.size()) break;
        text.remove_prefix(comma + 1);
    }
    try {
        return symmetric_matrix_of(upper, dimension);
    } catch (const std::invalid_argument& error) {
        throw usage_error(fmt::format("--coefficient {}: {}", whole, error.what()));
    }
}

} // namespace

void add_coefficient_option(CLI::App& app, std::vector<std::string>& given, bool by_attribute) {
    const std::string text =
        "K of div(K grad u), a symmetric matrix: xx,xy,yy or xx,xy,xz,yy,yz,zz (default: identity)";
    app.add_option("--coefficient", given,
                   text + (by_attribute ? "; or for each attribute of elements, 1:xx,xy,yy 2:..." : ""));
}

symmetric_matrix coefficient_from(const std::vector<std::string>& given, int dimension) {
    if (given.size() != 1) throw usage_error("--coefficient: one matrix is wanted, for the whole domain");
    return parsed_matrix(given.front(), given.front(), dimension);
}

std::optional<coefficient> coefficient_on(const mesh& m, const std::vector<std::string>& given,
                                          ricci::device device) {
    if (given.empty()) return std::nullopt;
    if (given.size() == 1 && given.front().find(':') == std::string::npos)
        return coefficient(m, coefficient_from(given, m.dimension), device);
    std::map<int, symmetric_matrix> by_attribute;
    for (const std::string& one : given) {
        const auto colon = one.find(':');
        int attribute = 0;
        const char* end = one.data() + std::min(colon, one.size());
        const auto [stop, code] = std::from_chars(one.data(), end, attribute);
        if (colon == std::string::npos || code != std::errc() || stop != end)
            throw usage_error(fmt::format("--coefficient {}: an attribute and a colon should stand first", one));
        if (!by_attribute.emplace(attribute, parsed_matrix(std::string_view(one).substr(colon + 1), one, m.dimension))
                 .second)
            throw usage_error(fmt::format("--coefficient {}: attribute {} has two", one, attribute));
    }
    return coefficient(m, by_attribute, device);
}

void print_mesh(const mesh& m) {
    fmt::print("Mesh             {}\n", m.name);
    const bool one = m.elements == 1;
    fmt::print("  elements       {} {}\n", m.elements,
               m.dimension == 2 ? (one ? "quadrilateral" : "quadrilaterals") : (one ? "hexahedron" : "hexahedra"));
    fmt::print("  dimension      {}\n", m.dimension);
    fmt::print("  geometry order {:<14} polynomials of this order map the unit {} to each element\n", m.order,
               m.dimension == 2 ? "square" : "cube");
}

std::string counted(std::int64_t count, const char* thing) {
    return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string time_text(double seconds) {
    return seconds < 1 ? fmt::format("{:8.3f} ms", 1e3 * seconds) : fmt::format("{:8.3f} s ", seconds);
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

} // namespace fem
