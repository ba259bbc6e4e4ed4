// read_mesh: looks at the first line and hands over to the format's reader.
#include "examples/fem/mesh/read_mesh.hpp"

#include "examples/fem/mesh/conformity.hpp"
#include "examples/fem/mesh/gmsh_reader.hpp"
#include "examples/fem/mesh/jacobians.hpp"
#include "examples/fem/mesh/mfem_reader.hpp"

#include <fmt/format.h>

namespace fem {

namespace {

mesh read(mesh_file& file) {
    const std::string_view first = file.rest_of_line();
    if (first == "MFEM mesh v1.0") return read_mfem(file);
    if (first == "MFEM INLINE mesh v1.0") return read_mfem_inline(file);
    if (first == "$MeshFormat") return read_gmsh(file);
    if (first.starts_with("MFEM NURBS mesh"))
        file.fail("a NURBS mesh is not handled; curved meshes must be polynomial (MFEM mesh v1.0 with nodes)");
    if (first.starts_with("MFEM NC mesh") || first == "MFEM mesh v1.1")
        file.fail("a non-conforming (NC) mesh is not handled");
    if (first.starts_with("MFEM mesh v")) file.fail(fmt::format("{} is not handled, only v1.0", first.substr(0, 40)));
    file.fail(fmt::format("is no mesh: the first line should be 'MFEM mesh v1.0', 'MFEM INLINE mesh v1.0' or "
                          "'$MeshFormat', not {}",
                          quoted(first)));
}

} // namespace

mesh read_mesh(const std::string& path) {
    mesh_file file(path);
    mesh m = read(file);
    check_jacobians(m);
    check_conformity(m);
    return m;
}

} // namespace fem
