// commands_test: the FEM program's commands: what they print and write, and that nothing is written when they refuse.
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <filesystem>
#include <regex>

using namespace fem_test;
using Catch::Contains;

namespace {

outcome fem_with(const std::string& arguments) { return run_program(RICCI_FEM_PROGRAM " " + arguments); }

/// A number behind a name in the output.
double number_after(const std::string& text, const std::string& name) {
    const auto at = text.find(name);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + name.size()));
}

const std::string inverted = "MFEM mesh v1.0\ndimension\n2\nelements\n2\n1 3 0 1 4 3\n1 3 1 4 5 2\nboundary\n0\n"
                             "vertices\n6\n2\n0 0\n1 0\n2 0\n0 1\n1 1\n2 1\n";

} // namespace

TEST_CASE("fem info says what a mesh is") {
    const auto square = fem_with("info " + own_mesh("square.mesh") + " --refine 1");
    INFO(square.output);
    CHECK(square.exit_code == 0);
    CHECK_THAT(square.output, Contains("16 quadrilaterals") && Contains("8              with attribute 2") &&
                                  Contains("boundary edges") && Contains("order 8"));
    CHECK(number_after(square.output, "\nArea") == Approx(1).epsilon(1e-14));
    CHECK(number_after(square.output, "moment of x") == Approx(0.5).epsilon(1e-14));
    CHECK(number_after(square.output, "order 2 ") == 81);
    const auto ring = fem_with("info");
    CHECK(ring.exit_code == 0);
    CHECK_THAT(ring.output, Contains("64 hexahedra") && Contains("Volume           2.356"));
}

TEST_CASE("fem assemble writes a matrix, dense and factored alike") {
    const scratch files;
    const auto mesh = own_mesh("quarter_pipe.msh");
    const auto factored = fem_with("assemble " + mesh + " --order 3 --matrix " + files.path("f.mtx"));
    INFO(factored.output);
    CHECK(factored.exit_code == 0);
    const auto dense =
        fem_with("assemble " + mesh + " --order 3 --form dense --general --matrix " + files.path("d.mtx"));
    CHECK(dense.exit_code == 0);
    CHECK(number_after(factored.output, "trace") == Approx(number_after(dense.output, "trace")).epsilon(1e-13));
    CHECK_THAT(read_file(files.path("f.mtx")),
               Catch::Matchers::StartsWith("%%MatrixMarket matrix coordinate real symmetric\n112 112 "));
    CHECK_THAT(read_file(files.path("d.mtx")),
               Catch::Matchers::StartsWith("%%MatrixMarket matrix coordinate real general\n112 112 "));
    // A coefficient of 2 and 3 in the two parts of a square, 2 in both, 3 in both: the trace is the mean.
    const auto trace = [](const std::string& coefficient) {
        const auto ran = fem_with("assemble " + own_mesh("square.mesh") + " --coefficient " + coefficient);
        CHECK(ran.exit_code == 0);
        return number_after(ran.output, "trace");
    };
    const double two = trace("2,0,2"), three = trace("3,0,3"), both = trace("1:2,0,2 2:3,0,3");
    CHECK(two / 2 == Approx(three / 3).epsilon(1e-13));
    CHECK((both > two && both < three));
    CHECK(both + trace("1:3,0,3 2:2,0,2") == Approx(two + three).epsilon(1e-13));
    CHECK(fem_with("apply " + own_mesh("square.mesh") + " --problem 5 --time 1 --coefficient 1:2,.5,1 2:1,0,1")
              .exit_code == 0);
    const auto mass = fem_with("assemble " + mesh + " --operator mass");
    CHECK(mass.exit_code == 0);
    CHECK_THAT(mass.output, Contains("Matrix           mass, order 2"));
}

TEST_CASE("scipy reads the matrices that fem writes", "[scipy]") {
    const auto python = python_with("scipy.io");
    if (python.empty()) return;
    const scratch files;
    for (const std::string form : {"", " --general"}) { // two elements of 64 nodes share 16: 2*64^2 - 16^2 entries
        const auto path = files.path("k.mtx");
        const auto written =
            fem_with("assemble " + own_mesh("quarter_pipe.msh") + " --order 3 --matrix " + path + form);
        const auto read = run_program(python + " -c 'import scipy.io; K = scipy.io.mmread(\"" + path +
                                      "\"); print(K.shape[0], K.nnz, abs(K - K.T).max() < 1e-14, \"trace\", "
                                      "repr(float(K.diagonal().sum())))'");
        INFO(read.output);
        CHECK_THAT(read.output, Catch::Matchers::StartsWith("112 7936 True trace "));
        CHECK(number_after(read.output, "trace") == Approx(number_after(written.output, "trace")).epsilon(1e-14));
    }
}

TEST_CASE("VTK reads the functions that fem writes", "[vtk]") {
    const auto python = python_with("vtk");
    if (python.empty()) return;
    const scratch files;
    for (const auto& [mesh, size] : {std::pair{"quarter_ring.msh", 2.356}, {"quarter_pipe.msh", 2.356}}) {
        const auto path = files.path("u.vtu");
        CHECK(fem_with("poisson " + own_mesh(mesh) + " --order 5 --vtu " + path).exit_code == 0);
        // VTK cuts the cells into small straight ones, whose sizes must add up.
        const auto read = run_program(
            python + " -c 'import vtk; r = vtk.vtkXMLUnstructuredGridReader(); r.SetFileName(\"" + path +
            "\"); r.Update(); d = r.GetOutput().GetCell(0).GetCellDimension(); t = vtk.vtkTessellatorFilter(); "
            "t.SetInputConnection(r.GetOutputPort()); t.SetOutputDimension(d); "
            "t.SetMaximumNumberOfSubdivisions(4); "
            "s = vtk.vtkCellSizeFilter(); s.SetInputConnection(t.GetOutputPort()); s.Update(); "
            "a = s.GetOutput().GetCellData().GetArray(\"Area\" if d == 2 else \"Volume\"); "
            "print(r.GetOutput().GetCell(0).GetClassName(), sum(a.GetValue(n) for n in "
            "range(a.GetNumberOfTuples())))'");
        INFO(read.output);
        CHECK_THAT(read.output, Catch::Matchers::StartsWith("vtkLagrange"));
        CHECK(number_after(read.output, " ") == Approx(size).epsilon(0.01));
    }
}

TEST_CASE("fem apply checks and times CEED's six problems") {
    for (const std::string mesh : {"square.mesh", "quarter_pipe.msh"})
        for (int problem = 1; problem <= 6; ++problem) {
            const auto ran =
                fem_with("apply " + own_mesh(mesh) + " --order 3 --time 1 --problem " + std::to_string(problem));
            INFO(ran.output);
            CHECK(ran.exit_code == 0);
            CHECK_THAT(ran.output, Contains("Element vectors") && Contains("Global vectors") && !Contains("WRONG"));
            CHECK(std::regex_search(ran.output,
                                    std::regex(" on element vectors: .*: right\n.* on global vectors: .*: right\n")));
            CHECK_THAT(ran.output, Contains(problem % 2 == 1 ? "1 component;" : " components;"));
        }
    CHECK_THAT(fem_with("apply --elements 8 --order 2 --time 1 --explain").output, Contains("statement: "));
}

TEST_CASE("fem poisson prints errors and rates, and writes mesh and solution") {
    const scratch files;
    const auto ran = fem_with("poisson " + own_mesh("square.mesh") + " --order 3 --refine 2 --progress 5 --vtu " +
                              files.path("u.vtu") + " --png " + files.path("u.png") + " --width 200");
    INFO(ran.output);
    CHECK(ran.exit_code == 0);
    std::smatch row;
    CHECK(std::regex_search(ran.output, row, std::regex("\n +64 +625 +\\d+ +\\S+ +\\S+ +(\\d\\.\\d\\d) ")));
    CHECK(std::abs(std::stod(row[1]) - 4) < 0.15);
    CHECK_THAT(ran.output, Contains("  iteration      5  residual "));
    CHECK_THAT(read_file(files.path("u.vtu")), Contains("NumberOfPoints=\"1024\" NumberOfCells=\"64\""));
    CHECK_THAT(read_file(files.path("u.png")), Catch::Matchers::StartsWith("\x89PNG"));

    // A coefficient: the same solution, another right side.
    for (const std::string& given : {own_mesh("square.mesh") + " --coefficient 2,.5,1",
                                     own_mesh("cube.mesh") + " --coefficient 2,.3,-.2,1,.1,3"}) {
        const auto with = fem_with("poisson --order 4 " + given);
        INFO(with.output);
        CHECK(with.exit_code == 0);
        CHECK_THAT(with.output, Contains("-div(K grad u) = f"));
        REQUIRE(std::regex_search(with.output, row, std::regex(" (\\d\\.\\d{4}e-\\d\\d) ")));
        CHECK(std::stod(row[1]) < 1e-5);
    }
    const auto sine = fem_with("poisson --dimension 2 --elements 16 --solution sine");
    CHECK(sine.exit_code == 0);
    CHECK_THAT(sine.output, Contains("sin(pi (x"));
}

TEST_CASE("what the commands refuse: a message, exit code 1, nothing written") {
    const scratch files;
    const auto check = [&](const std::string& arguments, const std::string& message) {
        const auto ran = fem_with(arguments);
        INFO(arguments << "\n" << ran.output);
        CHECK(ran.exit_code == 1);
        CHECK_THAT(ran.output, Contains("fem: ") && Contains(message));
        CHECK(ran.output.find("terminate") == std::string::npos);
    };
    const auto good = own_mesh("square.mesh");
    const auto bad = files.write("inverted.mesh", inverted);
    const std::string outputs = " --vtu " + files.path("u.vtu") + " --png " + files.path("u.png");
    check("poisson " + bad + " --refine 2" + outputs, "element 1 (counted from 0) is inverted");
    check("poisson " + bad + outputs, "element 1 (counted from 0) is inverted");
    check("assemble " + bad + " --matrix " + files.path("k.mtx"), "element 1 (counted from 0) is inverted");
    check("apply " + bad, "element 1 (counted from 0) is inverted");
    check("info " + bad, "element 1 (counted from 0) is inverted");
    check("poisson " + files.write("cut.mesh", inverted.substr(0, 90)) + outputs, "cut.mesh:");
    check("poisson " + files.path("none.mesh") + outputs, "there is no such file");
    check("poisson " + good + " --order 17" + outputs, "17");
    check("poisson " + good + " --order 0" + outputs, "--order");
    check("poisson " + good + " --coefficient 1,2,1" + outputs, "not positive definite");
    check("poisson " + good + " --coefficient 1,2" + outputs, "has 3 numbers (xx,xy,yy), not 2");
    check("poisson " + good + " --coefficient 1,a,2" + outputs, "'a' is no number");
    check("poisson " + good + " --coefficient 1,0,2 1,0,2" + outputs, "one matrix is wanted");
    check("assemble " + good + " --coefficient 1:1,0,2", "element 1 (counted from 0) has attribute 2, for which no");
    check("assemble " + good + " --coefficient 1:1,0,2 1:1,0,2", "attribute 1 has two");
    check("assemble " + good + " --coefficient 1:1,0,2 1,0,2", "an attribute and a colon should stand first");
    check("assemble " + good + " --operator mass --coefficient 1,0,2", "is for the diffusion operator");
    check("poisson " + good + " --coefficient -1,0,1" + outputs, "not positive definite");
    check("poisson " + good + " --order 8 --iterations 3" + outputs, "after 3 iterations");
    check("poisson " + own_mesh("cube.mesh") + " --coefficient 1e200,0,0,1e200,0,1e200" + outputs,
          "the solver broke down after 1 iteration: the residual is no finite number");
    check("assemble " + own_mesh("cube.mesh") + " --coefficient 1e200,0,0,1e200,0,1e200 --matrix " +
              files.path("k.mtx"),
          "the matrix's entries are beyond the range of double precision");
    check("apply " + good + " --problem 1 --coefficient 1,0,2", "is for diffusion, problems 3 to 6");
    // Names that are too long, links without end, one file for two things.
    const std::string longer = files.path(std::string(300, 'a'));
    check("assemble " + good + " --matrix " + longer, "cannot be written: File name too long");
    check("poisson " + good + " --vtu " + longer, "cannot be written: File name too long");
    check("info " + longer, "cannot be opened: File name too long");
    const std::string loop = files.path("loop.mesh");
    std::filesystem::create_symlink("loop.mesh", loop);
    check("assemble " + good + " --matrix " + loop, "cannot be written: Too many levels of symbolic links");
    check("poisson " + good + " --vtu " + files.path("u") + " --png " + files.path("./u"), "are the same file");
    std::filesystem::remove(loop);
    // Arguments without a meaning.
    check("info \"\"", "MESH: must not be empty");
    check("info --device \"\"", "--device: must not be empty");
    check("assemble " + good + " --matrix \"\"", "--matrix: must not be empty");
    for (const std::string option : {"--vtu", "--png", "--neumann"})
        check("poisson " + good + " " + option + " \"\"", option + ": must not be empty");
    for (const std::string exact : {"nan", "0", "-1", "inf", "1x"})
        check("mass " + good + " --exact " + exact, "a finite number above 0 is wanted, not '" + exact + "'");
    check("nosuch", "there is no command 'nosuch'; there are info, mass, assemble, apply, poisson");
    // What is refused is refused before the first word about the mesh.
    for (const std::string& early :
         {"poisson " + good + " --neumann 9", "poisson " + bad, "poisson " + own_mesh("torus.mesh")})
        CHECK_THAT(fem_with(early).output, Catch::Matchers::StartsWith("fem: "));
    check("poisson " + good + " --elements 5", "is for a mesh that is generated");
    check("poisson " + good + " --vtu " + files.path("none/u.vtu") + " --png " + files.path("u.png"),
          "none/u.vtu: cannot be written");
    check("apply --problem 7", "--problem");
    check("assemble --form sparse", "--form");

    // A strip closed to a ring in both directions: no boundary.
    std::string torus = "MFEM mesh v1.0\ndimension\n2\nelements\n9\n", nodes;
    for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 3; ++x) {
            const auto v = [](int i, int j) { return std::to_string(i % 3 + 3 * (j % 3)); };
            torus += "1 3 " + v(x, y) + " " + v(x + 1, y) + " " + v(x + 1, y + 1) + " " + v(x, y + 1) + "\n";
            for (int j = 0; j < 2; ++j)
                for (int i = 0; i < 2; ++i) nodes += std::to_string(x + i) + " " + std::to_string(y + j) + "\n";
        }
    torus += "boundary\n0\nvertices\n9\nnodes\nFiniteElementSpace\nFiniteElementCollection: L2_T1_2D_P1\nVDim: "
             "2\nOrdering: 1\n" +
             nodes;
    const auto closed = files.write("torus.mesh", torus);
    check("poisson " + closed + outputs, "the mesh has no boundary");
    const auto info = fem_with("info " + closed);
    CHECK(info.exit_code == 0);
    CHECK_THAT(info.output, Contains("the mesh is periodic") && Contains("order 2        36 "));
    CHECK(number_after(info.output, "\nArea") == Approx(9).epsilon(1e-14));
    CHECK(fem_with("apply --problem 3 --order 4 --time 1 " + closed).exit_code == 0);

    std::size_t left = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(bad).parent_path())) {
        INFO(entry.path());
        CHECK(entry.path().extension() == ".mesh");
        ++left;
    }
    CHECK(left == 3);
}
