// notation: the statements of the bake-off problems.
#include "bench/fem/notation.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ricci::bench::fem {

namespace {

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

// Below, $ stands for ",m", or for nothing where there is one component.

constexpr const char* gather = "u(i,j,k$,e) = x(l(i,j,k,e)$);";
constexpr const char* scatter = "y(g$) = 0; y(@(i,j,k,e)$) += v(i,j,k$,e);";

constexpr const char* gradient = "gx(f,r,s$,e) = G(f,q)*w(q,r,s$,e);"
                                 "gy(q,f,s$,e) = G(f,r)*w(q,r,s$,e);"
                                 "gz(q,r,f$,e) = G(f,s)*w(q,r,s$,e);";
constexpr const char* flux =
    "hx(q,r,s$,e) = S(q,r,s,0,e)*gx(q,r,s$,e) + S(q,r,s,1,e)*gy(q,r,s$,e) + S(q,r,s,2,e)*gz(q,r,s$,e);"
    "hy(q,r,s$,e) = S(q,r,s,1,e)*gx(q,r,s$,e) + S(q,r,s,3,e)*gy(q,r,s$,e) + S(q,r,s,4,e)*gz(q,r,s$,e);"
    "hz(q,r,s$,e) = S(q,r,s,2,e)*gx(q,r,s$,e) + S(q,r,s,4,e)*gy(q,r,s$,e) + S(q,r,s,5,e)*gz(q,r,s$,e);";

/// Of one component in one statement, whose order is ricci's to find. With three, the best order of one product is a
/// small matrix for each element; values at the points are better, which three statements say.
std::string mass(const problem& p) {
    if (p.components() == 1) return "v(a,b,c,e) = B(q,a)*B(r,b)*B(s,c)*S(q,r,s,e)*B(q,i)*B(r,j)*B(s,k)*u(i,j,k,e);";
    return "w(q,r,s$,e) = B(q,i)*B(r,j)*B(s,k)*u(i,j,k$,e);"
           "t(q,r,s$,e) = S(q,r,s,e)*w(q,r,s$,e);"
           "v(a,b,c$,e) = B(q,a)*B(r,b)*B(s,c)*t(q,r,s$,e);";
}

std::string diffusion(const problem& p) {
    const std::string back = "t(q,r,s$,e) = G(f,q)*hx(f,r,s$,e) + G(f,r)*hy(q,f,s$,e) + G(f,s)*hz(q,r,f$,e);";
    if (p.is_collocated()) // the values at the points are u itself, and t is v
        return replaced(gradient, "w(", "u(") + flux + replaced(back, "t(", "v(");
    return std::string("w(q,r,s$,e) = B(q,i)*B(r,j)*B(s,k)*u(i,j,k$,e);") + gradient + flux + back +
           "v(a,b,c$,e) = B(q,a)*B(r,b)*B(s,c)*t(q,r,s$,e);";
}

constexpr const char* interpolation_steps = "ux(q,j,k$,e) = B(q,i)*u(i,j,k$,e);"
                                            "uy(q,r,k$,e) = B(r,j)*ux(q,j,k$,e);"
                                            "w(q,r,s$,e) = B(s,k)*uy(q,r,k$,e);";
constexpr const char* integration_steps = "vy(q,r,k$,e) = B(s,k)*t(q,r,s$,e);"
                                          "vx(q,j,k$,e) = B(r,j)*vy(q,r,k$,e);"
                                          "v(i,j,k$,e) = B(q,i)*vx(q,j,k$,e);";

std::string steps_of(const problem& p) {
    if (p.is_mass())
        return std::string(interpolation_steps) + "t(q,r,s$,e) = S(q,r,s,e)*w(q,r,s$,e);" + integration_steps;
    const std::string back = "t(q,r,s$,e) = G(f,q)*hx(f,r,s$,e);"
                             "t(q,r,s$,e) += G(f,r)*hy(q,f,s$,e);"
                             "t(q,r,s$,e) += G(f,s)*hz(q,r,f$,e);";
    if (p.is_collocated()) return replaced(gradient, "w(", "u(") + flux + replaced(back, "t(", "v(");
    return std::string(interpolation_steps) + gradient + flux + back + integration_steps;
}

text_operand tensor(const problem& p, std::string name, std::vector<std::int64_t> extents, bool has_components) {
    if (has_components && p.components() > 1) extents.push_back(p.components());
    const bool of_elements = name != "B" && name != "G" && name != "x" && name != "y";
    if (of_elements) extents.push_back(p.mesh.elements());
    const auto type = name == "l" ? lowering::scalar_type::i32 : p.type;
    return dense(std::move(name), type, std::move(extents));
}

text_program make(const problem& p, const std::string& steps) {
    const std::int64_t P = p.nodes_along(), Q = p.points_along(), N = p.mesh.nodes(p.order);
    std::string text = p.is_global() ? gather + steps + scatter : steps;
    text = replaced(replaced(text, "$", p.components() > 1 ? ",m" : ""), "@", p.atomic ? "atomic(l)" : "l");
    text.pop_back(); // the last semicolon

    text_program out;
    out.statements = parse_text(text);
    out.operands = {tensor(p, "B", {Q, P}, false), tensor(p, "G", {Q, Q}, false),
                    p.is_mass() ? tensor(p, "S", {Q, Q, Q}, false) : tensor(p, "S", {Q, Q, Q, 6}, false)};
    const auto u = tensor(p, "u", {P, P, P}, true), v = tensor(p, "v", {P, P, P}, true);
    if (p.is_global()) {
        out.operands.insert(out.operands.end(),
                            {tensor(p, "x", {N}, true), tensor(p, "y", {N}, true), tensor(p, "l", {P, P, P}, false)});
        out.intermediates = {u, v};
    } else {
        out.operands.insert(out.operands.end(), {u, v});
    }
    for (const char* const name : {"ux", "vx"}) out.intermediates.push_back(tensor(p, name, {Q, P, P}, true));
    for (const char* const name : {"uy", "vy"}) out.intermediates.push_back(tensor(p, name, {Q, Q, P}, true));
    for (const char* const name : {"w", "t", "gx", "gy", "gz", "hx", "hy", "hz"})
        out.intermediates.push_back(tensor(p, name, {Q, Q, Q}, true));
    std::erase_if(out.intermediates, [&](const text_operand& o) {
        return std::none_of(out.statements.begin(), out.statements.end(),
                            [&](const text_statement& s) { return s.left() == o.name; });
    });
    return out;
}

} // namespace

text_program fused(const problem& p) { return make(p, p.is_mass() ? mass(p) : diffusion(p)); }

text_program step_by_step(const problem& p) { return make(p, steps_of(p)); }

} // namespace ricci::bench::fem
