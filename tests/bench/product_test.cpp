// product_test: layouts, bytes, the statement of a product, what a BLAS is given, and which points are measured.
#include "bench/batched_bench.hpp"
#include "bench/cpu_facts.hpp"
#include "bench/element_walk.hpp"
#include "bench/peers/gemm_call.hpp"
#include "bench/product.hpp"
#include "bench/statement_product.hpp"
#include "bench/stratified.hpp"
#include "bench/tall_skinny_bench.hpp"
#include "dsl/text.hpp"
#include "lowering/error.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <set>

using namespace ricci;
using namespace ricci::bench;
using enum lowering::scalar_type;

namespace {

constexpr type_pair doubles{f64, f64};

std::string mistake(const batched_options& o) {
    try {
        points_of(o, 1000);
    } catch (const error& e) {
        return e.what();
    }
    return "none";
}

} // namespace

TEST_CASE("a product's statement names the fastest index of each tensor first") {
    CHECK(text_of(make_batched({3, 4, 5}, doubles, {'N', 'N'}, {}, true, 9)) == "C(i,j,e) += A(i,k,e)*B(k,j,e)");
    CHECK(text_of(make_batched({3, 4, 5}, doubles, {'T', 'C'}, {}, false, 9)) == "C(i,j,e) = A(k,i,e)*B(j,k,e)");
    CHECK(text_of(make_batched({3, 4, 5}, {c64, c64}, {'C', 'N'}, {}, false, 9)) ==
          "C(i,j,e) = conj(A(k,i,e))*B(k,j,e)");
    CHECK(text_of(make_batched({3, 4, 5}, doubles, {'N', 'T'}, {layout::interleaved, 1}, true, 9)) ==
          "C(e,i,j) += A(e,i,k)*B(e,j,k)");
    CHECK(text_of(make_batched({3, 4, 5}, doubles, {'N', 'N'}, {layout::shared, 0}, true, 9)) ==
          "C(i,j,e) += A(i,k,e)*B(k,j)");
    CHECK(text_of(make_batched({3, 4, 5}, doubles, {'N', 'N'}, {layout::shared_a, 0}, true, 9)) ==
          "C(i,j,e) += A(i,k)*B(k,j,e)");
    CHECK(text_of(make_tall_skinny(tall_kind::atb, 99, {3, 4, 0}, doubles, true, false, 0)) ==
          "C(i,j) = A(k,i)*B(k,j)");
    CHECK(text_of(make_tall_skinny(tall_kind::atb, 99, {3, 4, 0}, doubles, false, false, 0)) ==
          "C(i,j) = A(i,k)*B(j,k)");
    CHECK(text_of(make_tall_skinny(tall_kind::ab, 99, {3, 4, 0}, doubles, false, true, 0)) ==
          "C(j,i) += A(k,i)*B(k,j)");
}

TEST_CASE("bytes, flops and memory") {
    const product p = make_batched({3, 4, 5}, {f16, f32}, {'N', 'N'}, {}, true, 10);
    CHECK(bytes_of(p) == 10 * (2 * 15 + 2 * 20 + 2 * 4 * 12));
    CHECK(touched_bytes_of(p) == bytes_of(p));
    CHECK(flops_of(p) == 10 * 2 * 60);
    CHECK(flops_of(make_batched({3, 4, 5}, {c64, c64}, {'N', 'N'}, {}, true, 10)) == 10 * 8 * 60);
    CHECK(compute_type(p) == f32);
    CHECK(footprint_of(p) == 10 * (2 * 15 + 2 * 20 + 4 * 12));
    CHECK(bytes_of(make_batched({3, 4, 5}, doubles, {'N', 'N'}, {layout::shared, 0}, false, 10)) ==
          8 * (150 + 20 + 120));
    // Columns of 64 bytes, 72 apart: every sector but one in nine is touched, most by two columns.
    const product padded = make_batched({8, 8, 8}, doubles, {'N', 'N'}, {layout::contiguous, 1}, false, 1000);
    CHECK(footprint_of(padded) == 3 * 8 * 9 * 8 * 1000);
    CHECK(touched_bytes_of(padded) == Approx(static_cast<double>(footprint_of(padded))));
    // 64 bytes, 128 apart: nothing more than the elements.
    const product apart = make_batched({8, 8, 8}, doubles, {'N', 'N'}, {layout::contiguous, 8}, false, 1000);
    CHECK(touched_bytes_of(apart) == bytes_of(apart));
    CHECK(bytes_of(make_tall_skinny(tall_kind::atb, 1000, {3, 4, 0}, doubles, true, false, 0)) == 8 * (7000 + 12));
    const std::int64_t batch = batch_for_bytes(p, 1'000'000);
    CHECK(batch == 1'000'000 / 166);
    CHECK(batch_for_bytes(p, 1) == 1);
}

TEST_CASE("elements are walked in the order of memory") {
    const element_walk walk =
        walk_of(make_batched({3, 4, 5}, doubles, {'T', 'N'}, {layout::interleaved, 1}, true, 9));
    CHECK(walk.extent == std::array<std::int64_t, 3>{9, 3, 4});
    CHECK(walk.elements == 9 * 12);
    CHECK(walk.stride[0] == std::array<std::int64_t, 3>{1, 10, 30});
    CHECK(walk.stride[1] == std::array<std::int64_t, 3>{1, 50, 0});
    CHECK(walk.stride[2] == std::array<std::int64_t, 3>{1, 0, 50});
}

TEST_CASE("what a BLAS is given") {
    const auto plain = gemm_call_of(make_batched({3, 4, 5}, doubles, {'N', 'T'}, {layout::contiguous, 1}, true, 9));
    REQUIRE(plain);
    CHECK_FALSE(plain->swapped);
    CHECK((plain->m == 3 && plain->n == 4 && plain->k == 5 && plain->count == 9));
    CHECK((plain->a.operation == 'N' && plain->a.leading == 4 && plain->a.batch_stride == 20));
    CHECK((plain->b.operation == 'T' && plain->b.leading == 5 && plain->b.batch_stride == 25));
    CHECK((plain->c.leading == 4 && plain->c.batch_stride == 16));
    CHECK_FALSE(as_one_gemm(*plain));

    // By row: C^T = B^T*A^T.
    const auto rows = gemm_call_of(make_tall_skinny(tall_kind::ab, 99, {3, 4, 0}, doubles, false, false, 0));
    REQUIRE(rows);
    CHECK(rows->swapped);
    CHECK((rows->m == 4 && rows->n == 99 && rows->k == 3));
    CHECK((rows->a.operation == 'T' && rows->a.leading == 3));
    CHECK((rows->b.operation == 'N' && rows->b.leading == 3 && rows->c.leading == 4));

    CHECK_FALSE(gemm_call_of(make_batched({3, 4, 5}, doubles, {'N', 'N'}, {layout::interleaved, 0}, true, 9)));
    const auto conjugated = gemm_call_of(make_batched({3, 4, 5}, {c64, c64}, {'C', 'N'}, {}, true, 9));
    REQUIRE(conjugated);
    CHECK(conjugated->a.operation == 'C');

    const auto shared = gemm_call_of(make_batched({3, 4, 5}, doubles, {'N', 'N'}, {layout::shared_a, 0}, true, 9));
    REQUIRE(shared);
    const auto one = as_one_gemm(*shared);
    REQUIRE(one);
    CHECK((one->n == 36 && one->count == 1));
}

TEST_CASE("a statement that is a product is seen to be one") {
    lowering::machine chip;
    chip.kind = lowering::target::cuda;
    const auto bound = [](const char* text, std::vector<text_operand> operands) {
        std::intptr_t at = 4096;
        for (auto& o : operands) o.data = reinterpret_cast<void*>(at), at += 1 << 20;
        return bind_text(parse_text(text).front(), operands);
    };
    const text_operand A{"A", f64, {8, 9, 10}, {1, 8, 72}}, B{"B", f64, {9, 7, 10}, {1, 9, 63}},
        C{"C", f64, {8, 7, 10}, {1, 8, 56}};
    const auto batched = product_of(bound("C(i,j,e) += A(i,k,e)*B(k,j,e)", {A, B, C}), chip);
    REQUIRE(batched);
    const product& p = batched->p;
    const bool upright = p.m == 8; // which operand plays A is the lowering's choice
    CHECK((upright ? p.n == 7 : p.m == 7 && p.n == 8));
    CHECK((p.k == 9 && p.batch == 10 && p.batched && p.accumulate));
    CHECK((upright ? p.a : p.b).batch_stride == 72);
    const auto fixed = product_of(bound("C(i,j,3) = A(i,k,2)*B(k,j,1)", {A, B, C}), chip);
    CHECK_FALSE(fixed); // C does not begin at its first element
    const auto slices = product_of(bound("C(i,j,0) = A(i,k,2)*B(k,j,1)", {A, B, C}), chip);
    REQUIRE(slices);
    CHECK((slices->offset[0] + slices->offset[1] == 144 + 63 && slices->p.batch == 1 && !slices->p.accumulate));
    CHECK_FALSE(product_of(bound("C(i,j,e) -= A(i,k,e)*B(k,j,e)", {A, B, C}), chip));
    CHECK_FALSE(product_of(bound("C(i,j,e) += 2*A(i,k,e)*B(k,j,e)", {A, B, C}), chip));
    CHECK_FALSE(product_of(bound("C(i,j,e) = A(i,0,e) + B(0,j,e)", {A, B, C}), chip));
}

TEST_CASE("a sweep has every point once, a sample is drawn evenly and the same for a seed") {
    batched_options o;
    o.sizes = "2..4", o.shapes = "3x5x7", o.types = "f64,f16:f32", o.transpositions = "NN,TT", o.betas = "0,1",
    o.layouts = "contiguous,shared";
    const auto all = points_of(o, 1'000'000);
    CHECK(all.size() == 4 * 2 * 2 * 2 * 2);
    CHECK(all.front().size == shape{2, 2, 2});
    CHECK(all.front().batch == 1'000'000 / 96);
    o.batch = "1,10";
    CHECK(points_of(o, 1).size() == 2 * all.size());

    batched_options s;
    s.sample = 120, s.types = "f64,f32,f16", s.transpositions = "NN,NT,TN,TT", s.bytes = "8GB";
    const auto drawn = points_of(s, 1);
    REQUIRE(drawn.size() == 120);
    CHECK(drawn == points_of(s, 1));
    std::set<std::int64_t> sizes;
    std::array<int, 5> decades{};
    for (const auto& p : drawn) {
        sizes.insert(p.size.m);
        CHECK((p.size.m == p.size.n && p.size.n == p.size.k && p.size.m >= 1 && p.size.m <= 128));
        CHECK((p.batch >= 1 && p.batch <= 100'000));
        ++decades[std::min<std::size_t>(4,
                                        static_cast<std::size_t>(std::log10(static_cast<double>(p.batch) + 1e-9)))];
    }
    CHECK(sizes.size() >= 100); // one of each of 120 parts of 128 sizes
    CHECK(*sizes.begin() <= 2);
    CHECK(*sizes.rbegin() >= 127);
    for (const int many : decades) CHECK(std::abs(many - 24) <= 8);
    for (const type_pair types : {type_pair{f64, f64}, type_pair{f32, f32}, type_pair{f16, f16}})
        CHECK(std::count_if(drawn.begin(), drawn.end(), [&](const auto& p) { return p.types == types; }) == 40);
    s.seed = 2;
    CHECK(drawn != points_of(s, 1));
    s.rectangular = true;
    const auto rectangles = points_of(s, 1);
    CHECK(std::any_of(rectangles.begin(), rectangles.end(),
                      [](const auto& p) { return p.size.m != p.size.n && p.size.n != p.size.k; }));
    s.bytes = "1MB";
    for (const auto& p : points_of(s, 1))
        CHECK((p.batch == 1 ||
               bytes_of(make_batched(p.size, p.types, p.ops, {p.order, 0}, p.accumulate, p.batch)) <= 1e6));
}

TEST_CASE("in the caches: as many products as their memory holds; a full sample draws no batch") {
    batched_options o;
    o.sizes = "2..32", o.types = "f64,f32", o.betas = "0,1", o.layouts = "contiguous,shared", o.cache = 1 << 20;
    for (const auto& p : points_of(o, 1)) {
        const auto memory = [&](std::int64_t batch) {
            return footprint_of(make_batched(p.size, p.types, p.ops, {p.order, 0}, p.accumulate, batch));
        };
        CAPTURE(p.size.m, p.batch);
        CHECK((memory(p.batch) <= 1 << 20 && memory(p.batch + 1) > 1 << 20));
    }
    o.sizes = "512";
    CHECK(points_of(o, 1).front().batch == 1);
    batched_options s;
    s.sample = 40, s.sizes = "2..32", s.rectangular = true, s.full = true, s.bytes = "1MB";
    for (const auto& p : points_of(s, 1)) {
        const double each = bytes_of(make_batched(p.size, p.types, p.ops, {}, p.accumulate, 1));
        CHECK(p.batch == static_cast<std::int64_t>(1e6 / each));
    }
    CHECK(in_cache_bytes(cpu()) > 0);
    CHECK_THROWS_WITH(in_cache_bytes(device(1)), Catch::Matchers::StartsWith("--in-cache measures a CPU"));
}

TEST_CASE("the first numbers of a sample, on every machine") {
    const auto x = stratified(4, 1, 0);
    std::vector<int> parts;
    for (const double each : x) parts.push_back(static_cast<int>(each * 4));
    CHECK(std::set<int>(parts.begin(), parts.end()) == std::set<int>{0, 1, 2, 3});
    CHECK(x == stratified(4, 1, 0));
    CHECK(x != stratified(4, 1, 1));
}

TEST_CASE("what the options of a sweep get wrong") {
    batched_options o;
    o.layouts = "heap";
    CHECK(mistake(o) ==
          "--layout: there is no 'heap'; there are contiguous, interleaved, shared, shared-a, gathered, pointers");
    o.layouts = "contiguous", o.batch = "3", o.bytes = "1MB";
    CHECK(mistake(o) == "--batch and --bytes both say how many products there are: leave one out");
    o.batch = "", o.cache = 1000;
    CHECK(mistake(o) == "--in-cache and --bytes both say how much a point takes: leave one out");
    o.batch = "3", o.cache = 0, o.sample = 3;
    CHECK(mistake(o) == "--sample draws the batch counts: leave --batch out");
}

TEST_CASE("points of tall-skinny products") {
    tall_skinny_options o;
    o.heights = "2^10..2^12:*2", o.widths = "1..2,8x3", o.orders = "column,row";
    const auto all = points_of(o);
    CHECK(all.size() == 2 * 2 * 3 * 3);
    CHECK(all.front() == tall_point{tall_kind::atb, 1024, {1, 1, 0}, doubles, true, false});
    CHECK(all.back() == tall_point{tall_kind::ab, 4096, {8, 3, 0}, doubles, false, false});
    o.kinds = "abt";
    CHECK_THROWS_WITH(points_of(o), "--kind: there is no 'abt'; there are atb, ab");
}
