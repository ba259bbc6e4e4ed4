// call_test: what calls of factorizations and solves mean in a text, and what is said of wrong ones.
#include "dsl/text.hpp"
#include "tests/catch.hpp"
#include "tests/text/message.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace ricci;
using namespace ricci::tests;
using lowering::matrix_role;

namespace {

/// The name in a role, or "-".
std::string in_role(const text_statement& s, matrix_role r) {
    const auto n = s.unbound.call.of(r);
    return n < 0 ? "-" : std::string(s.unbound.accesses[static_cast<std::size_t>(n)].name);
}

/// "matrix vector solution given info".
std::string roles(std::string_view text) {
    const auto s = parse_text(text)[0];
    REQUIRE(s.is_call());
    using enum matrix_role;
    std::string out;
    for (const auto r : {matrix, vector, solution, given, info})
        out.append(out.empty() ? "" : " ").append(in_role(s, r));
    return out;
}

} // namespace

TEST_CASE("results and arguments of a call get their roles") {
    const std::pair<const char*, const char*> table[] = {
        {"cholesky(A(i,j,e), i, j)", "A - - - -"},
        {"f(e) = cholesky(A(i,j,e), i, j)", "A - - - f"},
        {"p(k,e), f(e) = lu(A(i,j,e), i, j)", "A p - - f"},
        {"p(j,e) = lu(A(i,j,e), i, j)", "A p - - -"},
        {"f = lu(A(i,j), i, j, unpivoted)", "A - - - f"},
        {"solve(A(i,j,e), i, j, X(j,e))", "A - X - -"},
        {"X(j,e) = solve(A(i,j,e), i, j, B(i,e))", "A - X B -"},
        {"X(j,e), f(e) = solve(A(i,j,e), i, j, B(i,e), positive_definite)", "A - X B f"},
        {"f(s) = solve(A(i,j), i, j, X(j,r,s), B(i,r,s))", "A - X B f"},
        {"X(j,e) = lu_solve(A(i,j,e), i, j, p(j,e), B(i,e))", "A p X B -"},
        {"lu_solve(A(i,j,e), i, j, p(j,e), X(j,e))", "A p X - -"},
        {"lu_solve(A(i,j,e), i, j, unpivoted, X(j,e))", "A - X - -"},
        {"X(i,e) = lu_solve(A(i,j,e), i, j, p(k,e), B(j,e), adjoint)", "A p X B -"},
        {"info(e) = lu_solve(A(i,j,e), i, j, p(i,e), X(i,e), B(j,e), adjoint)", "A p X B info"},
        {"apply_q(A(i,j,e), i, j, tau(i,e), C(i,r,e), B(i,r,e), adjoint)", "A tau C B -"},
        {"Q(i,l(0,3),e) = form_q(A(i,j,e), i, j, tau(k,e))", "A tau Q - -"},
        {"inverse(A(i,j,e), i, j)", "A - A - -"},
    };
    for (const auto& [text, expected] : table) {
        CAPTURE(text);
        CHECK(roles(text) == expected);
    }
}

TEST_CASE("a name that is no routine is told, with the nearest one") {
    CHECK(message("choleksy(A(i,j,e), i, j)") ==
          "statement 1, column 1: there is no routine 'choleksy'; the nearest is cholesky\n"
          "    choleksy(A(i,j,e), i, j)\n"
          "    ^");
    const std::pair<const char*, const char*> table[] = {
        {"Cholesky(A(i,j,e), i, j)", "the nearest is cholesky\n"},
        {"LU(A(i,j,e), i, j)", "the nearest is lu\n"},
        {"sovle(conj(A(i,j,e)), i, j, X(j,e))", "there is no routine 'sovle'; the nearest is solve\n"},
        {"triangluar_solve(A(i,j,e), i, j, X(j,e), lower)", "the nearest is triangular_solve\n"},
        {"form(A(i,j,e), i, j, tau(k,e), Q(i,l,e))", "the nearest is form_q\n"},
        {"qlu_solve(A(i,j,e), i, j, X(j,e))", "the nearest is lu_solve\n"},
        {"xr_solve(A(i,j,e), i, j, X(j,e))", "the nearest is qr_solve\n"},
        {"q_solve(A(i,j,e), i, j, X(j,e))", "the nearest is qr_solve\n"},
        {"u_solve(A(i,j,e), i, j, X(j,e))", "the nearest is lu_solve\n"},
        {"x_solve(A(i,j,e), i, j, X(j,e))", "the nearest are solve, lu_solve, qr_solve\n"},
        {"potrf(A(i,j,e), i, j)", "there is no routine 'potrf'; there are cholesky, lu, qr, solve, least_squares, "},
        {"piv(k,e), info(e) = lux(A(i,j,e), i, j)", "column 21: there is no routine 'lux'; the nearest is lu\n"},
        {"X(j,e) = sovle(conj(A(i,j,e)), i, j, B(i,e))",
         "column 10: there is no routine 'sovle'; the nearest is solve"},
        {"X(j,e) = solve_of(conj(A(i,j,e)), i, j, B(i,e))", "column 10: there is no routine 'solve_of'"},
        {"C(i) = A(conj(p(i)))", "column 10: 'conj' is no index table"},
        {"choleksy(A(i,j,e), i, j", "column 24: expected ',' or ')', found the end"},
        {"C(i,p(e))", "column 10: expected '=', '+=' or '-=', found the end"},
        {"C(p(i,e),i,j)", "column 14: expected '=', '+=' or '-=', found the end"},
    };
    for (const auto& [text, expected] : table) {
        CAPTURE(text);
        CHECK_THAT(message(text), Catch::Contains(expected));
    }
}

TEST_CASE("what could be the entry of a tensor is called a mistake once there is no such tensor") {
    const auto said = [](std::string_view text) { return parse_text(text)[0].mistaken_call(1); };
    CHECK(said("info(e) = choleksy(A(i,j,e), i, j)") == "there is no routine 'choleksy'; the nearest is cholesky");
    CHECK(said("Y(j,i,e) = inv(A(i,j,e), i, j)") == "there is no routine 'inv'; the nearest is inverse");
    CHECK_THAT(said("Y(j,i,e) = svd(A(i,j,e), i, j)"), Catch::Contains("there are cholesky, lu, "));
    CHECK(said("Y(j,i,e) = inv(A(e), i, j)").empty());
    CHECK(said("Y(j,i,e) = 2*inv(A(i,j,e), i, j)").empty());
    CHECK(said("Y(j,i,e) = inv(A(i,j,e), i)").empty());
    CHECK(said("info(e) = cholesky(A(i,j,e), i, j)").empty());
}

TEST_CASE("mistakes of a call are told at their place") {
    const std::pair<const char*, const char*> table[] = {
        // written as in C++
        {"ricci::solve(A(i,j), i, j, X(j))", "column 1: a text has no namespaces: write solve without ricci::"},
        {"solve(A(i,j), i, j, X(j), ricci::unpivoted)",
         "column 27: a text has no namespaces: write unpivoted without"},
        {"auto info = cholesky(A(i,j), i, j)", "column 1: a text declares nothing; results stand with their indices"},
        {"[p, f] = lu(A(i,j), i, j)", "column 1: results stand without brackets, each with its indices: piv(k,e), "},
        {"cholesky(A(i,j,e), i, j, info(e))", "column 26: 'info' is one too many: cholesky takes the matrix and the "
                                              "indices of its rows and columns; info stands left of ="},
        // commas and parentheses
        {"cholesky(A(i,j,e) i, j)", "column 19: expected ',' and the index of the matrix's rows, found 'i'"},
        {"cholesky(A(i,j,e), i j)", "column 22: expected ',' and the index of the matrix's columns, found 'j'"},
        {"cholesky(A(i,j,e), i, j", "column 24: expected ',' or ')', found the end"},
        {"cholesky(A(i,j,e, i, j)",
         "column 10: 'A' has index i twice, and the call has none: a ')' is missing behind"},
        {"cholesky A(i,j,e), i, j", "column 10: expected '(' and the matrix, found 'A'"},
        {"cholesky(A(i,j,e), i, j) B(i) = 1", "column 26: expected ';' or the end of the statement, found 'B'"},
        {"solve(A(i,j,e), i, j, X(j,e),)", "column 30: expected a tensor or an option, found ')'"},
        // indices
        {"cholesky(A(i,j,e), i)", "column 21: expected ',' and the index of the matrix's columns, found ')'"},
        {"cholesky(A(i,j,e), i, i)", "column 23: cholesky wants two different indices, of the matrix's rows and of"},
        {"cholesky(A(i,j,e), i, k)", "column 23: index k, of the matrix's columns, does not stand in A\n"},
        {"X(j), f = solve(A(i,j,e), k, j, B(i))", "column 27: index k, of the matrix's rows, does not stand in A\n"},
        {"cholesky(A(i,j,e), 0, 1)", "column 20: expected an index, found '0'"},
        {"X(j,e) = solve(A(i,j,e), B(i,e))",
         "column 26: 'B' stands where an index should: behind the matrix solve wants the indices of its rows and "
         "columns, solve(A(i,j), i, j, ...)"},
        {"X(j,e) = solve(A(i,j,e), i, B(i,e))", "column 29: 'B' stands where an index should"},
        {"X(i,e) = solve(A(i,j,e), i, j, B(i,e))",
         "column 1: solutions have index j, and right-hand sides i: X(j) = solve(..., B(i))"},
        // options
        {"cholesky(A(i,j), i, j, upper)", "column 24: 'upper' is no option of cholesky, which has none; a tensor"},
        {"solve(A(i,j), i, j, X(j), adjoint)", "'adjoint' is no option of solve: there are unpivoted, positive"},
        {"apply_q(A(i,j), i, j, t(k), X(i), transposed)", "column 35: 'transposed' is no option of apply_q: there is "
                                                          "adjoint; a tensor stands with its indices"},
        {"apply_q(A(i,j), i, j, t(k), X(i), adjoint, adjoint)",
         "column 44: 'adjoint' stands behind 'adjoint': a call"},
        {"solve(A(i,j), i, j, X(j), positive_definite, unpivoted)",
         "column 46: 'unpivoted' stands behind 'positive_definite': a call has one of them, once"},
        {"triangular_solve(A(i,j), i, j, X(j), upper, lower)", "column 45: 'lower' stands behind 'upper'"},
        {"triangular_solve(A(i,j), i, j, X(j))", "column 1: triangular_solve wants to know which triangle is meant"},
        // operands
        {"solve(A(i,j), i, j)",
         "column 19: solutions are missing: solve takes the matrix, the indices of its rows and "
         "columns, then solutions and perhaps right-hand sides\n"},
        {"X(j) = solve(A(i,j), i, j)", "column 26: right-hand sides are missing: solve takes"},
        {"solve(A(i,j), i, j, X(j), B(i), C(i))", "column 33: 'C' is one too many: solve takes"},
        {"lu_solve(A(i,j,e), i, j, X(j,e))", "column 26: pivots should stand before 'X': lu_solve takes"},
        {"lu_solve(A(i,j,e), i, j, X(i,e), B(j,e), adjoint)",
         "column 26: pivots should stand before 'X': lu_solve takes"},
        {"X(j,e) = lu_solve(A(i,j,e), i, j, p(k,e), B(i,e), adjoint)",
         "with adjoint solutions have index i, and right-hand sides j: X(i) = lu_solve(..., B(j), adjoint)"},
        {"X(i,e) = solve(A(i,j,e), i, j, B(j,e))",
         "column 1: solutions have index j, and right-hand sides i: X(j) = solve(..., B(i))"},
        {"X(i,e) = least_squares(A(i,j,e), i, j, B(i,e))",
         "column 1: solutions have index j, and right-hand sides i: X(j) = least_squares(..., B(i))"},
        {"x(e) = lu_solve(A(i,j,e), i, j, p(k,e), B(e), adjoint)", "neither 'x' nor 'B' has index i, along which"},
        {"lu_solve(A(i,j,e), i, j, X(j,e), B(i,e))", "column 26: pivots should stand before 'X': lu_solve takes"},
        {"X(j,e) = lu_solve(A(i,j,e), i, j, B(i,e))",
         "column 35: 'B' stands alone where pivots and right-hand sides should: lu_solve takes"},
        {"X(j,e) = lu_solve(A(i,j,e), i, j, p(j,e))", "'p' stands alone where pivots and right-hand sides should"},
        {"X(j,e) = qr_solve(A(i,j,e), i, j, B(i,e))", "'B' stands alone where tau and right-hand sides should"},
        {"X(i,e) = apply_q(A(i,j,e), i, j, B(i,e))", "'B' stands alone where tau and right-hand sides should"},
        {"X(i,e) = apply_q(A(i,j,e), i, j, tau(k,e))", "right-hand sides are missing: apply_q takes"},
        {"X(j,e) = lu_solve(A(i,j,e), i, j, p(k,e))", "right-hand sides are missing: lu_solve takes"},
        {"qr_solve(A(i,j,e), i, j, X(j,e), B(i,e))", "column 26: tau should stand before 'X': qr_solve takes"},
        {"apply_q(A(i,j,e), i, j, X(i,e))", "column 25: tau should stand before 'X': apply_q takes"},
        {"form_q(A(i,j,e), i, j, tau(k,e))", "column 32: the columns of Q are missing: form_q takes"},
        {"qr_solve(A(i,j,e), i, j)", "column 24: tau is missing: qr_solve takes"},
        {"solve(A(i,j), i, j, 3)", "column 21: expected a tensor or an option, found '3'"},
        {"solve(A(i,j), i, j, 2*X(j))", "column 21: a call takes tensors as they are, without a factor: compute"},
        {"solve(A(i,j), i, j, -X(j))",
         "column 21: a call takes tensors as they are, without a sign: compute this one"},
        {"lu(2.5 * A(i,j), i, j)", "column 4: a call takes tensors as they are, without a factor"},
        {"lu(A, i, j)", "column 4: the matrix 'A' stands without its indices: lu(A(i,j), i, j ...)"},
        {"X(j,e) = lu_solve(A(i,j,e), i, j, piv(k,e), B(i,e), unpivoted)",
         "column 35: 'piv' is one too many: where lu_solve is unpivoted it takes no pivots"},
        {"lu_solve(A(i,j,e), i, j, X(j,e), B(i,e), C(i,e), unpivoted)", "column 42: 'C' is one too many: lu_solve"},
        {"X(j) = solve(A(i,j), i, j, X(j), B(i))",
         "column 28: 'X' stands on both sides of =: what is solved for stands left of it, or among the arguments"},
        {"X(e) = apply_q(A(i,j,e), i, j, t(k,e), B(i,e))",
         "column 1: 'X' lacks index i: apply_q gives what Q is applied to alone, along that index"},
        {"solve(A(i,j), i, j, X(j)*2)",
         "column 25: a call takes tensors as they are: compute this one in a statement"},
        {"solve(A(i,j) - B(i,j), i, j, X(j))", "column 14: a call takes tensors as they are"},
        {"solve(A(i,j), i, j, inverse(B(i,j), i, j))", "column 21: 'inverse' is a routine: what it gives goes to a "
                                                       "tensor first, in a statement of its own"},
        {"apply_q(adjoint(A(i,j)), i, j, t(k), X(i))",
         "column 9: 'adjoint' is no function of a tensor: there is conj"},
        {"info(e) = cholesky(A(i,j,p(e)), i, j)", "column 26: an index table cannot stand in a position of cholesky"},
        // results
        {"y(e) = 2*solve(A(i,j,e), i, j, X(j,e))",
         "column 10: solve stands alone right of =: what it gives is in no"},
        {"y(e) = solve(A(i,j,e), i, j, X(j,e)) + z(e)", "column 38: solve stands alone right of =: what it gives is"},
        {"cholesky(A(i,j,e), i, j) = info(e)",
         "column 26: what a call gives stands left of it: piv(k,e), info(e) = lu"},
        {"f(e) = form_q(A(i,j,e), i, j, tau(k,e), Q(i,l,e))",
         "column 1: 'f' lacks index i: form_q gives the columns of Q alone, along"},
        {"a(k,e), b(e), c(e) = lu(A(i,j,e), i, j)", "column 15: lu gives pivots, info: 1 too many"},
        {"p(k,e), f(e) = lu(A(i,j,e), i, j, unpivoted)", "column 1: lu gives no pivots where it is unpivoted, only"},
        {"f(e), p(k,e) = lu(A(i,j,e), i, j)",
         "column 1: 'f' without an index of its own cannot be pivots, whose place "
         "goes along one index beside the batch's: lu "
         "gives pivots, info, and leaves its factors in the matrix\n"},
        {"L(i,j,e) = cholesky(A(i,j,e), i, j)", "column 1: 'L' with indices i, j cannot be info, whose place has the "
                                                "batch's indices alone: cholesky gives info, and "
                                                "leaves its factors in the matrix\n"},
        {"Q(i,k,e), R(k,j,e) = qr(A(i,j,e), i, j)",
         "column 1: 'Q' with indices i, k cannot be tau, whose place goes along "},
        {"log_determinant(A(i,j,e), i, j)",
         "column 1: what log_determinant gives is assigned: log_abs(e), sign(e) = "},
        {"y(i,e) = log_determinant(A(i,j,e), i, j)",
         "column 1: 'y' with index i cannot be log |det|, whose place has "},
        {"y(j,e) += solve(A(i,j,e), i, j, B(i,e))", "column 11: what solve gives is assigned with ="},
    };
    for (const auto& [text, expected] : table) {
        CAPTURE(text);
        CHECK_THAT(message(text), Catch::Contains(expected));
    }
}
