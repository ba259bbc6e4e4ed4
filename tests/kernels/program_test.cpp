// program_test: random programs on one device, fused where they can be, against the oracle statement by statement. A
// failure prints its seed: run it alone with RICCI_TEST_SEED=<seed> RICCI_TEST_N=1.
#include "runtime/executable.hpp"
#include "runtime/program_cache.hpp"
#include "runtime/run.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/random_program.hpp"
#include "tests/oracle.hpp"

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <random>
#include <sstream>

using namespace ricci;
using namespace ricci::tests;
using lowering::scalar_type;

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr && *text != 0 ? std::strtoull(text, nullptr, 10) : otherwise;
}

using bytes = std::vector<std::byte>;

std::int64_t size_of(const text_operand& o) {
    std::int64_t count = 1;
    for (const auto e : o.extents) count *= e;
    return count;
}

template <class T> void put(void* at, T value) { std::memcpy(at, &value, sizeof(T)); }
void put(void* at, scalar_type type, double re, double im) {
    switch (type) {
    case scalar_type::f32: return put(at, static_cast<float>(re));
    case scalar_type::f64: return put(at, re);
    case scalar_type::c64: return put(at, std::complex<float>(static_cast<float>(re), static_cast<float>(im)));
    default: return put(at, std::complex<double>(re, im));
    }
}

/// The numbers, not their signs of zero.
bool are_equal(const bytes& a, const bytes& b, scalar_type type) {
    const auto all = [&](auto one) {
        using number = decltype(one);
        for (std::size_t n = 0; n + sizeof(number) <= a.size(); n += sizeof(number)) {
            number x, y;
            std::memcpy(&x, a.data() + n, sizeof x), std::memcpy(&y, b.data() + n, sizeof y);
            if (!(x == y)) return false;
        }
        return true;
    };
    return lowering::real_of(type) == scalar_type::f32 ? all(float{}) : all(double{});
}

std::vector<lowering::statement> bound(const random_program& p, const std::vector<text_operand>& operands) {
    std::vector<lowering::statement> out;
    for (const auto& s : p.statements) out.push_back(bind_text(parse_text(s).at(0), operands));
    return out;
}

/// How many values each index table may have.
std::map<std::string, std::int64_t, std::less<>> extents_of_tables(const std::vector<lowering::statement>& program) {
    std::map<std::string, std::int64_t, std::less<>> out;
    for (const auto& s : program)
        for (const auto& p : s.positions) {
            if (!p.is_gathered()) continue;
            const std::string name(s.accesses[static_cast<std::size_t>(p.table)].name);
            const auto [found, is_new] = out.try_emplace(name, p.extent);
            if (!is_new) found->second = std::min(found->second, p.extent);
        }
    return out;
}

/// A description of what differs, or nothing.
std::string run(const random_program& p, std::uint64_t seed, std::int32_t code, int& fused) {
    std::mt19937_64 random(seed);
    std::vector<bytes> memory;
    auto operands = p.operands;
    const auto tables = extents_of_tables(bound(p, operands));
    for (auto& o : operands) {
        const auto size = static_cast<std::size_t>(lowering::size_of(o.type));
        auto& m = memory.emplace_back(static_cast<std::size_t>(size_of(o)) * size);
        const bool is_input = std::find(p.locals.begin(), p.locals.end(), o.name) == p.locals.end();
        for (std::size_t n = 0; is_input && n * size < m.size(); ++n) {
            if (const auto table = tables.find(o.name); table != tables.end()) {
                const auto entry = std::uniform_int_distribution<std::int64_t>(0, table->second - 1)(random);
                if (size == 4)
                    put(m.data() + n * size, static_cast<std::int32_t>(entry));
                else
                    put(m.data() + n * size, entry);
                continue;
            }
            const auto number = [&] { return std::uniform_int_distribution<int>(-1, 1)(random); };
            put(m.data() + n * size, o.type, number(), number());
        }
        o.data = m.data();
    }
    // There: locals without memory.
    const device where(code);
    auto there = operands;
    std::vector<void*> copies;
    for (std::size_t n = 0; n < there.size(); ++n) {
        there[n].device = code, there[n].data = runtime::allocate(where, memory[n].size() + 1, false);
        runtime::copy(where, there[n].data, cpu(), memory[n].data(), memory[n].size());
        copies.push_back(there[n].data);
    }
    auto program = bound(p, there);
    for (auto& s : program)
        for (auto& a : s.accesses)
            if (const auto local = std::find(p.locals.begin(), p.locals.end(), a.name); local != p.locals.end())
                a.local = static_cast<std::int32_t>(local - p.locals.begin()), a.data = nullptr;
    runtime::run_program(program);
    runtime::placed_program placed;
    if (placed.take(program) && runtime::find_fused(placed)) ++fused;

    for (const auto& s : bound(p, operands)) // here: one after another, by the oracle
        for (const auto expected = evaluate(s); const auto& e : expected.elements)
            put(e.address, s.accesses[0].type, static_cast<double>(e.re), static_cast<double>(e.im));
    std::string report;
    for (std::size_t n = 0; n < there.size(); ++n) {
        const bool is_local = std::find(p.locals.begin(), p.locals.end(), there[n].name) != p.locals.end();
        bytes found(memory[n].size());
        runtime::copy(cpu(), found.data(), where, copies[n], found.size());
        runtime::release(where, copies[n]);
        if (is_local || tables.count(there[n].name) > 0 || are_equal(found, memory[n], there[n].type)) continue;
        report += fmt::format("seed {}: {} differs\n{}\n", seed, there[n].name, p.text());
    }
    return report;
}

struct program_case {
    std::vector<std::string> statements;
    const char *operands, *locals;
};

// What of a chain can go wrong: memory of temporaries that live on both sides of one; locals written in parts, the
// rest of them zero; several steps that write one tensor, as parts, transposed, or an element what another one owns;
// shorter ranges; the other end of an index; a tensor read that another statement has written; a sum that is written
// out around another one, whose factor is another row for each term.
const program_case written_by_hand[] = {
    {{"A(i,e) = W(i,f)*x(f,e)", "t(j,e) = M(j,i)*A(i,e)", "B(k,e) = N(k,j)*t(j,e)", "y(k,l) = B(k,e)*z(l,e)"},
     "A=f64[8,1100] W=f64[8,300] x=f64[300,1100] t=f64[8,1100] M=f64[8,8] B=f64[16,1100] N=f64[16,8] y=f64[16,2] "
     "z=f64[2,1100]",
     "A t B"},
    {{"t(a(0,2),e) = x(a,e)", "t(a(2,4),e) = y(a,e)", "v(b,e) = N(b,a)*t(a,e)"},
     "t=f64[4,1100] x=f64[4,1100] y=f64[4,1100] v=f64[5,1100] N=f64[5,4]",
     "t"},
    {{"t(a(0,2),e) = x(a,e)", "v(b,e) = N(b,a)*t(a,e)"}, "t=f64[4,1100] x=f64[4,1100] v=f64[5,1100] N=f64[5,4]", "t"},
    {{"t(a,e) = M(a,k)*u(k,e)", "v(a,e(0,1100)) = t(a,e)", "v(b,e(0,1100)+b) += N(b,k)*t(k,e)"},
     "t=f64[4,1100] M=f64[4,3] u=f64[3,1100] v=f64[4,1103] N=f64[4,4]",
     "t"},
    {{"t(q,e) = B(q,i)*u(i,e)", "v(a,e) = B(q,a)*t(q,e)", "v(q(0,3),e) = t(q,e)*D(q,e)"},
     "t=f64[3,1100] B=f64[3,4] u=f64[4,1100] v=f64[4,1100] D=f64[3,1100]",
     "t"},
    {{"T(i,j,e) = Z(i,j,e)", "T(i(0,2),j(0,2),e) = X(i,j,e)", "T(j(0,2),i(0,2),e) = Y(i,j,e)",
      "v(i,l,e) = T(i,j,e)*B(j,l)"},
     "T=f64[3,3,1100] Z=f64[3,3,1100] X=f64[3,3,1100] Y=f64[3,3,1100] v=f64[3,4,1100] B=f64[3,4]",
     "T"},
    {{"s(a,e) = M(a,k)*u(k,e)", "w(a,e) = M(a,k)*s(k,e)", "t(i,j,e) = P(i,k)*x(k,j,e)",
      "y(i,j,e(1,1100)) = Q(i,k)*t(k,j,e)"},
     "s=f64[4,1100] M=f64[4,4] u=f64[4,1100] w=f64[4,1100] t=f64[9,2,1100] P=f64[9,9] x=f64[9,2,1100] "
     "y=f64[9,2,1100] Q=f64[9,9]",
     "s t"},
    {{"t(a,e) = M(a,k)*u(k,e)", "v(a,e) = t(a,1099-e)", "w(a,e) = M(a,k)*v(k,e)"},
     "t=f64[4,1100] M=f64[4,4] u=f64[4,1100] v=f64[4,1100] w=f64[4,1100]",
     "t"},
    {{"t(a,e) = M(a,k)*u(k,e)", "t(a,e) -= 2*N(a,k)*t(k,e)", "v(a,f) = t(a,f) + t(3-a,f)"},
     "t=f64[4,1100] M=f64[4,4] N=f64[4,4] u=f64[4,1100] v=f64[4,1100]",
     "t"},
    {{"t(a,e) = M(a,k)*u(k,e)", "t(a,e) = t(a,e)*t(a,e)", "u(a,e) = N(a,k)*t(k,e)"},
     "t=f64[4,1100] M=f64[4,4] N=f64[4,4] u=f64[4,1100]",
     "t"},
    {{"t(k,e) = M(k,j)*u(j,e)", "v(e) = w(b)*relu(B(b,k)*t(k,e))"},
     "t=f64[8,1100] M=f64[8,8] u=f64[8,1100] v=f64[1100] w=f64[4] B=f64[4,8]",
     "t"},
    {{"t(a,b,e) = M(a,k)*u(k,b,e)", "v(a,e) = t(a,a,e)", "w(b,e) = t(a,b,e)*M(a,0)"},
     "t=f64[4,4,1100] M=f64[4,4] u=f64[4,4,1100] v=f64[4,1100] w=f64[4,1100]",
     "t"},
    // what one item has read of a temporary and writes anew others still read: windows of it, steps of several
    {{"t(a,e) = M(a,k)*u(k,e)", "w(i,e) = b(k)*t(i+k,e)", "y(j,e) = N(j,i)*w(i,e)"},
     "t=f64[12,1100] M=f64[12,4] u=f64[4,1100] w=f64[8,1100] b=f64[5] y=f64[6,1100] N=f64[6,8]",
     "t w"},
    {{"t(a,c,e) = M(a,k)*u(k,c,e)", "w(i,c,e) = b(k)*t(i+k,c,e)", "y(j,c,e) = N(j,i)*w(i,c,e)"},
     "t=f64[9,3,1100] M=f64[9,4] u=f64[4,3,1100] w=f64[7,3,1100] b=f64[3] y=f64[6,3,1100] N=f64[6,7]",
     "t w"},
    {{"t(a,e) = M(a,k)*u(k,e)", "s(i,c,e) = t(i+c,e)*D(i,c,e)", "w(i,n,e) = s(i,c,e)*B(c,n)",
      "y(i,n,e) = w(i,n,e) + w(n,i,e)"},
     "t=f64[9,1100] M=f64[9,4] u=f64[4,1100] s=f64[5,5,1100] D=f64[5,5,1100] w=f64[5,5,1100] B=f64[5,5] "
     "y=f64[5,5,1100]",
     "t s w"},
    {{"t(a,e) = M(a,k)*u(k,e)", "w(i(0,2)+2*n,e) = b(k,n)*t(i(0,2)+k,e)", "y(j,e) = N(j,i)*w(i,e)"},
     "t=f64[6,1100] M=f64[6,4] u=f64[4,1100] w=f64[8,1100] b=f64[5,4] y=f64[6,1100] N=f64[6,8]",
     "t w"},
    {{"t(a,e) = M(a,k)*u(k,e)", "w(i(0,4)+4*n,e) = b(k,n)*t(i(0,4)+k,e)", "y(j,e) = N(j,i)*w(i,e)"},
     "t=f64[6,1100] M=f64[6,4] u=f64[4,1100] w=f64[8,1100] b=f64[3,2] y=f64[6,1100] N=f64[6,8]",
     "t w"},
    // slices that one element alone reads and writes: in place, the other way round, added to along another index,
    // read behind, a part of them first
    {{"t(a,e) = M(a,k)*u(k,e)", "u(3-a,e) = N(a,k)*t(k,e)"},
     "t=f64[4,1100] M=f64[4,4] N=f64[4,4] u=f64[4,1100]",
     "t"},
    {{"x(f,r,e) = G(f,q)*u(q,r,e)", "y(q,f,e) = G(f,r)*u(q,r,e)", "v(q,r,e) = G(f,q)*x(f,r,e) + G(f,r)*y(q,f,e)"},
     "x=f64[7,7,1100] y=f64[7,7,1100] G=f64[7,7] u=f64[7,7,1100] v=f64[7,7,1100]",
     "x y"},
    {{"t(a,e) = M(a,k)*u(k,e)", "v(a,e) = N(a,k)*t(k,e)", "v(a,e) += N(k,a)*t(k,e)", "w(a,e) = M(k,a)*v(k,e)"},
     "t=f64[4,1100] M=f64[4,4] N=f64[4,4] u=f64[4,1100] v=f64[4,1100] w=f64[4,1100]",
     "t"},
    {{"t(a,e) = M(a,k)*u(k,e)", "v(a(0,2),e) = t(a,e)", "v(3-a,e) += N(k,a)*t(k,e)"},
     "t=f64[4,1100] M=f64[4,4] N=f64[4,4] u=f64[4,1100] v=f64[4,1100]",
     "t"},
    // a slot that becomes another one: pointwise, and a pencil by what comes of it
    {{"s(a,b,e) = M(a,k)*u(k,b,e)", "t(a,b,e) = N(b,k)*s(a,k,e)", "x(a,b,e) = D(a,b,e)*t(a,b,e) + s(a,b,e)",
      "v(a,b,e) = M(k,a)*x(k,b,e)"},
     "s=f64[4,4,1100] t=f64[4,4,1100] x=f64[4,4,1100] M=f64[4,4] N=f64[4,4] D=f64[4,4,1100] u=f64[4,4,1100] "
     "v=f64[4,4,1100]",
     "s t x"},
    // what is added through tables at the end: in order and by atomics, from what another statement reads too, from
    // a function, twice to one tensor, to what the program reads before or behind
    {{"t(a,e) = M(a,k)*u(k,e)", "w(b,e) = N(b,a)*t(a,e)", "v(l(b,e)) += w(b,e)"},
     "t=f64[4,1100] M=f64[4,4] u=f64[4,1100] w=f64[5,1100] N=f64[5,4] v=f64[700] l=i32[5,1100]",
     "t w"},
    {{"v(n) = 3", "t(a,e) = M(a,k)*u(k,e)", "w(b,e) = N(b,a)*t(a,e)", "v(n) = 1", "v(l(b,e)) += w(b,e)"},
     "t=f64[4,1100] M=f64[4,4] u=f64[4,1100] w=f64[5,1100] N=f64[5,4] v=f64[700] l=i32[5,1100]",
     "t w"},
    // zeros that the additions make themselves: of all elements that they go to, of those and of others that no entry
    // names, where most are such; and zeros of a part, of components, before several additions, by other numbers
    {{"v(n) = 0", "t(a,e) = M(a,k)*u(k,e)", "w(b,e) = N(b,a)*t(a,e)", "v(l(b,e)) += w(b,e)"},
     "t=f64[4,1100] M=f64[4,4] u=f64[4,1100] w=f64[5,1100] N=f64[5,4] v=f64[700] l=i32[5,1100]",
     "t w"},
    {{"t(a,e) = M(a,k)*u(k,e)", "w(b,e) = N(b,a)*t(a,e)", "v(n) = 0", "v(l(b,e)) -= w(b,e)"},
     "t=f64[4,1100] M=f64[4,4] u=f64[4,1100] w=f64[5,1100] N=f64[5,4] v=f64[7000] l=i32[5,1100]",
     "t w"},
    {{"t(a,e) = M(a,k)*u(k,e)", "w(b,e) = N(b,a)*t(a,e)", "v(n) = 0", "v(l(b,e)) += w(b,e)"},
     "t=f32[4,1100] M=f32[4,4] u=f32[4,1100] w=f32[5,1100] N=f32[5,4] v=f32[70000] l=i32[5,1100]",
     "t w"},
    {{"v(n(0,300)) = 0", "t(a,e) = M(a,k)*u(k,e)", "w(b,e) = N(b,a)*t(a,e)", "v(l(b,e)) += w(b,e)"},
     "t=f64[4,1100] M=f64[4,4] u=f64[4,1100] w=f64[5,1100] N=f64[5,4] v=f64[700] l=i32[5,1100]",
     "t w"},
    {{"v(c,n) = 0", "t(a,c,e) = M(a,k)*u(l(k,e),c)", "w(c,b,e) = N(b,a)*t(a,c,e)", "v(c,l(b,e)) += w(c,b,e)"},
     "t=f64[4,3,1100] M=f64[4,4] u=f64[7000,3] w=f64[3,4,1100] N=f64[4,4] v=f64[3,7000] l=i32[4,1100]",
     "t w"},
    {{"v(n,c) = 0", "t(a,c,e) = M(a,k)*u(l(k,e),c)", "w(b,c,e) = N(b,a)*t(a,c,e)", "v(l(b,e),c(1,3)) += w(b,c,e)"},
     "t=f64[4,3,1100] M=f64[4,4] u=f64[700,3] w=f64[4,3,1100] N=f64[4,4] v=f64[700,3] l=i32[4,1100]",
     "t w"},
    {{"v(n) = 0", "t(a,e) = M(a,k)*u(k,e)", "w(b,e) = N(b,a)*t(a,e)", "v(l(b,e)) += w(b,e)", "v(l(b,e)) += 2*w(b,e)",
      "x(n) = v(n)"},
     "t=f64[4,1100] M=f64[4,4] u=f64[4,1100] w=f64[5,1100] N=f64[5,4] v=f64[700] l=i32[5,1100] x=f64[700]",
     "t w"},
    {{"x(n) = v(n)", "v(n) = 0", "t(a,e) = M(a,k)*x(l(k,e))", "w(b,e) = N(b,a)*t(a,e)", "v(l(b,e)) += w(b,e)"},
     "t=f64[4,1100] M=f64[4,4] x=f64[7000] w=f64[4,1100] N=f64[4,4] v=f64[7000] l=i32[4,1100]",
     "t w"},
    {{"t(a,e) = M(a,k)*v(l(k,e))", "w(b,e) = N(b,a)*t(a,e)", "v(n) = 1", "v(l(b,e)) += w(b,e)"},
     "t=f64[4,1100] M=f64[4,4] w=f64[4,1100] N=f64[4,4] v=f64[700] l=i32[4,1100]",
     "t w"},
    {{"t(a,e) = M(a,k)*u(k,e)", "w(b,e) = N(b,a)*t(a,e)", "v(l(b,e)) += w(b,e)", "v(l(b,e)) -= 2*w(b,e)"},
     "t=f64[4,1100] M=f64[4,4] u=f64[4,1100] w=f64[5,1100] N=f64[5,4] v=f64[700] l=i32[5,1100]",
     "t w"},
    {{"t(a,e) = M(a,k)*u(k,e)", "w(e,b) = N(b,a)*t(a,e)", "v(l(e,b)) -= w(e,b)"},
     "t=f64[4,1100] M=f64[4,4] u=f64[4,1100] w=f64[1100,5] N=f64[5,4] v=f64[700] l=i32[1100,5]",
     "t w"},
    {{"t(a,e) = M(a,k)*u(k,e)", "w(b,e) = N(b,a)*t(a,e)", "v(atomic(l)(b,e)) += 2*w(b,e)*relu(w(b,e))"},
     "t=f64[4,1100] M=f64[4,4] u=f64[4,1100] w=f64[5,1100] N=f64[5,4] v=f64[700] l=i32[5,1100]",
     "t w"},
    {{"t(a,e) = M(a,k)*u(k,e)", "v(atomic(l)(a,e)) += t(a,e)", "v(atomic(l)(a,e)) -= N(a,k)*t(k,e)"},
     "t=f64[4,1100] M=f64[4,4] u=f64[4,1100] N=f64[4,4] v=f64[700] l=i32[4,1100]",
     "t"},
    {{"t(a,e) = M(a,k)*v(l(k,e))", "w(b,e) = N(b,a)*t(a,e)", "v(atomic(l)(b,e)) += w(b,e)"},
     "t=f64[4,1100] M=f64[4,4] w=f64[4,1100] N=f64[4,4] v=f64[700] l=i32[4,1100]",
     "t w"},
    {{"t(a,e) = M(a,k)*v(k,e)", "w(b,e) = N(b,a)*t(a,e)", "v(b,atomic(l)(e)) += w(b,e)", "x(a,e) = M(a,k)*v(k,e)"},
     "t=f64[4,1100] M=f64[4,4] w=f64[4,1100] N=f64[4,4] v=f64[4,1100] l=i32[1100] x=f64[4,1100]",
     "t w"},
    {{"t(a,c,e) = M(a,k)*u(l(k,e),c)", "w(b,c,e) = N(b,a)*t(a,c,e)", "v(l(b,e),c) += w(b,c,e)"},
     "t=f64[4,3,1100] M=f64[4,4] u=f64[700,3] w=f64[4,3,1100] N=f64[4,4] v=f64[700,3] l=i32[4,1100]",
     "t w"},
    {{"t(a,e) = M(a,k)*u(k,e)", "w(b,e) = N(b,a)*t(a,e)", "v(l(b,e)) += w(b,e)", "x(b,e) = w(b,e)"},
     "t=f32[4,1100] M=f32[4,4] u=f32[4,1100] w=f32[5,1100] N=f32[5,4] v=f32[3] l=i64[5,1100] x=f32[5,1100]",
     "t w"},
    {{"t(a,e) = M(a,k)*u(k,e)", "w(b,e) = N(b,a)*t(a,e)", "v(l(b,e)) += w(b,e)"},
     "t=f32[4,1100] M=f32[4,4] u=f32[4,1100] w=f32[5,1100] N=f32[5,4] v=f64[700] l=i64[5,1100]",
     "t w"},
};

random_program as_program(const program_case& c) {
    random_program out;
    out.statements = c.statements;
    out.operands = parse_operands(c.operands);
    std::istringstream names(c.locals);
    for (std::string name; names >> name;) out.locals.push_back(name);
    return out;
}

} // namespace

TEST_CASE("programs whose statements must keep out of each other's way agree with the oracle") {
    const auto code = device_under_test();
    std::uint64_t seed = 0;
    int fused = 0;
    for (const auto& c : written_by_hand) {
        const auto report = run(as_program(c), ++seed, code, fused);
        INFO(report);
        CHECK(report.empty());
    }
    CHECK(fused >= 5);
}

TEST_CASE("what is set to 0 before all of it is added to is not written and read first") {
    const device where(device_under_test());
    constexpr std::size_t rows = 5, elements = 40, values = 30;
    auto operands = parse_operands("v=f64[30] w=f64[5,40] l=i32[5,40]");
    std::vector<double> v(values, 7), w, sums(values, 0);
    std::vector<std::int32_t> l;
    for (std::size_t n = 0; n < rows * elements; ++n) {
        w.push_back(static_cast<double>(n % 11));
        l.push_back(static_cast<std::int32_t>(n * 7 % 23)); // some elements get nothing
        sums[static_cast<std::size_t>(l.back())] += w.back();
    }
    const void* const from[] = {v.data(), w.data(), l.data()};
    const std::size_t bytes[] = {v.size() * 8, w.size() * 8, l.size() * 4};
    for (std::size_t o = 0; o < 3; ++o) {
        operands[o].device = where.code(), operands[o].data = runtime::allocate(where, bytes[o], false);
        runtime::copy(where, operands[o].data, cpu(), from[o], bytes[o]);
    }
    for (const char* set : {"v(n) = 0", "v(n) = 2"}) {
        std::vector<lowering::statement> statements;
        for (const char* text : {set, "v(l(b,e)) += w(b,e)"})
            statements.push_back(bind_text(parse_text(text).at(0), operands));
        runtime::placed_program placed;
        REQUIRE(placed.take(statements));
        auto plan = runtime::plan_of(placed, nullptr);
        REQUIRE(plan.steps.size() == 2);
        REQUIRE(plan.steps[1].fill == 0);
        plan.steps[0].op = lowering::assignment::add; // so that what v held shows, if this step runs
        const runtime::executable program(where, plan);
        runtime::copy(where, operands[0].data, cpu(), v.data(), bytes[0]);
        program.launch(placed.joined, placed.statements);
        std::vector<double> found(values), expected;
        runtime::copy(cpu(), found.data(), where, operands[0].data, bytes[0]);
        for (const auto x : sums) expected.push_back(set == std::string_view("v(n) = 0") ? x : 7 + 2 + x);
        CHECK(found == expected);
    }
    for (const auto& o : operands) runtime::release(where, o.data);
}

TEST_CASE("zeros and a product of many operands that adds through a table are one program without locals") {
    int fused = 0;
    const program_case c{{"v(n) = 0", "v(l(a,b,e)) += B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*u(l(i,j,e))"},
                         "v=f64[3000] B=f64[4,3] D=f64[4,4,400] u=f64[3000] l=i32[3,3,400]",
                         ""};
    const auto report = run(as_program(c), 1, device_under_test(), fused);
    INFO(report);
    CHECK(report.empty());
    CHECK(fused == 1);
}

TEST_CASE("random programs agree with the oracle, fused or not") {
    const auto code = device_under_test();
    const auto first = from_environment("RICCI_TEST_SEED", 1);
    const auto count = from_environment("RICCI_TEST_N", RICCI_TEST_COUNT);
    int fused = 0;
    for (auto seed = first; seed < first + count; ++seed) {
        const auto report = run(make_random_program(seed), seed, code, fused);
        INFO(report);
        CHECK(report.empty());
    }
    if (count >= 20) CHECK(fused > static_cast<int>(count) / 4); // else the test would say little of chains
}
