// covering: a list of statements that between them make every kernel family meet every type and layout.
#include "tests/kernels/covering.hpp"

#include "lowering/lower.hpp"
#include "runtime/executable.hpp"
#include "tests/bound_text.hpp"
#include "tests/gathered_case.hpp"
#include "tests/kernels/matrix_problem_statement.hpp"

#include <algorithm>
#include <array>

namespace ricci::tests {
namespace {

/// Types of the left side and of the operands A and B.
struct type_triple {
    const char *c, *a, *b;
};

constexpr type_triple wide_types[] = {
    {"f64", "f64", "f64"}, {"f32", "f32", "f32"}, {"c128", "c128", "c128"}, {"c64", "c64", "c64"}};
constexpr type_triple half_types[] = {{"f16", "f16", "f16"}, {"bf16", "bf16", "bf16"}};
constexpr type_triple mixed_types[] = {{"f32", "f16", "f16"}, {"f64", "f32", "bf16"}, {"c128", "f64", "c64"}};
constexpr type_triple real_types[] = {{"f64", "f64", "f64"}, {"f32", "f32", "f32"}, {"f16", "f32", "bf16"}};
constexpr type_triple few_types[] = {{"f64", "f64", "f64"}, {"c64", "c64", "c64"}, {"bf16", "f16", "bf16"}};

constexpr type_triple large_types[] = {{"f64", "f64", "f64"},
                                       {"f32", "f32", "f32"},
                                       {"c128", "c128", "c128"},
                                       {"c64", "c64", "c64"},
                                       {"bf16", "bf16", "bf16"}};

constexpr type_triple float_types[] = {{"f32", "f32", "f32"}, {"c64", "c64", "c64"}};

struct pattern {
    const char *statement, *operands;
};

// $c, $a and $b stand for the types. Extents are odd and differ, so that blocks and tiles end in the middle.
constexpr pattern batched_small_all[] = {
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=$c[5,6,11] A=$a[5,7,11] B=$b[7,6,11]"},
    {"C(e,i,j) -= 2*A(e,i,k)*B(e,k,j)", "C=$c[37,3,2] A=$a[37,3,5] B=$b[37,5,2]"},
    {"C(i,j,f,e) = conj(A(k,i,e))*B(j,k,f)", "C=$c[4,3,2,9] A=$a[6,4,9] B=$b[3,6,2]"},
    {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=$c[17,33,3] A=$a[17,20,3] B=$b[20,33,3]"},
};
constexpr pattern batched_lanes_all[] = {
    {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=$c[67,18,11] A=$a[67,18,23] B=$b[67,23,11]"},
};
constexpr pattern batched_lanes_few[] = {
    {"C(e,j,i) = 2*A(e,k,i)*B(e,j,k)", "C=$c[64,33,40] A=$a[64,34,40] B=$b[64,33,34]"},
    {"C(e,i,j,f) -= A(e,i,k,f)*B(e,k,j,f)", "C=$c[37,9,10,3] A=$a[37:1,9:39,12:360,3:4800] B=$b[37,12,10,3]"},
    {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=$c[66:1,9:70,10:700] A=$a[66:0,9:1,12:9] B=$b[66:1,12:68,10:-831]"},
    {"C(e,i,j) = A(e,i,k,l)*B(e,l,k,j)", "C=$c[67,9,10] A=$a[67,9,3,5] B=$b[67,5,3,10]"},
};
constexpr pattern batched_small_few[] = {
    {"C(i,j,e) = A(k,i,e)*B(k,j,e)", "C=$c[5,6,11] A=$a[7,5,11] B=$b[7,6,11]"},
    {"C(i,j,e) = A(i,k,e)*B(j,k,e)", "C=$c[5,6,11] A=$a[5,7,11] B=$b[6,7,11]"},
    {"C(j,i,e) = A(k,i,e)*B(j,k,e)", "C=$c[6,5,11] A=$a[7,5,11] B=$b[6,7,11]"},
    {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=$c[5:1,6:8,11:50] A=$a[5:1,7:6,11:45] B=$b[7:2,6:15,11:100]"},
    {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=$c[5:-1,6:5,11:30] A=$a[5:7,7:-1,11:35] B=$b[7:1,6:7,11:-42]"},
    {"C(i,e,j,f) = A(i,k,l,f,e)*B(l,k,e,j)", "C=$c[3,4,5,2] A=$a[3,2,3,2,4] B=$b[3,2,4,5]"},
    {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=$c[64,61,2] A=$a[64,63,2] B=$b[63,61,2]"},
    {"C(i,j,e,f) -= A(i,k,e,f)*B(j,k,f)", "C=$c[16,8,3:200,4:600] A=$a[16:1,8:20,3:160,4:480] B=$b[8,8,4]"},
};
// By tables: runs at any alignment, lines, packed; of the left; broadcast, several batch axes and tables.
constexpr pattern gathered_all[] = {
    {"C(i,j,e) += A(i,k,p(e))*B(k,j,e)", "C=$c[5,6,11] A=$a[5,7,9] B=$b[7,6,11] p=i32[11]"},
    {"C(i,j,distinct(p)(e)) -= 2*A(i,k,e)*B(k,j,q(e))", "C=$c[9,8,13] A=$a[9,3,11] B=$b[3,8,4] p=i64[11] q=i32[11]"},
};
constexpr pattern gathered_few[] = {
    {"C(i,j,e) = A(k,i,p(e))*conj(B(j,k,p(e)))", "C=$c[16,24,5] A=$a[16,16,3] B=$b[24,16,3] p=i64[5]"},
    {"C(i,j,e,f) = A(i,k,p(f,e))*B(k,j,f)", "C=$c[5,4,3,4] A=$a[5,6,7] B=$b[6,4,4] p=i32[4,3]"},
    {"C(i,j,e) = A(p(e),i,k)*B(k,j)", "C=$c[5,6,40] A=$a[9,5,7] B=$b[7,6] p=i32[40]"},
    {"C(distinct(p)(e(0,40)),i,j) += A(k,i,p(e+1))*B(k,j,q(2*e))",
     "C=$c[70,4,6] A=$a[5,4,70] B=$b[5,6,9] p=i64[41] q=i64[80]"},
    {"C(i,j,e) += A(i,k,p(e))*B(k,j,e)", "C=$c[64:1,64:64,3:4096] A=$a[64,64,2] B=$b[64,64,3] p=i32[3]"},
    {"C(i,j,e) = A(i,p(k),e)*B(q(k),j,e)", "C=$c[5,6,7] A=$a[5,4,7] B=$b[9,6,7] p=i32[12] q=i64[12]"},
    {"C(i,j,e) -= A(i,k,p(e))*B(k,j,e)", "C=$c[97,101,2] A=$a[97,85,3] B=$b[85,101,2] p=i32[2]"},
    {"C(i,distinct(q)(j)) -= 2*A(p(i),k)*B(k,j)", "C=$c[1100,70] A=$a[9,61] B=$b[61,64] p=i64[1100] q=i32[64]"},
};
// Adding through tables with equal entries, in their order and by atomics; scatter_test has more of them.
constexpr pattern scattered_few[] = {
    {"C(j,l(2*e+1),k) += conj(A(e,j)) + B(k)", "C=$c[37,9,2] A=$a[11,37] B=$b[2] l=i64[23]"},
    {"C(atomic(l)(i,e)) -= A(i,e)", "C=$c[40] A=$a[8,30] l=i32[8,30]"},
};
constexpr pattern batched_large_few[] = {
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=$c[97,101,2] A=$a[97,85,2] B=$b[85,101,2]"},
    {"C(i,j,e) = 2*A(k,i,e)*B(j,k,e)", "C=$c[128,90,2] A=$a[96,128,2] B=$b[90,96,2]"},
    {"C(j,i,e) -= A(i,k,e)*B(k,j,e)", "C=$c[120,90,2] A=$a[90:3,100:280,2:28000] B=$b[100:121,120:1,2:12200]"},
};
constexpr pattern tall_skinny_all[] = {
    {"C(i,j) += A(k,i)*B(k,j)", "C=$c[3,5] A=$a[1501,3] B=$b[1501,5]"},
    {"C(i,j) = conj(A(i,k))*B(j,k)", "C=$c[3,5] A=$a[3,1501] B=$b[5,1501]"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=$c[1501,5] A=$a[1501,3] B=$b[3,5]"},
    {"C(j,i) -= 3*A(k,i)*B(j,k)", "C=$c[9,1501] A=$a[4,1501] B=$b[9,4]"},
};
constexpr pattern tall_skinny_few[] = {
    {"s() = A(k)*B(k)", "s=$c[] A=$a[5003] B=$b[5003]"},
    {"C(i,j) = A(k,i)*B(k,j)", "C=$c[33:40,40:1] A=$a[2053:1,33:2100] B=$b[2053:41,40:1]"},
    {"C(i) = A(k,i)*B(k)", "C=$c[17] A=$a[1501,17] B=$b[1501:-1]"},
    {"C(i) = A(i,k)*B(k)", "C=$c[1501] A=$a[1501,17] B=$b[17]"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=$c[2053,33] A=$a[2053,31] B=$b[31:33,33:1]"},
    {"C(i,j) += A(i,k)*B(k,j)", "C=$c[2048:-8,8:1] A=$a[2048,4] B=$b[4,8]"},
    {"C(i,j) += A(i,k)*B(k,j)", "C=$c[1544,24] A=$a[1544,31] B=$b[31,24]"},
    {"C(i,j) -= A(i,k)*B(k,j)", "C=$c[1032,4] A=$a[1032,3] B=$b[3,4]"},
    {"C(i,l,j,m) = A(i,l,k)*B(k,j,m)", "C=$c[64,32:64,3:2048,3:6145] A=$a[64,32,4] B=$b[4,3,3]"},
};
constexpr pattern atb_large[] = {
    {"C(i,j) -= 2*A(k,i)*B(k,j)", "C=$c[24,17] A=$a[2064,24] B=$b[2064,17]"},
    {"C(i,j) += A(i,k)*B(j,k)", "C=$c[16,24] A=$a[16,2050] B=$b[24,2050]"},
    {"C(j,i) = A(k,i)*B(j,k)", "C=$c[64,61] A=$a[2053,61] B=$b[64,2053]"},
};
// Several steps that are one kernel; chain_cases.hpp has more of them.
constexpr pattern chain_few[] = {
    {"v(a,b,c,e) = B(q,a)*B(r,b)*B(s,c)*D(q,r,s,e)*B(q,i)*B(r,j)*B(s,k)*u(i,j,k,e)",
     "v=$c[2,2,2,37] B=$b[3,2] D=$a[3,3,3,37] u=$a[2,2,2,37]"},
};
constexpr pattern direct_all[] = {
    {"C(i,j) = 2*A(i,j) - B(j)", "C=$c[13,7] A=$a[13,7] B=$b[7]"},
    {"C(k,i,j) += A(i,j,k)", "C=$c[3,5,4] A=$a[5,4,3]"},
    {"C(i) = A(i,k)", "C=$c[3] A=$a[3,1000]"},
    {"C(i) -= A(k,i)*A(k,i)", "C=$c[19] A=$a[100,19]"},
};
constexpr pattern direct_real[] = {
    {"C(i,j) = relu(A(i,k)*B(k,j) + B(1,j)) + max(A(i,0), 0)", "C=$c[5,4] A=$a[5,3] B=$b[3,4]"},
    {"C(y,x) = padded(A)(y+r-1,x+s-1)*B(r,s)", "C=$c[9,8] A=$a[9,8] B=$b[3,3]"},
    {"padded(C)(2*y+u-1) = A(y,u) + min(B(y), 1)", "C=$c[9] A=$a[5,2] B=$b[5]"},
    {"C(i) = A(i,i,k,k) + B(i(1,4)-1)", "C=$c[5] A=$a[5,5,3,3] B=$b[3]"},
};

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

void add(std::vector<covering_case>& out, const pattern& p, const type_triple& t, bool by_address = false,
         lowering::math_mode math = lowering::math_mode::full) {
    covering_case c{p.statement, p.operands, by_address, math};
    replace_all(c.operands, "$c", t.c);
    replace_all(c.operands, "$a", t.a);
    replace_all(c.operands, "$b", t.b);
    out.push_back(std::move(c));
}

template <class Cases, class Types>
void add(std::vector<covering_case>& out, const Cases& cases, const Types& types, bool by_address = false,
         lowering::math_mode math = lowering::math_mode::full) {
    for (const auto& t : types)
        for (const pattern& p : cases) add(out, p, t, by_address, math);
}

/// Each pattern with every second type.
template <class Cases, class Types>
void add_by_turns(std::vector<covering_case>& out, const Cases& cases, const Types& types) {
    for (std::size_t t = 0; t < std::size(types); ++t)
        for (std::size_t c = t % 2; c < std::size(cases); c += 2) add(out, cases[c], types[t]);
}

/// With all types, of which what is mixed is computed as one of the others is.
template <class Cases>
void add_all(std::vector<covering_case>& out, const Cases& cases) {
    add(out, cases, wide_types);
    add(out, cases, half_types);
    add_by_turns(out, cases, mixed_types);
}

} // namespace

std::vector<covering_case> covering_list() {
    std::vector<covering_case> out;
    add_all(out, batched_small_all);
    for (const auto& t : mixed_types) add(out, batched_lanes_all[0], t);
    add(out, batched_lanes_all, wide_types);
    add(out, batched_lanes_all, half_types);
    add(out, batched_lanes_few, few_types);
    add(out, batched_small_few, few_types);
    add(out, batched_large_few, large_types);
    add_all(out, gathered_all);
    add_by_turns(out, gathered_few, few_types);
    for (const auto& p : {batched_small_all[0], batched_small_few[6], batched_large_few[0]})
        add(out, std::array{p}, few_types, true);
    add_all(out, tall_skinny_all);
    add(out, tall_skinny_few, few_types);
    add(out, atb_large, large_types);
    add(out, std::array{batched_small_all[3], tall_skinny_few[6]}, std::array{float_types[0]}, false,
        lowering::math_mode::tf32);
    add(out, std::array{batched_large_few[0]}, std::array{float_types[1]}, false, lowering::math_mode::tf32);
    add(out, chain_few, std::array{few_types[0]});
    add(out, direct_all, wide_types);
    add_by_turns(out, direct_all, half_types);
    add_by_turns(out, direct_all, mixed_types);
    add(out, direct_real, real_types);
    add(out, std::array{scattered_few[0]}, std::array{few_types[1]});
    add(out, std::array{scattered_few[1]}, std::array{few_types[0]});
    return out;
}

std::vector<matrix_problem> covering_problems() {
    using lowering::routine, lowering::scalar_type;
    constexpr scalar_type types[] = {scalar_type::f64, scalar_type::f32, scalar_type::c128, scalar_type::c64};
    constexpr matrix_layout layouts[] = {matrix_layout::dense, matrix_layout::row_major, matrix_layout::interleaved,
                                         matrix_layout::padded, matrix_layout::reversed};
    std::vector<matrix_problem> out;
    std::size_t turn = 0;
    const auto add = [&](routine what, std::int64_t m, std::int64_t n, std::int64_t r, std::int64_t batch) {
        matrix_problem p;
        p.what = what, p.m = m, p.n = n, p.r = r, p.batch = batch;
        p.type = types[turn % std::size(types)];
        p.layout = layouts[turn % std::size(layouts)], p.sides = layouts[(turn + 1) % std::size(layouts)];
        p.apart = turn % 2 == 0 || what == routine::form_q, p.wide = turn % 3 == 0;
        p.conjugated = !lowering::factors_in_place(what) && what != routine::inverse && turn % 3 == 1;
        p.seed = ++turn;
        out.push_back(p);
    };
    // In registers, each by all types and layouts; in shared memory, in panels.
    for (std::size_t n = 0; n < std::size(layouts); ++n) {
        add(routine::cholesky, 5, 5, 1, 37);
        add(routine::lu, 7, 5, 1, 37);
        add(routine::qr, 7, 5, 1, 37);
    }
    for (const auto what : {routine::lu, routine::qr}) {
        add(what, 70, 5, 1, 2), add(what, 70, 6, 1, 2);
        add(what, 330, 6, 1, 2), add(what, 330, 5, 1, 2);
    }
    add(routine::cholesky, 66, 66, 1, 2);
    // Factored and solved for at once.
    add(routine::solve, 6, 6, 3, 37), add(routine::solve, 5, 5, 1, 37);
    add(routine::least_squares, 9, 5, 2, 19), add(routine::inverse, 5, 5, 1, 19);
    add(routine::log_determinant, 5, 5, 1, 19);
    out.back().positive = true;
    // With factors: by a thread, by lanes, by a block for each matrix.
    add(routine::cholesky_solve, 5, 5, 2, 37), add(routine::lu_solve, 5, 5, 1, 37);
    add(routine::triangular_solve, 9, 9, 3, 37), add(routine::qr_solve, 9, 5, 2, 37);
    add(routine::apply_q, 9, 5, 2, 37), add(routine::form_q, 9, 5, 4, 37);
    add(routine::lu_solve, 90, 90, 3, 2), add(routine::qr_solve, 90, 80, 2, 2);
    // In a warp's part of shared memory, and one matrix after another through a block's.
    for (const auto type : types) {
        add(routine::lu, 26, 21, 1, 5);
        out.back().type = type, out.back().layout = matrix_layout::padded;
    }
    const auto add_as = [&](scalar_type type, routine what, std::int64_t n, std::int64_t r) {
        add(what, n, n, r, 5);
        out.back().type = type, out.back().layout = out.back().sides = matrix_layout::dense;
        out.back().conjugated = is_complex(type) && what == routine::solve;
    };
    add_as(scalar_type::f64, routine::lu, 32, 1), add_as(scalar_type::c64, routine::lu, 33, 1);
    add_as(scalar_type::c128, routine::solve, 20, 2), add_as(scalar_type::f32, routine::log_determinant, 24, 1);
    add(routine::lu, 69, 69, 1, 2);
    out.back().type = scalar_type::f64;
    add(routine::lu_solve, 9, 9, 2, 37);
    out.back().adjoint = true;
    return out;
}

random_case make_case(const covering_case& c, std::uint64_t seed) {
    random_case out;
    out.seed = seed;
    out.text = c.statement + " with " + c.operands + (c.math == lowering::math_mode::tf32 ? " in tf32\n" : "\n");
    std::mt19937_64 random(seed);
    auto operands = parse_operands(c.operands);
    out.memory.reserve(operands.size()); // addresses of the buffers' memory must last
    for (auto& o : operands) {
        std::int64_t low = 0, high = 0;
        for (std::size_t p = 0; p < o.extents.size(); ++p) {
            const auto reach = o.strides[p] * (o.extents[p] - 1);
            (reach < 0 ? low : high) += reach;
        }
        const auto size = lowering::size_of(o.type);
        const auto bytes = static_cast<std::size_t>((high - low + 1) * size);
        auto& buffer = out.memory.emplace_back(bytes + static_cast<std::size_t>(c.behind));
        auto* const first = buffer.data() + c.behind;
        if (!lowering::is_index(o.type)) fill_random({first, bytes}, o.type, random, fill::integers);
        o.data = first - low * size;
    }
    out.s = bind_text(parse_text(c.statement).at(0), operands);
    out.s.math = c.math;
    fill_tables(out.s, random);
    if (c.by_address) {
        const auto accesses = out.s.accesses.size(); // before tables come behind them
        for (std::size_t a = 0; a < accesses; ++a) gather_by_address(out, a, out.s.accesses[a].position_count - 1);
    }
    return out;
}

std::set<std::pair<std::string, std::string>> covering_sources(const lowering::machine& chip) {
    std::set<std::pair<std::string, std::string>> out;
    const auto add = [&](const lowering::statement& s, bool dynamic) {
        for (const auto& request : runtime::executable::requests(lowering::lower(s, chip, {}, dynamic), chip))
            for (const auto* kernel : runtime::kernels_of(request)) out.emplace(kernel->source, kernel->entry);
    };
    std::uint64_t seed = 0;
    for (const auto& c : covering_list()) {
        const auto made = make_case(c, ++seed);
        for (const bool dynamic : {false, true})
            if (!dynamic || seed % 10 == 0) add(made.s, dynamic);
    }
    seed = 0;
    for (const auto& p : covering_problems()) {
        const problem_operands operands(p);
        std::vector<std::byte*> data;
        for (auto* b : operands.buffers()) data.push_back(b->data());
        const auto s = operands.call(0, data);
        for (const bool dynamic : {false, true})
            if (!dynamic || ++seed % 10 == 0) add(s, dynamic);
    }
    return out;
}

} // namespace ricci::tests
