// assemble_test: NVRTC turns every kernel of the covering list into machine code, for one architecture a run, and on
// sm_90, for which they are made, none keeps anything in local memory, or a factorization a few words.
#include "lowering/error.hpp"
#include "lowering/lower.hpp"
#include "runtime/executable.hpp"
#include "runtime/nvrtc_compiler.hpp"
#include "runtime/table_fingerprint.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/chain_cases.hpp"
#include "tests/kernels/covering.hpp"
#include "tests/kernels/cubin_frame.hpp"
#include "tests/seeds.hpp"
#include "tests/skip.hpp"
#include "tests/winograd_layer.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace {

/// The architecture of this run, RICCI_TEST_CAPABILITY: 90 is sm_90.
const auto capability = static_cast<int>(ricci::tests::number_from_environment("RICCI_TEST_CAPABILITY", 90));

/// NVRTC for it, and a chip that has it; skips the test where there is no NVRTC.
struct assembler {
    ricci::runtime::nvrtc_compiler compiler{capability, 99};
    ricci::lowering::machine chip;
    ricci::tests::part_of_run part;

    explicit assembler(ricci::lowering::machine like = ricci::tests::some_gpu()) : chip(std::move(like)) {
        ricci::test::skip_unless(compiler.found(), "no NVRTC");
        chip.architecture = "sm_" + std::to_string(capability);
    }
    /// Of a kernel of this run's part.
    void check(const std::string& source, std::int64_t most_bytes = 0) {
        if (!part.takes_next()) return;
        const auto code = compiler.compile(source);
        REQUIRE(!code.empty());
        if (capability != 90) return;
        INFO(source.substr(0, source.find("#include")));
        CHECK(ricci::tests::frame_bytes(code) <= most_bytes);
    }
    void check_all(const ricci::lowering::plan& p) {
        for (const auto& request : ricci::runtime::executable::requests(p, chip)) check(request.source);
    }
};

} // namespace

TEST_CASE("every kernel is assembled") {
    assembler with;
    const auto sources = ricci::tests::covering_sources(with.chip);
    // a kernel behind another is a part of it
    CHECK(std::count_if(sources.begin(), sources.end(),
                        [](const auto& source) { return source.second != "ricci_block_sums"; }) <= 310);
    // Of factorizations some have a few words there, where their registers are capped since more warps are worth it,
    // as their models weigh (factor_lanes_qr.cpp: up to 32 registers that are missing): 8 bytes of Cholesky in
    // panels, 8 and, of c128, 64 of QR by lanes, 40 of LU in panels, 56 of Cholesky of c64 in shared memory.
    // And of kernels with sizes as arguments, which stand in while sizes keep changing, LU of c128 in panels has 448.
    constexpr std::int64_t most_of_factorization = 64, of_any_size = 448;
    for (const auto& [source, entry] : sources) {
        const bool is_of_any_size = source.find(" rows = argument") != std::string::npos;
        with.check(source, entry != "ricci_factor" ? 0 : is_of_any_size ? of_any_size : most_of_factorization);
    }
}

TEST_CASE("A^T B by boxes of columns that start anywhere is assembled") {
    if (capability < 90) return; // there are no such boxes
    assembler with;
    for (const char* operands :
         {"C=f32[24,40] A=f16[4000001,24] B=f16[4000001,40]", "C=f32[64,64] A=f32[4000001,64] B=f32[4000001,64]",
          "C=f32[13,9] A=f32[4000001,13] B=f32[4000001,9]", "C=f64[48,33] A=f64[4000001,48] B=f64[4000001,33]",
          "C=c64[16,9] A=c64[4000001,16] B=c64[4000001,9]"}) {
        INFO(operands);
        const auto plan =
            ricci::lowering::lower(ricci::tests::bound_text("C(i,j) = A(k,i)*B(k,j)", operands), with.chip);
        REQUIRE(plan.steps.at(0).batched.realigned); // what the model chooses
        with.check_all(plan);
    }
}

TEST_CASE("the kernels that add through tables are assembled for every type, and what looks at tables") {
    assembler with;
    for (const char* type : {"f16", "bf16", "f32", "f64", "c64", "c128"})
        for (const char* left : {"C(i,l(e))", "C(l(e),m(e))", "C(i,atomic(l)(e))"}) {
            INFO(left << " in " << type);
            const auto of = std::string("=") + type;
            const auto s =
                ricci::tests::bound_text(std::string(left) + " -= A(i,e)*B(e)",
                                         "C" + of + "[7,9] A" + of + "[7,30] B" + of + "[30] l=i32[30] m=i64[30]");
            with.check_all(ricci::lowering::lower(s, with.chip));
        }
    for (const auto type : {ricci::lowering::scalar_type::i32, ricci::lowering::scalar_type::i64})
        for (const std::size_t axes : {0, 1, 3}) with.check(ricci::runtime::fingerprint_kernel(type, axes).source);
}

namespace {

/// The mass operator of order p on global vectors, whose result comes together as `left` says.
ricci::tests::covering_case mass_on_global_vectors(int p, const char* left) {
    const auto n = std::to_string(p + 1), q = std::to_string(p + 2);
    const auto nodes = n + "," + n + "," + n, points = q + "," + q + "," + q;
    return {
        std::string("v(") + left + "(a,b,c,e)) += B(q,a)*B(r,b)*B(s,c)*D(q,r,s,e)*B(q,i)*B(r,j)*B(s,k)*u(l(i,j,k,e))",
        "v=f64[5000] B=f64[" + q + "," + n + "] D=f64[" + points + ",2000] u=f64[5000] l=i32[" + nodes + ",2000]"};
}

} // namespace

TEST_CASE("chains are assembled") {
    assembler with(ricci::tests::eager_to_fuse(ricci::tests::some_gpu()));
    std::vector<ricci::tests::covering_case> cases(std::begin(ricci::tests::chain_cases),
                                                   std::end(ricci::tests::chain_cases));
    cases.insert(cases.end(), std::begin(ricci::tests::scattered_chain_cases),
                 std::end(ricci::tests::scattered_chain_cases));
    for (const char* left : {"l", "atomic(l)"})
        for (int p = 1; p <= 8; ++p) cases.push_back(mass_on_global_vectors(p, left));
    for (const auto& c : cases) {
        INFO(c.statement << " with " << c.operands);
        with.check_all(ricci::lowering::lower(ricci::tests::make_case(c, 1).s, with.chip));
    }
}

TEST_CASE("chains with factorizations and solves are assembled") {
    assembler with(ricci::tests::eager_to_fuse(ricci::tests::some_gpu()));
    const char* const calls[] = {"cholesky(S(i,j,e), i, j); cholesky_solve(S(i,j,e), i, j, b(j,r,e))",
                                 "p(k,e) = lu(S(i,j,e), i, j); lu_solve(S(i,j,e), i, j, p(k,e), b(j,r,e))",
                                 "p(k,e) = lu(S(i,j,e), i, j); lu_solve(S(i,j,e), i, j, p(k,e), b(i,r,e), adjoint)",
                                 "t(k,e) = qr(S(i,j,e), i, j); qr_solve(S(i,j,e), i, j, t(k,e), b(j,r,e))",
                                 "t(k,e) = qr(S(i,j,e), i, j); apply_q(S(i,j,e), i, j, t(k,e), b(i,r,e), adjoint); "
                                 "triangular_solve(S(i,j,e), i, j, b(j,r,e), upper)",
                                 "solve(S(i,j,e), i, j, b(j,r,e))",
                                 "solve(conj(S(j,i,e)), i, j, b(j,r,e), positive_definite)"};
    const std::string types[] = {"f32", "c128", "f64", "c64"};
    int turn = 0;
    for (const auto* call : calls)
        for (const auto* n : {"5", "18"}) {
            const auto& type = types[turn++ % 4];
            INFO(call << " in " << type << ", " << n << " rows");
            const std::vector<std::string> program{"S(i,j,e) = B(q,i)*D(q,e)*B(q,j)", "b(i,r,e) = B(q,i)*g(q,r,e)",
                                                   call, "y(q,r,e) = B(q,i)*b(i,r,e)"};
            std::string operands = std::string("p=i32[") + n + ",9000]";
            for (const std::string tensor : {"S=T[n,n,9000]", "b=T[n,2,9000]", "t=T[n,9000]", "B=T[24,n]",
                                             "D=T[24,9000]", "g=T[24,2,9000]", "y=T[24,2,9000]"}) {
                operands += ' ';
                for (const char c : tensor)
                    operands += c == 'T' ? type : c == 'n' ? std::string(n) : std::string(1, c);
            }
            const auto plan = ricci::tests::lowered_program(program, operands, with.chip, {"S", "b"});
            REQUIRE(plan.chains.size() == 1);
            CHECK(std::count_if(plan.steps.begin(), plan.steps.end(), [](const auto& st) {
                      return st.matrices.task != ricci::lowering::matrix_task::none && st.chain < 0;
                  }) == 0);
            for (const auto& request : ricci::runtime::executable::requests(plan, with.chip))
                if (with.part.takes_next()) CHECK(!with.compiler.compile(request.source).empty());
        }
}

TEST_CASE("layers by minimal filtering are assembled") {
    if (capability < 90) return; // there they are several kernels
    assembler with;
    with.chip.launch_seconds = 1; // one kernel rather than several
    struct layer {
        int m, taps;
        const char* type;
        bool is_all_in_registers;
    };
    // Small arrays of the outputs' warps that do not fit beside their sums are no matter: they are used once a part.
    for (const layer& l : {layer{4, 3, "f32", true}, layer{6, 3, "f32", true}, layer{2, 5, "f32", true},
                           layer{2, 3, "f32", false}, layer{4, 3, "f16", false}}) {
        INFO("F(" << l.m << ", " << l.taps << ") of " << l.type);
        const auto plan = ricci::tests::winograd_layer(l.m, l.taps, 56, 64, 64, with.chip, l.type);
        REQUIRE(plan.steps.size() == 1);
        REQUIRE(plan.steps[0].kernel == ricci::lowering::family::winograd);
        for (const auto& request : ricci::runtime::executable::requests(plan, with.chip))
            for (const auto* kernel : ricci::runtime::kernels_of(request)) {
                if (l.is_all_in_registers)
                    with.check(kernel->source);
                else
                    CHECK(!with.compiler.compile(kernel->source).empty());
            }
    }
}

TEST_CASE("transforms of tiles by themselves are assembled") {
    if (capability < 90) return; // there are none without the one kernel
    assembler with;
    for (const auto& [m, taps] : {std::pair(2, 3), std::pair(4, 3), std::pair(6, 3), std::pair(2, 5)}) {
        INFO("F(" << m << ", " << taps << ")");
        const auto plan = ricci::tests::winograd_layer(m, taps, 28, 512, 512, with.chip, "f16");
        REQUIRE(plan.steps.size() == 3);
        CHECK(plan.steps[0].kernel == ricci::lowering::family::tile_transform);
        CHECK(plan.steps[2].kernel == ricci::lowering::family::tile_transform);
        with.check_all(plan);
    }
}

TEST_CASE("products of any axes are assembled for every type") {
    assembler with;
    const auto of_types = [](const char* c, const char* a, const char* b) {
        return std::string("O=") + c + "[56,56,128,8] D=" + a + "[56,56,128,8] F=" + b + "[3,3,128,128]";
    };
    const std::string operands[] = {of_types("f64", "f64", "f64"),    of_types("f32", "f32", "f32"),
                                    of_types("c128", "c128", "c128"), of_types("c64", "c64", "c64"),
                                    of_types("f16", "f16", "f16"),    of_types("bf16", "bf16", "bf16"),
                                    of_types("f32", "f16", "f16"),    of_types("f64", "f32", "bf16"),
                                    of_types("c128", "f64", "c64"),   of_types("f32", "f32", "bf16")};
    for (const auto math : {ricci::lowering::math_mode::full, ricci::lowering::math_mode::tf32})
        for (const auto& each : operands) {
            INFO(each);
            auto s = ricci::tests::bound_text("O(x,y,k,b) = padded(D)(x+s-1,y+r-1,c,b)*F(s,r,c,k)", each);
            s.math = math;
            const auto plan = ricci::lowering::lower(s, with.chip);
            REQUIRE(plan.steps.back().kernel == ricci::lowering::family::gett);
            with.check_all(plan);
        }
}

TEST_CASE("a kernel that keeps numbers in local memory is seen to") {
    assembler with;
    const auto bytes = [&](const char* body) {
        return ricci::tests::frame_bytes(
            with.compiler.compile(std::string("extern \"C\" __global__ void f(int* a, int i) {") + body + "}"));
    };
    CHECK(bytes("int b[64]; for (int n = 0; n < 64; ++n) b[a[n] % 64] = n; a[0] = b[i];") >= 256);
    CHECK(bytes("a[0] = i;") == 0);
    CHECK_THROWS_AS(ricci::tests::frame_bytes(std::string(64, 'x')), ricci::error);
}
