// cross_cases: the statements that kernels for other CPUs are tried on.
#include "tests/cross/cross_cases.hpp"

#include "lowering/lower.hpp"
#include "tests/kernels/chain_cases.hpp"
#include "tests/seeds.hpp"

#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <string>

namespace ricci::tests {
namespace {

struct types {
    const char *c, *a, *b;
};

constexpr int sizes[] = {2, 3, 4, 5, 8, 13, 16, 17, 33, 64};
constexpr types plain[] = {{"f64", "f64", "f64"}, {"f32", "f32", "f32"}};
constexpr types others[] = {{"c128", "c128", "c128"}, {"c64", "c64", "c64"}, {"f16", "f16", "f16"},
                            {"bf16", "bf16", "bf16"}, {"f64", "f32", "bf16"}};
constexpr const char* assignments[] = {"=", "+=", "-= 2*"};

void square_products(std::vector<cross_case>& out) {
    for (const auto& t : plain)
        for (const int n : sizes)
            out.push_back({{fmt::format("C(i,j,e) {} A(i,k,e)*B(k,j,e)", assignments[n % 3]),
                            fmt::format("C={0}[{3},{3},21] A={1}[{3},{3},21] B={2}[{3},{3},21]", t.c, t.a, t.b, n)},
                           n >= 8});
    for (const auto& t : others)
        for (const int n : {3, 8, 17})
            out.push_back({{fmt::format("C(i,j,e) {} A(i,k,e)*B(k,j,e)", assignments[n % 3]),
                            fmt::format("C={0}[{3},{3},9] A={1}[{3},{3},9] B={2}[{3},{3},9]", t.c, t.a, t.b, n)},
                           n >= 8 && t.c == t.a});
}

/// Not square, and X or Y or both the other way round.
void transposed_products(std::vector<cross_case>& out) {
    constexpr types of_layouts[] = {{"f64", "f64", "f64"}, {"f32", "f32", "f32"}, {"c64", "c64", "c64"}};
    constexpr std::array<int, 3> of_types[] = {{8, 13, 9}, {16, 11, 20}, {9, 5, 8}}; // m, n, k
    for (std::size_t t = 0; t < std::size(of_layouts); ++t)
        for (const auto& [a, b] : {std::array{"i,k", "j,k"}, std::array{"k,i", "k,j"}, std::array{"k,i", "j,k"}}) {
            const auto [m, n, k] = of_types[t];
            const auto pair = [&](const std::string& letters, char first, int one, int other) {
                return letters.front() == first ? fmt::format("{},{}", one, other) : fmt::format("{},{}", other, one);
            };
            const auto& [type, x, y] = of_layouts[t];
            out.push_back({{fmt::format("C(i,j,e) {} A({},e)*B({},e)", t == 2 ? "+= 2*" : "=", a, b),
                            fmt::format("C={}[{},{},7] A={}[{},7] B={}[{},7]", type, m, n, x, pair(a, 'i', m, k), y,
                                        pair(b, 'k', k, n))},
                           true});
        }
}

void interleaved_products(std::vector<cross_case>& out) {
    constexpr types some[] = {
        {"f64", "f64", "f64"}, {"f32", "f32", "f32"}, {"c64", "c64", "c64"}, {"f16", "f16", "f16"}};
    for (const auto& t : some)
        for (const int n : {3, 9})
            out.push_back({{"C(e,i,j) += A(e,i,k)*B(e,k,j)",
                            fmt::format("C={0}[37,{3},{3}] A={1}[37,{3},{3}] B={2}[37,{3},{3}]", t.c, t.a, t.b, n)},
                           t.c != others[2].c && n == 9});
}

void tall_products(std::vector<cross_case>& out) {
    constexpr types some[] = {
        {"f64", "f64", "f64"}, {"f32", "f32", "f32"}, {"c64", "c64", "c64"}, {"bf16", "bf16", "bf16"}};
    for (const auto& [c, a, b] : some) {
        const auto add = [&, c = c, a = a, b = b](const char* statement, const char* extents) {
            out.push_back({{statement, fmt::format(fmt::runtime(extents), c, a, b)}, std::string(c) != "bf16"});
        };
        add("C(i,j) += A(k,i)*B(k,j)", "C={}[8,9] A={}[2049,8] B={}[2049,9]");
        add("C(i,j) = A(i,k)*B(j,k)", "C={}[16,5] A={}[16,1537] B={}[5,1537]");
        add("C(i,j) -= 2*A(i,k)*B(k,j)", "C={}[1537,9] A={}[1537,8] B={}[8,9]");
    }
    out.push_back({{"C(i,j) = A(i,k)*B(k,j)", "C=f64[1501,3] A=f64[1501,4] B=f64[4,3]"}});
}

constexpr const char* further[][2] = {
    {"C(i,j,e) += A(i,k,p(e))*B(k,j,e)", "C=f64[8,6,11] A=f64[8,7,9] B=f64[7,6,11] p=i32[11]"},
    {"C(i,j,f,e) = conj(A(k,i,e))*B(j,k,f)", "C=c128[4,3,2,9] A=c128[6,4,9] B=c128[3,6,2]"},
    {"C(i,j,e) = A(k,i,e)*A(k,j,e)", "C=f64[50,50,3] A=f64[41,50,3]"}, // half of a symmetric product, in blocks
    {"C(i,j) = conj(A(k,i))*A(k,j)", "C=c64[37,37] A=c64[41,37]"},
    {"C(i,j) += 2*A(k,i)*B(j,k)", "C=f32[77,90] A=f32[301,77] B=f32[90,301]"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=f16[77,90] A=f16[77,50] B=f16[50,90]"},
    {"O(x,y,k) = padded(D)(x+s-1,y+r-1,c)*F(s,r,c,k)", "O=f32[19,7,9] D=f32[19,7,6] F=f32[3,3,6,9]"}, // gett
    {"O(x,y,k) += 2*padded(D)(2*x+s-1,y+r-1,c)*F(k,c,r,s)", "O=f64[9,7,6] D=f64[18,7,6] F=f64[6,6,3,3]"},
    {"O(k,x) -= padded(D)(c,x+s-1)*F(s,c,k)", "O=c64[7,20] D=c64[9,20] F=c64[3,9,7]"},
    {"C(k,i,j) += A(i,j,k)", "C=f32[3,5,4] A=f32[5,4,3]"},
    {"C(j,i) = A(i,j)", "C=f64[33,40] A=f64[40,33]"},
    {"C(i) -= A(k,i)*A(k,i)", "C=f32[19] A=f32[100,19]"},
    {"C(i) = A(i,k)", "C=f16[3] A=f16[3,300]"},
    {"y(i,e) = A(k,i,e)*x(k,e)", "y=f64[19,5] A=f64[23,19,5] x=f64[23,5]"}, // sums in lanes
    {"y(i,e) -= A(k,i,e)*x(k)", "y=f32[17,5] A=f32[45,17,5] x=f32[45]"},
    {"s(e) += 2*a(k,e)*b(k,e)", "s=f32[29] a=f16[13,29] b=f16[13,29]"},
    {"y(e) = exp(a(k,e))*b(k)", "y=f64[5] a=f64[301,5] b=f64[301]"},
    {"C(i) = A(i) - 2*B(i)", "C=f32[4099] A=f32[4099] B=f32[4099]"}, // parts of a row
    {"C(i,j) = relu(A(i,k)*B(k,j) + B(1,j)) + max(A(i,0), 0)", "C=f64[5,4] A=f64[5,3] B=f64[3,4]"},
    {"C(i) = exp(A(i)) + sqrt(abs(B(i)))", "C=bf16[37] A=f32[37] B=f16[37]"},
    // added in order by a second pass: a scalar and a row of components for an entry
    {"v(l(i,e)) += w(i,e)", "v=f64[90] w=f64[8,300] l=i32[8,300]"},
    {"v(c,l(i,e)) -= 0.1*w(c,i,e)", "v=f32[3,700] w=f32[3,6,200] l=i64[6,200]"},
};

// Mass in 2-D and 3-D, what each element has of its own between tables; functions; what is gathered, and added in
// order behind the chain.
constexpr const char* chained[][2] = {
    {"v(a,b,e) = B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*u(i,j,e)",
     "v=f64[4,4,37] B=f64[5,4] D=f64[5,5,37] u=f64[4,4,37]"},
    {"v(a,b,c,e) -= B(q,a)*B(r,b)*B(s,c)*D(q,r,s,e)*B(q,i)*B(r,j)*B(s,k)*u(i,j,k,e)",
     "v=f64[3,3,3,21] B=f64[4,3] D=f64[4,4,4,21] u=f64[3,3,3,21]"},
    {"v(a,b,e) += B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*u(i,j,e)",
     "v=f32[4,4,37] B=f32[5,4] D=f32[5,5,37] u=f32[4,4,37]"},
    {"v(a,b,e) = B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*conj(x(l(i,j,e)))",
     "v=c64[3,3,70] B=c64[4,3] D=f32[4,4,70] x=c64[90] l=i32[3,3,70]"},
    {"C(i,m,e) = A(i,j)*B(j,k,e)*A(l,k)*D(l,m,e)", "C=f64[9,10,35] A=f64[9,8] B=f64[8,8,35] D=f64[9,10,35]"},
    {"C(p,e) = A(p,q)*relu(B(q,i)*x(l(i,e)))", "C=f32[6,1100] A=f32[6,11] B=f32[11,9] x=f16[50] l=i32[9,1100]"},
    {"v(l(a,b,e)) += 0.1*B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*u(l(i,j,e))",
     "v=f64[70] B=f64[4,3] D=f64[4,4,70] u=f64[70] l=i32[3,3,70]"},
};

} // namespace

std::vector<cross_case> cross_cases() {
    std::vector<cross_case> out;
    square_products(out);
    transposed_products(out);
    interleaved_products(out);
    tall_products(out);
    for (const auto& [statement, operands] : further) out.push_back({{statement, operands}});
    out.push_back({{"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=f64[8,6,11] A=f64[8,7,11] B=f64[7,6,11]"}, false, true});
    // of a kernel that gathers, numbers are loaded one by one, but multiplied by vectors
    for (const auto& [statement, operands] : chained) out.push_back({{statement, operands}, true, false, true});
    part_of_run part;
    std::erase_if(out, [&](const cross_case&) { return !part.takes_next(); });
    return out;
}

lowering::plan cross_plan(const cross_case& c, const lowering::statement& s, const lowering::machine& chip) {
    return lowering::lower(s, c.chained ? eager_to_fuse(chip) : chip, {}, c.dynamic);
}

} // namespace ricci::tests
