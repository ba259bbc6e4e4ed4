// program_test: what the examples' programs print, and their exit codes.
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

using namespace fem_test;
using Catch::Contains;

namespace {

outcome fem_with(const std::string& arguments) { return run_program(RICCI_FEM_PROGRAM " " + arguments); }
outcome mass_with(const std::string& arguments) { return fem_with("mass " + arguments); }

} // namespace

TEST_CASE("quickstart is right") {
    const auto ran = run_program(RICCI_QUICKSTART_PROGRAM);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("right") && !Contains("WRONG"));
}

TEST_CASE("fem mass on a mesh of its own, and on each of the project's meshes") {
    const auto ring = mass_with("--elements 64 --order 2 --time 1");
    INFO(ring.output);
    CHECK(ring.exit_code == 0);
    CHECK_THAT(ring.output, Contains("64 hexahedra") && Contains("they agree") && Contains("Warm run"));
    const auto one = mass_with("--elements 1 --geometry-order 1 --order 1 --quadrature 1 --time 1");
    CHECK(one.exit_code == 0);
    CHECK_THAT(one.output, Contains("1 hexahedron\n") && Contains("; 1 quadrature point, 1 in"));
    const auto flat = mass_with("--dimension 2 --elements 64 --order 5 --time 1 --explain");
    CHECK(flat.exit_code == 0);
    CHECK_THAT(flat.output, Contains("64 quadrilaterals") && Contains("they agree"));
    for (const std::string name : {"square.mesh", "cube.mesh", "quarter_pipe.msh", "quarter_ring.msh"}) {
        const auto ran = mass_with(own_mesh(name) + " --time 1");
        INFO(ran.output);
        CHECK(ran.exit_code == 0);
        CHECK_THAT(ran.output, Contains("they agree"));
    }
}

TEST_CASE("fem mass says when its points do not give the volume exactly") {
    const auto pipe = own_mesh("quarter_pipe.msh");
    CHECK_THAT(mass_with(pipe + " --order 1 --time 1").output, Contains("note: --quadrature 5 would"));
    CHECK_THAT(mass_with(pipe + " --order 3 --time 1").output, !Contains("note: "));
}

TEST_CASE("fem mass compares with the exact volume where it is known") {
    for (const std::string dimension : {"2", "3"})
        for (const std::string order : {"1", "2", "3", "5", "8"})
            for (const std::string elements : {"1", "8", "64", "729"}) {
                const auto ring = mass_with("--order 1 --quadrature 13 --time 1 --dimension " + dimension +
                                            " --geometry-order " + order + " --elements " + elements);
                INFO(ring.output);
                CHECK(ring.exit_code == 0);
                CHECK_THAT(ring.output, Contains("exact          2.35619449019234") && Contains(": right\n"));
            }
    const auto pipe = own_mesh("quarter_pipe.msh");
    CHECK_THAT(mass_with(pipe + " --order 3 --time 1").output, !Contains("exact  "));
    const auto given = mass_with(pipe + " --order 3 --time 1 --exact 2.356194490192345");
    CHECK(given.exit_code == 0);
    CHECK_THAT(given.output,
               Contains("exact          2.35619449019234") && Contains("relative difference 1.1e-04: "));
}

TEST_CASE("fem's exit codes") {
    CHECK(fem_with("--help").exit_code == 0);
    CHECK_THAT(fem_with("--help").output, Contains("fem mass part.mesh --order 3") && Contains("Exit codes: 0 "));
    for (const std::string command : {"info", "mass", "assemble", "apply", "poisson"}) {
        CHECK(fem_with(command + " --help").exit_code == 0);
        CHECK_THAT(fem_with(command + " --help").output, Contains("--device"));
    }
    CHECK(fem_with("").exit_code == 1);
    CHECK(fem_with("solve").exit_code == 1);
    CHECK(mass_with("--order 0").exit_code == 1);
    CHECK_THAT(mass_with("--order 0").output, Catch::Matchers::StartsWith("fem: --order"));
    for (const std::string option : {"--dimension 2", "--elements 5", "--geometry-order 2"}) {
        const auto both = mass_with(option + " " + own_mesh("cube.mesh"));
        CHECK(both.exit_code == 1);
        CHECK_THAT(both.output,
                   Contains(option.substr(0, option.find(' ')) + " is for a mesh that is generated, but ") &&
                       !Contains("Volume"));
    }
    CHECK(mass_with("--no-such-option").exit_code == 1);
    CHECK(mass_with("a.mesh b.mesh").exit_code == 1);
    const auto missing = mass_with("no-such.mesh");
    CHECK(missing.exit_code == 1);
    CHECK(missing.output == "fem: no-such.mesh: there is no such file\n");
    CHECK(mass_with(RICCI_FEM_PROGRAM).exit_code == 1); // a binary
    const auto huge = mass_with("--elements 1000000000000");
    CHECK(huge.exit_code == 2);
    CHECK_THAT(huge.output, Contains("GB, and this machine has"));
    const auto device = mass_with("--device tpu");
    CHECK(device.exit_code == 1);
    CHECK_THAT(device.output, Contains("tpu"));

    const scratch files;
    const auto inverted =
        files.write("inverted.mesh", "MFEM mesh v1.0\ndimension\n2\nelements\n1\n1 3 0 3 2 1\nboundary\n0\n"
                                     "vertices\n4\n2\n0 0\n1 0\n1 1\n0 1\n");
    const auto refused = mass_with(inverted);
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.output, Contains("element 0 (counted from 0) is inverted"));
}
