// golden_test: what every pass makes of a list of statements, against files under golden/. RICCI_UPDATE_GOLDEN=1
// writes them anew.
#include "lowering/lower.hpp"
#include "lowering/print.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace ricci::lowering;
using namespace ricci::tests;

struct golden_case {
    const char* name;
    const char* statement;
    const char* operands;
    bool gpu = false;
    std::vector<std::string> locals = {}; ///< then its statements are a program
};

const golden_case cases[] = {
    {"block_update", "A(i,j,m(1,9),n(1,8)) -= A(i,k,m,0)*A(k,j,0,n)", "A=f64[64,64,9,8]"},
    {"block_update_full", "A(i,j,m,n) -= A(i,k,m,0)*A(k,j,0,n)", "A=f64[64,64,9,8]"},
    {"batched_gemm", "C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=f64[8,8,1000] A=f64[8,8,1000] B=f64[8,8,1000]", true},
    {"batched_gemm_transposed", "C(i,j,e,f) += 2*conj(A(k,i,e))*B(j,k,f,e)",
     "C=c64[5,6,10,20] A=c64[7,5,10] B=c64[6,7,20,10]", true},
    {"gathered", "C(i,j,distinct(p)(e)) += A(i,k,q(1,e+1))*B(k,j)",
     "C=f64[8,8,1000] A=f64[8,8,500] B=f64[8,8] p=i32[200] q=i64[3,201]", true},
    {"scattered", "v(c,l(i,e)) += B(q,i)*x(c,q,e)", "v=f64[3,900] B=f64[5,4] x=f64[3,5,700] l=i32[4,700]"},
    {"scattered_by_atomics", "v(atomic(l)(i,e),c) -= 2*w(i,e)*y(c)",
     "v=f64[900,3] w=f64[4,700] y=f64[3] l=i64[4,700]", true},
    {"interleaved", "C(e,i,j) = A(e,i,k)*B(e,k,j)", "C=f32[4096,3,3] A=f32[4096,3,3] B=f32[4096,3,3]", true},
    {"tall_skinny_atb", "C(i,j) += 0.5*A(k,i)*B(k,j)", "C=f64[4,6] A=f64[100000,4] B=f64[100000,6]", true},
    {"tall_skinny_ab", "C(i,j) = A(i,k)*B(k,j)", "C=f32[100000,6] A=f16[100000,4] B=f16[4,6]", true},
    {"large_gemm", "C(i,j) = 3*A(k,i)*B(k,j)", "C=f64[500,300] A=f64[400,500] B=f64[400,300]"},
    {"element_mass", "M(i,j,e) = B(q,i)*W(q,e)*B(q,j)", "M=f64[27,27,5000] B=f64[64,27] W=f64[64,5000]", true},
    {"sum_factorised", "v(a,b,c,e) = B(q,a)*B(r,b)*B(s,c)*D(q,r,s,e)*B(q,i)*B(r,j)*B(s,k)*u(i,j,k,e)",
     "v=f64[4,4,4,900] B=f64[5,4] D=f64[5,5,5,900] u=f64[4,4,4,900]"},
    {"convolution", "O(b,k,y,x) = relu(D(b,c,y+r,x+s)*F(k,c,r,s) + bias(k))",
     "O=f32[2,8,30,30] D=f32[2,4,32,32] F=f32[8,4,3,3] bias=f32[8]"},
    {"padded_convolution", "O(y,x) = padded(D)(y+r-1,x+s-1)*F(r,s)", "O=f32[32,32] D=f32[32,32] F=f32[3,3]"},
    {"two_products", "C(i,j) -= A(i,k)*B(k,j) - D(i,k)*E(k,j)",
     "C=f64[20,20] A=f64[20,20] B=f64[20,20] D=f64[20,20] E=f64[20,20]"},
    {"scaled_sum", "C(i,j,e) = 2*A(i,k,e)*B(k,j,e) - 3*C(i,j,e)",
     "C=f64[20,20,500] A=f64[20,20,500] B=f64[20,20,500]", true},
    {"scaled_sum_of_halves", "C(i,j,e) = 2*A(i,k,e)*B(k,j,e) - 3*C(i,j,e)",
     "C=f16[20,20,500] A=f16[20,20,500] B=f16[20,20,500]", true},
    {"transpose_in_place", "A(i,j) = A(j,i)", "A=f64[30,30]"},
    {"shift", "A(i(0,9)) = A(i+1)", "A=f32[10]"},
    {"trace", "t() = A(i,i)", "t=f64[] A=f64[50,50]"},
    {"permutation", "B(k,i,j) = A(i,j,k)", "B=f64[4,5,6] A=f64[5,6,4]"},
    {"reduced_function", "C(i) = exp(a(i,k))", "C=f64[5] a=f64[5,7]"},
    {"distributed", "C(i) = (a(i,k) + b(i))*c(k)", "C=f64[5] a=f64[5,7] b=f64[5] c=f64[7]"},
    {"cholesky", "info(e) = cholesky(A(i,j,e), i, j)", "A=f64[16,16,20000] info=i32[20000]", true},
    {"lu", "piv(k,e,f), info(e,f) = lu(A(i,j,e,f(1,9)), i, j)", "A=c64[7,5,30,9] piv=i32[5,30,9] info=i64[30,9]"},
    {"lu_by_blocks", "piv(k,e), info(e) = lu(A(i,j,e), i, j)", "A=f64[100,90,900] piv=i32[90,900] info=i32[900]",
     true},
    {"qr_in_panels", "tau(k,e) = qr(A(i,j,e), i, j)", "A=c128[400,300,200] tau=c128[300,200]", true},
    {"q_applied", "apply_q(A(i,j,e), i, j, tau(k,e), X(i,r,e), adjoint)",
     "A=f32[20,9,5000] tau=f32[9,5000] X=f32[20,3,5000]", true},
    {"triangular_solve", "triangular_solve(conj(A(i,j,e)), j, i, X(i,r,e), upper, unit_diagonal)",
     "A=c64[8,8,9000] X=c64[8,2,9000]", true},
    {"determinant", "l(e), s(e), info(e) = log_determinant(A(i,j,e), i, j)",
     "A=c64[6,6,900] l=f32[900] s=c64[900] info=i32[900]", true},
    {"solve_overlapping", "solve(A(i,j,e), i, j, A(j,r(0,2),e))", "A=f64[6,6,300]"},
    {"solve_many_sides", "X(j,r,s) = lu_solve(A(i,j), i, j, p(k), B(i,r,s))",
     "A=f32[8,8] p=i32[8] X=f32[8,30,40] B=f32[8,30,40]", true},
    {"lu_adjoint", "X(i,r,e) = lu_solve(A(i,j,e), i, j, p(k,e), B(j,r,e), adjoint)",
     "A=c64[8,8,9000] p=i32[8,9000] X=c64[8,2,9000] B=c64[8,2,9000]", true},
    {"smallest_solution", "info(e) = least_squares(A(i,j,e), i, j, X(j,r,e), B(i,r,e))",
     "A=c64[6,20,300] X=c64[20,2,300] B=c64[6,2,300] info=i32[300]", true},
    {"inverse_in_place", "inverse(A(j,i,e), i, j, positive_definite)", "A=c128[9,9,100]"},
    {"fused_solve",
     "K(i,j,e) = B(q,i)*D(q,e)*B(q,j); x(i,e) = B(q,i)*w(q,e); "
     "info(e) = solve(K(i,j,e), i, j, x(j,e), positive_definite); y(q,e) = B(q,i)*x(i,e)",
     "K=f64[6,6,200000] B=f64[8,6] D=f64[8,200000] x=f64[6,200000] w=f64[8,200000] y=f64[8,200000] info=i32[200000]",
     true,
     {"K", "x"}},
    {"fused_lu",
     "K(i,j,e) = A(i,j,e) + 2; piv(k,e), info(e) = lu(K(i,j,e), i, j); "
     "lu_solve(K(i,j,e), i, j, piv(k,e), x(j,r,e))",
     "K=c64[5,5,9000] A=c64[5,5,9000] x=c64[5,2,9000] info=i32[9000] piv=i32[5,9000]",
     false,
     {"K", "piv"}},
};

std::string dump(const golden_case& c) {
    std::vector<stage> trace;
    std::string out;
    if (c.locals.empty()) {
        const auto s = bound_text(c.statement, c.operands);
        lower(s, c.gpu ? some_gpu() : some_cpu(), {}, false, &trace);
        out = to_string(s);
    } else {
        lowered_program({c.statement}, c.operands, c.gpu ? some_gpu() : some_cpu(), c.locals, &trace);
        out = std::string(c.statement) + '\n';
        for (const auto& local : c.locals) out += "local " + local + '\n';
    }
    out += std::string("\n") + c.operands + (c.gpu ? "\non a GPU\n" : "\non a CPU\n");
    for (const auto& st : trace)
        out += "\n" + std::string(st.pass) + ":\n" + st.dump + (st.dump.ends_with('\n') ? "" : "\n");
    return out;
}

/// The first line that differs, as each text has it; empty for equal texts.
std::string first_difference(const std::string& golden, const std::string& now) {
    if (golden == now) return "";
    std::stringstream golden_text(golden), now_text(now);
    std::string golden_line, now_line;
    for (int number = 1;; ++number) {
        const bool golden_has = static_cast<bool>(std::getline(golden_text, golden_line));
        const bool now_has = static_cast<bool>(std::getline(now_text, now_line));
        if (golden_has && now_has && golden_line == now_line) continue;
        return "line " + std::to_string(number) + "\n  golden: " + (golden_has ? golden_line : "(ends)") +
               "\n  now:    " + (now_has ? now_line : "(ends)");
    }
}

} // namespace

TEST_CASE("the first difference of two texts is told") {
    CHECK(first_difference("a\nb\n", "a\nb\n") == "");
    CHECK(first_difference("a\nb\nc\n", "a\nx\nc\n") == "line 2\n  golden: b\n  now:    x");
    CHECK(first_difference("a\n", "a\nb\n") == "line 2\n  golden: (ends)\n  now:    b");
    CHECK(first_difference("", "a\n") == "line 1\n  golden: (ends)\n  now:    a");
}

TEST_CASE("every pass leaves what its golden file says") {
    const bool update = std::getenv("RICCI_UPDATE_GOLDEN") != nullptr;
    for (const auto& c : cases) {
        const auto path = std::filesystem::path(RICCI_GOLDEN_DIR) / (std::string(c.name) + ".txt");
        const auto now = dump(c);
        if (update) {
            std::filesystem::create_directories(path.parent_path());
            std::ofstream(path) << now;
            continue;
        }
        std::stringstream golden;
        golden << std::ifstream(path).rdbuf();
        INFO(path.string() << ": if the change is meant, run with RICCI_UPDATE_GOLDEN=1 and commit the difference");
        CHECK(first_difference(golden.str(), now) == "");
    }
}

TEST_CASE("no golden file is left over") {
    for (const auto& entry : std::filesystem::directory_iterator(RICCI_GOLDEN_DIR)) {
        const auto name = entry.path().stem().string();
        INFO(name);
        CHECK(std::any_of(std::begin(cases), std::end(cases), [&](const auto& c) { return name == c.name; }));
    }
}
