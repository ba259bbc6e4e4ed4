// scattered_test: += and -= through tables with equal entries, through the public interface: values, when a table's
// inverse is built anew, CUDA graphs, what is refused.
#include "dsl/dlpack.hpp"
#include "ricci.hpp"
#include "runtime/inverse_cache.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/fake_gpu.hpp"

#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace {

using namespace ricci::indices;
using ricci::dyn, ricci::tensor, ricci::view;
using ricci::runtime::inverses_built;
using numbers = std::vector<double>;

/// A table and what it adds to, with four entries.
struct example {
    explicit example(ricci::device d = ricci::cpu()) : v(d), w(d), l(d) {
        w.upload({1, 2, 3, 4});
        l.upload({2, 0, 2, 1});
    }
    numbers add() {
        v.fill(0);
        v(l(e)) += w(e);
        return v.download();
    }
    tensor<double, 3> v;
    tensor<double, 4> w;
    tensor<int, 4> l;
};

} // namespace

TEST_CASE("each element gets what all entries that name it stand for") {
    example x;
    CHECK(x.add() == numbers{2, 4, 4});
    x.v(x.l(e)) -= 2 * x.w(e);
    CHECK(x.v.download() == numbers{-2, -4, -4});
    x.v(ricci::atomic(x.l)(e)) += x.w(e) * x.w(e);
    CHECK(x.v.download() == numbers{2, 12, 6});
    x.v(x.l(e(1, 3))) += 100;
    CHECK(x.v.download() == numbers{102, 12, 106});
    x.v(x.l(e)) += x.v(x.l(e)); // each once for every entry that names it, as it was before
    CHECK(x.v.download() == numbers{204, 24, 318});
    tensor<double, 2, 3> m(ricci::cpu());
    m(i, x.l(e)) += x.w(e) * x.w(i(0, 2));
    CHECK(m.download() == numbers{2, 4, 4, 8, 4, 8});
}

TEST_CASE("half numbers are added up in float, and rounded once") {
    tensor<ricci::half, 1> v(ricci::cpu());
    tensor<ricci::half, 4096> w(ricci::cpu());
    const tensor<int, 4096> zeros(ricci::cpu());
    w.fill(ricci::half(1.0f));
    v(zeros(e)) += w(e);
    CHECK(float(v(0)) == 4096);
}

TEST_CASE("a table that ricci alone writes is looked at when it changed, and only then") {
    example x;
    CHECK(x.add() == numbers{2, 4, 4});
    const auto built = inverses_built();
    for (int n = 0; n < 3; ++n) x.add();
    CHECK(inverses_built() == built);
    x.l.upload({0, 0, 0, 1});
    CHECK(x.add() == numbers{6, 4, 0});
    CHECK(inverses_built() == built + 1);
    // A kept expression, and a program, see the table as it is when they run.
    const auto left = x.v(x.l(e));
    const auto marked = ricci::atomic(x.l);
    auto program = ricci::record([&] { x.v(x.l(e)) += x.w(e); });
    x.v.fill(0);
    left += x.w(e);
    x.l.upload({1, 1, 1, 1});
    left += x.w(e);
    CHECK(x.v.download() == numbers{6, 14, 0});
    x.l.upload({2, 2, 2, 2});
    program();
    CHECK(x.v.download() == numbers{6, 14, 10});
    x.l.upload({0, 0, 0, 0});
    x.v(marked(e)) -= x.w(e);
    CHECK(x.v.download() == numbers{-4, 14, 10});
    // Copies and what they are moved to.
    x.l.upload({0, 1, 2, 2});
    auto copy = x.l.copy();
    x.l = std::move(copy);
    CHECK(x.add() == numbers{1, 2, 7});
    x.l = tensor<int, 4>(ricci::cpu());
    CHECK(x.add() == numbers{10, 0, 0});
}

TEST_CASE("a table whose pointer was given out is looked at each time") {
    example x;
    x.add();
    int* const entries = x.l.data();
    CHECK(x.add() == numbers{2, 4, 4});
    entries[1] = 1;
    CHECK(x.add() == numbers{0, 6, 4});
    std::swap(entries[0], entries[1]);
    CHECK(x.add() == numbers{0, 5, 5});
    view<int, 1> whole = x.l;
    const view<const int, 1> reversed(entries + 3, {4}, {-1}, ricci::cpu());
    x.v.fill(0);
    x.v(reversed(e)) += x.w(e);
    x.v(whole(e)) -= x.w(3 - e(0, 4));
    CHECK(x.v.download() == numbers{0, 1 + 4 - 4 - 1, 2 + 3 - 3 - 2});
    whole.data()[0] = 0;
    const auto built = inverses_built();
    CHECK(x.add() == numbers{1, 4, 5});
    CHECK(inverses_built() == built + 1);
    x.add();
    CHECK(inverses_built() == built + 1);
}

TEST_CASE("a table that DLPack shares is looked at each time") {
    example x;
    x.add();
    DLManagedTensor* const shared = ricci::to_dlpack(x.l);
    CHECK(x.add() == numbers{2, 4, 4});
    static_cast<int*>(shared->dl_tensor.data)[0] = 1;
    CHECK(x.add() == numbers{2, 5, 3});
    shared->deleter(shared);
}

TEST_CASE("a table at the address of one that is gone is another one") {
    tensor<double, dyn> v(3000, ricci::cpu()), w(3000, ricci::cpu());
    w.fill(1);
    int same_address = 0;
    const void* last = nullptr;
    for (int n = 0; n < 40; ++n) {
        tensor<int, dyn> l(3000, ricci::cpu());
        const void* const here = std::as_const(l).data();
        same_address += here == last, last = here;
        l.upload(std::vector<int>(3000, n));
        v.fill(0);
        v(l(e)) += w(e);
        CHECK(v(n) == 3000.0);
    }
#ifndef __SANITIZE_ADDRESS__ // which keeps freed memory from being given out again
    CHECK(same_address > 0);
#endif
    // The same by memory that is not ricci's.
    for (int n = 0; n < 100; ++n) {
        const std::vector<int> entries(3000, n);
        v.fill(0);
        v(view<const int, 1>(entries.data(), {3000}, ricci::cpu())(e)) += w(e);
        CHECK(v(n) == 3000.0);
    }
}

TEST_CASE("an entry out of range is refused, whether the table is new or changed") {
    example x;
    x.add();
    x.l.upload({0, 3, 1, 1});
    x.v.fill(7);
    CHECK_THROWS_WITH(x.v(x.l(e)) += x.w(e),
                      Catch::Contains("B(e) at e = 1 is 3, no value for position 1 of A, whose "
                                      "extent is 3"));
    int* const entries = x.l.data();
    entries[1] = -1;
    CHECK_THROWS_WITH(x.v(x.l(e)) += x.w(e), Catch::Contains("at e = 1 is -1"));
    CHECK(x.v.download() == numbers{7, 7, 7});
    CHECK_NOTHROW(x.v(x.l(e(2, 4))) += x.w(e));
}

TEST_CASE("an index that finds a matrix by its pointer cannot stand in a table too") {
    example x;
    numbers memory(12);
    double* const pointers[] = {&memory[0], &memory[3], &memory[6], &memory[9]};
    const ricci::pointer_view<double, 2> P(pointers, {3, 4}, ricci::cpu());
    CHECK_THROWS_WITH(P(x.l(e), e) += x.w(e), Catch::Contains("index e gives the address of a matrix"));
    P(x.l(e), i) += x.w(e);
    CHECK(memory == numbers{2, 4, 4, 2, 4, 4, 2, 4, 4, 2, 4, 4});
}

TEST_CASE("a CUDA graph reads the inverse that there was when it was captured") {
    auto& gpu = ricci::test::register_fake_gpu(-6, "scattering");
    std::optional<example> x(ricci::device(-6));
    const void* lists = nullptr;
    gpu.on_launch = [&](const auto& kernel, auto words) {
        if (kernel.constant.contains("list_axis_count"))
            lists = reinterpret_cast<const void*>(words[words.size() - 4]);
    };
    const auto add = [&] { x->v(x->l(e)) += x->w(e); };
    gpu.is_capturing = true;
    CHECK_THROWS_WITH(add(), Catch::Contains("run the statement once before"));
    gpu.is_capturing = false;
    add();
    const void* const first = lists;
    REQUIRE(first != nullptr);
    gpu.is_capturing = true;
    add();
    CHECK(lists == first);
    gpu.is_capturing = false;
    // What the graph reads stays when the table changes, and when it goes.
    const int before = gpu.pieces;
    x->l.upload({1, 1, 1, 1});
    add();
    CHECK(lists != first);
    CHECK(gpu.pieces == before + 1);
    gpu.is_capturing = true;
    add();
    x->l.data();
    CHECK_NOTHROW(add()); // nothing can be read back: what is kept is taken
    gpu.is_capturing = false;
    x->l.upload({0, 1, 1, 1});
    x.reset();
    CHECK(gpu.pieces == 2);
}

TEST_CASE("explain tells of the second pass") {
    example x;
    std::ostringstream out;
    ricci::explain([&] { x.v(x.l(e)) += x.w(e); }, out);
    CHECK_THAT(out.str(), Catch::Contains("an ordered second pass over 4 entries for at most 3 targets") &&
                              Catch::Contains("takes at most 44 bytes") &&
                              Catch::Contains("form scatter, kernel scatter") && !Catch::Contains("temporary"));
}

TEST_CASE("explain tells of zeros that the second pass sets") {
    example x;
    std::ostringstream out;
    ricci::explain(
        [&] {
            x.v(i) = 0;
            x.v(x.l(e)) += x.w(e);
        },
        out);
    CHECK_THAT(out.str(), Catch::Contains("step 1 sets what step 2 adds to") &&
                              Catch::Contains("; nothing of it where what adds starts from zero instead"));
}
