// bad_mesh_test: every mesh that cannot be used is refused with the file, the line and the reason.
#include "examples/fem/mesh/read_mesh.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <fmt/format.h>

#include <random>

using namespace fem_test;

namespace {

const std::string straight = "MFEM mesh v1.0\n"                // line 1
                             "dimension\n2\n"                  // 2, 3
                             "elements\n2\n"                   // 4, 5
                             "1 3 0 1 4 3\n"                   // 6
                             "1 3 1 2 5 4\n"                   // 7
                             "boundary\n1\n"                   // 8, 9
                             "1 1 0 1\n"                       // 10
                             "vertices\n6\n2\n"                // 11, 12, 13
                             "0 0\n1 0\n2 0\n0 1\n1 1\n2 1\n"; // 14..19

const std::string curved =
    "MFEM mesh v1.0\ndimension\n2\nelements\n1\n1 3 0 1 2 3\nboundary\n0\nvertices\n4\n" // 1..10
    "nodes\nFiniteElementSpace\nFiniteElementCollection: H1_2D_P1\n"                     // 11..13
    "VDim: 2\nOrdering: 1\n"                                                             // 14, 15
    "0 0\n1 0\n1 1\n0 1\n";

const std::string gmsh = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"                  // 1..3
                         "$Nodes\n1 4 1 4\n2 1 0 4\n1\n2\n3\n4\n"                  // 4..10
                         "0 0 0\n1 0 0\n1 1 0\n0 1 0\n$EndNodes\n"                 // 11..15
                         "$Elements\n1 1 1 1\n2 1 3 1\n1 1 2 3 4\n$EndElements\n"; // 16..20

/// What is said of `text`, without the folder of the file.
std::string complaint_about(std::string_view text) {
    const scratch files;
    const auto path = files.write("a.mesh", text);
    auto said = complaint(path);
    for (auto at = said.find(path); at != std::string::npos; at = said.find(path))
        said.replace(at, path.size(), "a.mesh");
    return said;
}

/// Complains about `text`, with `old` replaced by `with`, in a message that begins with `place` and holds `reason`.
void check(const std::string& text, std::string_view old, std::string_view with, const std::string& place,
           const std::string& reason) {
    INFO("'" << old << "' -> '" << with << "'");
    const auto said = complaint_about(replaced(text, old, with));
    CHECK_THAT(said, Catch::Matchers::StartsWith("a.mesh:" + place));
    CHECK_THAT(said, Catch::Contains(reason));
}

} // namespace

TEST_CASE("the meshes that the cases below spoil are good") {
    CHECK(complaint_about(straight) == "");
    CHECK(complaint_about(curved) == "");
    CHECK(complaint_about(gmsh) == "");
}

TEST_CASE("what is no mesh file") {
    const scratch files;
    CHECK(complaint(files.path("none")) == files.path("none") + ": there is no such file");
    CHECK(complaint(files.path("")) == files.path("") + ": is a folder, not a mesh file");
    CHECK(complaint("/dev/null") == "/dev/null: is not a regular file");
    CHECK(complaint_about("") == "a.mesh: the file is empty");
    CHECK(complaint_about("solid cube\n") == "a.mesh:1: is no mesh: the first line should be 'MFEM mesh v1.0', 'MFEM "
                                             "INLINE mesh v1.0' or '$MeshFormat', not "
                                             "'solid cube'");
    CHECK_THAT(complaint_about(std::string("\x7f"
                                           "ELF\0\1\2\n\xff\xfe",
                                           10)),
               Catch::Matchers::EndsWith("not '.ELF...'"));
}

TEST_CASE("kinds of meshes that are not handled are named") {
    check(straight, "MFEM mesh v1.0", "MFEM NURBS mesh v1.0", "1:", "a NURBS mesh is not handled");
    check(straight, "MFEM mesh v1.0", "MFEM NC mesh v1.0", "1:", "a non-conforming (NC) mesh is not handled");
    check(straight, "MFEM mesh v1.0", "MFEM mesh v1.1", "1:", "a non-conforming (NC) mesh is not handled");
    check(straight, "MFEM mesh v1.0", "MFEM mesh v1.2", "1:", "MFEM mesh v1.2 is not handled, only v1.0");
    check(straight, "dimension\n2", "dimension\n1", "3:", "the dimension is 1, but must be 2 or 3");
    check(straight, "1 3 1 2 5 4", "1 2 1 2 5",
          "7:", "element 1 (counted from 0) is a triangle, which is not handled");
    check(straight, "1 3 1 2 5 4", "1 5 1 2 5 4 1 2 5 4", "7:", "element 1 (counted from 0) is a hexahedron");
    check(straight, "6\n2\n", "6\n3\n", "13:", "elements of dimension 2 in 3-dimensional space are not handled");
    check(curved, "H1_2D_P1", "NURBS2", "13:", "nodes in the collection 'NURBS2' are not handled");
    check(curved, "H1_2D_P1", "Cubic", "13:", "nodes in the collection 'Cubic' are not handled");
    check(curved, "H1_2D_P1", "H1_3D_P1", "13:", "'H1_3D_P1' are not handled in a mesh of dimension 2");
    check(curved, "H1_2D_P1", "H1_2D_P0", "13:", "'H1_2D_P0' are not handled");
    check(curved, "H1_2D_P1", "H1_2D_P1x", "13:", "'H1_2D_P1x' are not handled");
    check(curved, "H1_2D_P1", "H1_2D_P99999999999", "13:", "are not handled");
    check(curved, "H1_2D_P1", "L2_T2_2D_P1", "13:", "are not handled");
    check(curved, "VDim: 2", "VDim: 3", "14:", "in 3-dimensional space");
    check(gmsh, "4.1 0 8", "2.2 0 8", "2:", "gmsh -0 a.mesh -format msh41 -o new.msh");
    check(gmsh, "4.1 0 8", "4 0 8", "2:", "format version '4' is not handled");
    check(gmsh, "4.1 0 8", "4.1 0 4", "2:", "a size_t of 4 bytes is not handled");
    check(gmsh, "2 1 3 1", "2 1 2 1", "18:", "element type 2 is not handled: it is a triangle");
    check(gmsh, "2 1 3 1", "3 1 4 1", "18:", "element type 4 is not handled: it is a tetrahedron");
    check(gmsh, "2 1 3 1", "3 1 6 1", "18:", "a prism");
    check(gmsh, "2 1 3 1", "3 1 7 1", "18:", "a pyramid");
    check(gmsh, "2 1 3 1", "2 1 16 1",
          "18:", "an incomplete (serendipity) element; mesh with Mesh.SecondOrderIncomplete = 0");
    check(gmsh, "2 1 3 1", "2 1 1000 1", "18:", "of a kind unknown here");
    check(gmsh, "1 1 2 3 4\n", "1 1 2\n", "20:", "an element's node should be a whole number, not '$EndElements'");
    check(gmsh, "1 1 1 1\n2 1 3 1\n1 1 2 3 4", "1 1 1 1\n1 1 1 1\n1 1 2",
          "20:", "no quadrilaterals and no hexahedra");
    check(gmsh, "0 1 0", "0 1 0.5", "20:", "a surface in space (z from 0 to 0.5), which is not handled");
    check(gmsh, "1 1 1 1\n2 1 3 1\n1 1 2 3 4", "2 2 1 2\n2 1 3 1\n1 1 2 3 4\n2 1 10 1\n2 1 2 3 4 1 2 3 4 1",
          "20:", "elements of order 2 among elements of order 1 are not handled");
}

TEST_CASE("malformed MFEM meshes") {
    check(straight, "dimension", "dimensions", "2:", "'dimension' was expected, not 'dimensions'");
    check(straight, "dimension\n2", "dimension\n4", "3:", "the dimension is 4, but must be 2 or 3");
    check(straight, "dimension\n2", "dimension\ntwo", "3:", "the dimension should be a whole number, not 'two'");
    check(straight, "elements\n2", "elements\n0", "5:", "the mesh has no elements");
    check(straight, "elements\n2", "elements\n-2", "5:", "the number of elements is -2, but must be at least 0");
    check(straight, "elements\n2", "elements\n3",
          "8:", "an element's attribute should be a whole number, not 'boundary'");
    check(straight, "1 3 0 1 4 3", "0 3 0 1 4 3", "6:", "an element's attribute is 0, but must lie in 1..");
    check(straight, "1 3 0 1 4 3", "1 9 0 1 4 3", "6:", "an element's geometry is 9, but must lie in 0..7");
    check(straight, "1 3 0 1 4 3", "1 3 0 1 4 3.5", "6:", "a vertex number should be a whole number, not '3.5'");
    check(straight, "1 3 0 1 4 3", "1 3 0 1 4 -3", "6:", "a vertex number is -3");
    check(straight, "1 3 0 1 4 3", "1 3 0 1 6 3",
          "6:", "element 0 (counted from 0) has vertex 6, but there are 6 vertices");
    check(straight, "1 1 0 1", "1 1 0 7", "10:", "boundary element 0 (counted from 0) has vertex 7");
    check(straight, "1 1 0 1", "1 3 0 1 4 3",
          "10:", "boundary element 0 (counted from 0) is a quadrilateral, but should be");
    check(straight, "2 0\n", "2 x\n", "16:", "a vertex coordinate should be a number, not 'x'");
    check(straight, "2 0\n", "2 0x\n", "16:", "a vertex coordinate should be a number, not '0x'");
    check(straight, "2 0\n", "2 nan\n", "16:", "a vertex coordinate should be a finite number, not 'nan'");
    check(straight, "2 0\n", "2 1e999\n", "16:", "a vertex coordinate should be a finite number, not '1e999'");
    check(straight, "2 1\n", "2\n", "19:", "the file ends where a vertex coordinate was expected");
    check(straight, "2 1\n", "2 1\n2 2\n", "20:", "the mesh is complete, but '2' follows");
    check(curved, "Ordering: 1", "Ordering: 2", "15:", "the ordering is 2, but must be 0 or 1");
    check(curved, "0 1\n", "0\n", "19:", "the file ends where a node coordinate was expected");
    check(curved, "H1_2D_P1", "H1_2D_P32", "15:", "the number of nodes is 1089, for which the remaining 17 bytes");
    check(curved, "1 3 0 1 2 3", "1 3 0 1 1 3", "6:", "element 0 (counted from 0) has vertex 1 twice");
    check(straight, "1 3 1 2 5 4", "1 3 1 2 5 1", "7:", "element 1 (counted from 0) has vertex 1 twice");
}

TEST_CASE("faces that do not fit") {
    const std::string nodes =
        "boundary\n0\nvertices\n9\nnodes\nFiniteElementSpace\nFiniteElementCollection: H1_2D_P1\nVDim: 2\n"
        "Ordering: 0\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
    check("MFEM mesh v1.0\ndimension\n2\nelements\n3\n1 3 0 1 2 3\n1 3 1 0 4 5\n1 3 0 1 6 7\n" + nodes, "", "",
          " element 2", "is the third with the same edge");
    const std::string solid = replaced(replaced(nodes, "2D", "3D"), "VDim: 2", "VDim: 3") + "0 0 0 0 0 0 0 0 0\n";
    check("MFEM mesh v1.0\ndimension\n3\nelements\n2\n1 5 0 1 2 3 4 5 6 7\n1 5 4 6 5 7 0 1 2 8\n" + solid, "", "",
          " element 1", "list the vertices");
}

TEST_CASE("elements on the same side of what they share") {
    const std::string folded = "MFEM mesh v1.0\ndimension\n2\nelements\n2\n1 3 0 1 2 3\n1 3 0 1 4 5\nboundary\n0\n"
                               "vertices\n6\n2\n0 0\n1 0\n1 1\n0 1\n1 2\n0 2\n";
    check(folded, "", "", " elements 0 and 1 (counted from 0)",
          "lie on the same side of an edge that they share: they");
    CHECK(complaint_about(replaced(replaced(folded, "0 1 4 5", "1 0 5 4"), "1 2\n0 2", "1 -2\n0 -2")) == "");
    check(replaced(folded, "1 3 0 1 4 5", "1 3 0 1 2 3"), "", "", " elements 0 and 1 (counted from 0)",
          "they overlap");
    check(replaced(folded, "1 3 0 1 4 5", "1 3 2 3 0 1"), "", "", " elements 0 and 1 (counted from 0)",
          "they overlap");

    const std::string solid =
        "MFEM mesh v1.0\ndimension\n3\nelements\n2\n1 5 0 1 2 3 4 5 6 7\n1 5 0 1 2 3 8 9 10 11\n"
        "boundary\n0\nvertices\n12\n3\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n"
        "0 0 2\n1 0 2\n1 1 2\n0 1 2\n";
    check(solid, "", "", " elements 0 and 1 (counted from 0)",
          "lie on the same side of a face that they share: they");
    check(solid, "8 9 10 11", "4 5 6 7", " elements 0 and 1 (counted from 0)", "they overlap");
    check(solid, "0 1 2 3 8 9 10 11", "0 3 7 4 1 2 6 5", " elements 0 and 1 (counted from 0)", "they overlap");
    CHECK(complaint_about(replaced(solid, "0 1 2 3 8 9 10 11", "4 5 6 7 8 9 10 11")) == "");

    // A strip closed after half a turn: the edge at its end is that at its start the other way round, elsewhere.
    const std::string strip =
        "MFEM mesh v1.0\ndimension\n2\nelements\n3\n1 3 0 1 4 3\n1 3 1 2 5 4\n1 3 2 3 0 5\nboundary\n0\nvertices\n6\n"
        "nodes\nFiniteElementSpace\nFiniteElementCollection: L2_T1_2D_P1\nVDim: 2\nOrdering: 1\n"
        "0 0\n1 0\n0 1\n1 1\n1 0\n2 0\n1 1\n2 1\n2 0\n3 0\n2 1\n3 1\n";
    CHECK(complaint_about(strip) == "");
}

TEST_CASE("malformed inline meshes") {
    const std::string box = "MFEM INLINE mesh v1.0\ntype = hex\nnx = 2\nny = 2\nnz = 2\nsx = 1\nsy = 1\nsz = 1\n";
    check(box, "hex", "tet", "2:", "type 'tet' is not handled, only quad and hex");
    check(box, "nx = 2", "nx = 0", "3:", "nx is 0, but must lie in 1..");
    check(box, "nx = 2", "nx 2", "3:", "'=' was expected, not '2'");
    check(box, "nx = 2", "nw = 2", "3:", "'nw' is none of type, nx, ny, nz, sx, sy, sz");
    check(box, "sx = 1", "sx = -1", "6:", "sx must be positive");
    check(box, "nz = 2\n", "", "7:", "there is no nz");
    check(box, "type = hex\n", "", "7:", "there is no type");
    check(box, "nx = 2\nny = 2", "nx = 2000000000\nny = 2000000000",
          " the nodes of 8000000000000000000 elements would take", "GB, and this machine has");
}

TEST_CASE("malformed Gmsh meshes") {
    check(gmsh, "4.1 0 8", "4.1 2 8", "2:", "the file type is 2, but must be 0 or 1");
    check(gmsh, "$EndMeshFormat", "$Nodes", "3:", "'$EndMeshFormat' was expected, not '$Nodes'");
    check(gmsh, "$Nodes\n", "Nodes\n", "4:", "the start of a section was expected, such as $Nodes, not 'Nodes'");
    check(gmsh, "$Nodes\n", "$Whatever\n", "4:", "section $Whatever has no $EndWhatever");
    check(gmsh, "$EndNodes", "$EndNode", "15:", "'$EndNodes' was expected, not '$EndNode'");
    check(gmsh, "1 4 1 4", "1 5 1 4", "14:", "the blocks hold 4 nodes, but 5 were announced");
    check(gmsh, "1 4 1 4", "1 3 1 4", "6:", "the blocks hold more than the 3 nodes announced");
    check(gmsh, "2 1 0 4", "5 1 0 4", "6:", "an entity cannot have dimension 5");
    check(gmsh, "1\n2\n3\n4\n", "1\n2\n3\n3\n", "14:", "the node tag 3 occurs twice");
    check(gmsh, "1\n2\n3\n4\n", "0\n2\n3\n4\n", "7:", "a node's tag is 0, but must be at least 1");
    check(gmsh, "1 1 2 3 4", "1 1 2 3 5", "19:", "the element has node 5, which is not among the nodes");
    check(gmsh, "1 1 2 3 4", "1 1 2 3 1", "19:", "the element has node 1 twice");
    check(gmsh, "1 1 1 1\n", "1 2 1 1\n", "19:", "the blocks hold 1 elements, but 2 were announced");
    check(gmsh, "0 1 0", "0 inf 0", "14:", "a node's coordinate should be a finite number, not 'inf'");
    const std::string nodes_only = gmsh.substr(0, gmsh.find("$Elements"));
    CHECK_THAT(complaint_about(nodes_only), Catch::Contains("no quadrilaterals and no hexahedra"));
    CHECK_THAT(complaint_about("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"),
               Catch::Contains("there is no section $Nodes"));
    check(gmsh, "$Elements", nodes_only.substr(nodes_only.find("$Nodes")) + "$Elements",
          "16:", "a second $Nodes section");
}

TEST_CASE("counts that the file cannot hold take no memory") {
    check(straight, "elements\n2", "elements\n9000000000000000000",
          "5:", "the number of elements is 9000000000000000000, for which");
    check(straight, "boundary\n1", "boundary\n4000000000",
          "9:", "the number of boundary elements is 4000000000, for which");
    check(straight, "vertices\n6", "vertices\n4000000000", "12:", "the number of vertices is 4000000000, for which");
    check(straight, "vertices\n6", "vertices\n99999999999999999999",
          "12:", "the number of vertices should be a whole number");
    check(curved, "vertices\n4", "vertices\n4000000000", "10:", "the number of vertices is 4000000000, for which");
    check(gmsh, "1 4 1 4", "4000000000 4 1 4", "5:", "the number of blocks of nodes is 4000000000, for which");
    check(gmsh, "2 1 0 4", "2 1 0 4000000000", "6:", "the number of nodes in a block is 4000000000, for which");
    check(gmsh, "2 1 3 1", "2 1 3 4000000000", "18:", "the number of elements in a block is 4000000000, for which");
}

TEST_CASE("inverted elements are named") {
    check(straight, "1 3 1 2 5 4", "1 3 1 4 5 2", " element 1 (counted from 0) is inverted",
          "Jacobian determinant is -1");
    check(straight, "1 1\n2 1", "1 1\n1 0.5", " element 1 (counted from 0) is inverted or degenerate", "");
    check(gmsh, "1 1 2 3 4", "1 1 4 3 2", " element 0 (counted from 0) is inverted", "");
    // Concave: inverted near one corner only, where few rules have a point.
    check(curved, "1 1\n", ".49 .49\n", " element 0 (counted from 0) is inverted",
          "is -0.02 at 1, 1 of the unit square");
    CHECK(complaint_about(replaced(curved, "1 1\n", ".51 .51\n")) == "");
    const std::string box = "MFEM INLINE mesh v1.0\ntype = quad\nnx = 2\nny = 2\nsx = 1e200\nsy = 1e200\n";
    check(box, "", "", " element 0 (counted from 0) is too large", "beyond the range of double precision");
    check(box, "sx = 1e200\nsy = 1e200", "sx = 1e-200\nsy = 1e-200", " element 0 (counted from 0) is inverted or deg",
          "");
}

TEST_CASE("a mesh cut off anywhere is refused") {
    const auto cut = [](const std::string& text, std::size_t first) {
        for (std::size_t length = first; length < text.size(); ++length) {
            INFO("cut to " << length << " of " << text.size() << " bytes");
            CHECK(complaint_about(text.substr(0, length)) != "");
        }
    };
    // Without the end of the last line, or of its number, a text is whole.
    cut(straight.substr(0, straight.size() - 2), 0);
    cut(curved.substr(0, curved.size() - 2), 0);
    cut(gmsh.substr(0, gmsh.size() - 1), 0);
    const auto ring = read_file(own_mesh("quarter_ring.msh"));
    cut(ring.substr(0, ring.size() - 1), 0);
}

TEST_CASE("spoiled bytes never crash a reader") {
    std::mt19937 random(20240607);
    INFO("seed 20240607");
    for (const auto& good : {straight, curved, gmsh, read_file(own_mesh("quarter_ring.msh")),
                             read_file(own_mesh("quarter_pipe.msh")), read_file(own_mesh("cube.mesh"))})
        for (int trial = 0; trial < 300; ++trial) {
            auto text = good;
            for (unsigned spoiled = 1 + random() % 4; spoiled > 0; --spoiled) {
                const auto at = random() % text.size();
                if (random() % 3 == 0)
                    text[at] = static_cast<char>(random());
                else if (random() % 2)
                    text[at] = "0123456789-. \n$#e"[random() % 17];
                else
                    text.erase(at, random() % 9);
            }
            complaint_about(text); // either answer is right: any other exception than mesh_error, or a crash, is not
        }
}

TEST_CASE("meshes that do not conform are refused") {
    // Two squares beside a column of one: vertex 4 hangs on the edge of element 0.
    const std::string hanging = "MFEM mesh v1.0\ndimension\n2\nelements\n3\n1 3 0 1 6 5\n1 3 1 2 3 4\n1 3 4 3 7 6\n"
                                "boundary\n0\nvertices\n8\n2\n0 0\n1 0\n2 0\n2 0.5\n1 0.5\n0 1\n1 1\n2 1\n";
    CHECK_THAT(complaint_about(hanging),
               Catch::Contains("vertex 4 lies on an edge of element 0 (counted from 0) without "
                               "being one of its vertices; a non-conforming mesh"));
    // The same with the edge curved (a parabola), and the vertex on it where it bulges.
    const std::string curved_head =
        "MFEM mesh v1.0\ndimension\n2\nelements\n2\n1 3 0 1 2 3\n1 3 4 5 6 7\nboundary\n0\nvertices\n8\nnodes\n"
        "FiniteElementSpace\nFiniteElementCollection: L2_T1_2D_P2\nVDim: 2\nOrdering: 1\n"
        "0 0\n.5 0\n1 0\n0 .5\n.6 .5\n1.2 .5\n0 1\n.5 1\n1 1\n";
    const auto other = [](double x) {
        return fmt::format("{} .5\n2 .5\n3 .5\n{} 1\n2 1\n3 1\n1.1 1.5\n2 1.5\n3 1.5\n", x, x);
    };
    CHECK_THAT(complaint_about(curved_head + other(1.2)), Catch::Contains("vertex 4 lies on an edge of element 0"));
    CHECK(complaint_about(curved_head + other(1.3)) == ""); // beside it

    // A face of a cube on which four smaller ones lie: some vertex of theirs.
    std::string text = "MFEM mesh v1.0\ndimension\n3\nelements\n2\n1 5 0 1 2 3 4 5 6 7\n1 5 8 9 10 11 12 13 14 15\n"
                       "boundary\n0\nvertices\n16\n3\n";
    for (const double size : {1.0, 0.5})
        for (const auto& c : fem::corner_positions)
            text += fmt::format("{} {} {}\n", (size < 1) + size * c[0], (size < 1 ? 0.25 : 0) + size * c[1],
                                (size < 1 ? 0.25 : 0) + size * c[2]);
    CHECK_THAT(complaint_about(text), Catch::Contains("lies on a face of element 0 (counted from 0)"));

    // Elements with nodes of their own that share the vertices of an edge, but one has it bent.
    const std::string bent =
        "MFEM mesh v1.0\ndimension\n2\nelements\n2\n1 3 0 1 4 3\n1 3 1 2 5 4\nboundary\n0\nvertices\n6\nnodes\n"
        "FiniteElementSpace\nFiniteElementCollection: L2_T1_2D_P2\nVDim: 2\nOrdering: 1\n"
        "0 0\n.5 0\n1 0\n0 .5\n.5 .5\n1 .5\n0 1\n.5 1\n1 1\n"
        "1 0\n1.5 0\n2 0\n1 .5\n1.5 .5\n2 .5\n1 1\n1.5 1\n2 1\n";
    CHECK(complaint_about(bent) == "");
    CHECK_THAT(complaint_about(replaced(bent, "1 .5\n1.5 .5", "1.1 .5\n1.5 .5")),
               Catch::Contains("elements 0 and 1 (counted from 0) share the vertices of an edge, but not its shape"));
    // Moved as a whole, as across a periodic boundary, is fine.
    CHECK(complaint_about(replaced(bent, "1 0\n1.5 0\n2 0\n1 .5\n1.5 .5\n2 .5\n1 1\n1.5 1\n2 1\n",
                                   "7 0\n7.5 0\n8 0\n7 .5\n7.5 .5\n8 .5\n7 1\n7.5 1\n8 1\n")) == "");
}
