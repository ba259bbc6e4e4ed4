// program_test: what the examples' programs print, and their exit codes.
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

using namespace fem_test;
using Catch::Contains;

namespace {

outcome fem_with(const std::string& arguments) { return run_program(RICCI_FEM_PROGRAM " " + arguments); }

} // namespace

TEST_CASE("quickstart is right") {
    const auto ran = run_program(RICCI_QUICKSTART_PROGRAM);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("right") && !Contains("WRONG"));
}

TEST_CASE("fem on a mesh of its own, and on each of the project's meshes") {
    const auto ring = fem_with("--elements 64 --order 2 --time 1");
    INFO(ring.output);
    CHECK(ring.exit_code == 0);
    CHECK_THAT(ring.output, Contains("64 hexahedra") && Contains("they agree") && Contains("Warm run"));
    const auto flat = fem_with("--dimension 2 --elements 64 --order 5 --time 1 --explain");
    CHECK(flat.exit_code == 0);
    CHECK_THAT(flat.output, Contains("64 quadrilaterals") && Contains("they agree"));
    for (const std::string name : {"square.mesh", "cube.mesh", "quarter_pipe.msh", "quarter_ring.msh"}) {
        const auto ran = fem_with(own_mesh(name) + " --time 1");
        INFO(ran.output);
        CHECK(ran.exit_code == 0);
        CHECK_THAT(ran.output, Contains("they agree"));
    }
}

TEST_CASE("fem says when its points do not give the volume exactly") {
    const auto pipe = own_mesh("quarter_pipe.msh");
    CHECK_THAT(fem_with(pipe + " --order 1 --time 1").output, Contains("is not exact; from 5 on it is"));
    CHECK_THAT(fem_with(pipe + " --order 3 --time 1").output, !Contains("is not exact"));
}

TEST_CASE("fem's exit codes") {
    CHECK(fem_with("--help").exit_code == 0);
    CHECK_THAT(fem_with("--help").output, Contains("fem part.mesh --order 3"));
    CHECK(fem_with("--order 0").exit_code == 1);
    CHECK(fem_with("--no-such-option").exit_code == 1);
    CHECK(fem_with("a.mesh b.mesh").exit_code == 1);
    const auto missing = fem_with("no-such.mesh");
    CHECK(missing.exit_code == 1);
    CHECK(missing.output == "fem: no-such.mesh: there is no such file\n");
    CHECK(fem_with(RICCI_FEM_PROGRAM).exit_code == 1); // a binary
    const auto huge = fem_with("--elements 1000000000000");
    CHECK(huge.exit_code == 1);
    CHECK_THAT(huge.output, Contains("GB, and this machine has"));
    const auto device = fem_with("--device tpu");
    CHECK(device.exit_code == 1);
    CHECK_THAT(device.output, Contains("tpu"));

    const scratch files;
    const auto inverted =
        files.write("inverted.mesh", "MFEM mesh v1.0\ndimension\n2\nelements\n1\n1 3 0 3 2 1\nboundary\n0\n"
                                     "vertices\n4\n2\n0 0\n1 0\n1 1\n0 1\n");
    const auto refused = fem_with(inverted);
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.output, Contains("element 0 (counted from 0) is inverted"));
}
