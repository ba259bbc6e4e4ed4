// tensor_test: what an owning tensor is, holds and refuses.
#include "ricci.hpp"

#include "tests/catch.hpp"
#include "tests/dsl/captured.hpp"

#include <boost/hana/equal.hpp>
#include <boost/hana/size.hpp>

#include <numeric>

using namespace ricci::indices;
using namespace ricci::literals;
using ricci::cpu, ricci::dyn, ricci::tensor;

static_assert(!std::is_copy_constructible_v<tensor<double, 4>> && !std::is_copy_assignable_v<tensor<double, 4>>);
static_assert(std::is_nothrow_move_constructible_v<tensor<double, 4>>);
static_assert(tensor<double, 4, dyn, 2>::rank == 3);
static_assert(ricci::dsl::hana::size(tensor<double, 4, dyn>::static_extents()) == ricci::dsl::hana::size_c<2>);
static_assert(tensor<double, 4, dyn>::static_extents()[0_c] == 4_c);

TEST_CASE("extents come from the type and from the arguments, first index fastest") {
    const tensor<double, dyn, 8, dyn> A(5, 3u, cpu());
    CHECK((A.extent(0) == 5 && A.extent(1) == 8 && A.extent(2) == 3));
    CHECK(A.extents() == std::array<std::int64_t, 3>{5, 8, 3});
    CHECK(A.strides() == std::array<std::int64_t, 3>{1, 5, 40});
    CHECK(A.size() == 120);
    CHECK(A.device() == cpu());
    CHECK(tensor<float>(cpu()).size() == 1);
}

TEST_CASE("make_tensor puts constants into the type") {
    const int count = 7;
    const auto T = ricci::make_tensor<float>(64_c, count, 2_c, cpu());
    static_assert(std::is_same_v<decltype(T), const tensor<float, 64, dyn, 2>>);
    CHECK(T.extents() == std::array<std::int64_t, 3>{64, 7, 2});
}

TEST_CASE("all extents at once") {
    using matrix = tensor<float, 4, dyn>;
    CHECK(matrix(std::array<std::int64_t, 2>{4, 6}, cpu()).size() == 24);
    CHECK_THROWS_WITH(matrix(std::array<std::int64_t, 2>{5, 6}, cpu()),
                      "extent 1 of a tensor is 5, but its type says 4");
}

TEST_CASE("elements are zero, and go to and from the host") {
    tensor<float, 2, dyn> A(3, cpu());
    CHECK(A.download() == std::vector<float>(6));
    std::vector<float> values(6);
    std::iota(values.begin(), values.end(), 1.0f);
    A.upload(values);
    CHECK(A.download() == values);
    CHECK(A.data()[3] == 4);
    const auto B = A.copy();
    CHECK(B.data() != A.data());
    CHECK(B.download() == values);
    CHECK(A.to(cpu()).download() == values);
    CHECK_THROWS_WITH(A.upload(std::vector<float>(5)),
                      "upload of 5 elements into a tensor with extents 2 x 3, which has 6");
    CHECK_THROWS_WITH(tensor<float>(cpu()).upload({}), "upload of 0 elements into a tensor of rank 0, which has 1");
    CHECK(A.download() == values);
}

TEST_CASE("moving takes the memory along") {
    tensor<double, 4> A(cpu());
    const double* data = A.data();
    tensor<double, 4> B = std::move(A);
    CHECK(B.data() == data);
    CHECK(A.data() == nullptr);
    CHECK(A.download().empty());
    A = std::move(B);
    CHECK(A.data() == data);
    auto& same = A;
    A = std::move(same);
    CHECK(A.data() == data);
    tensor<double, 4> C(ricci::uninitialized, cpu());
    CHECK(C.data() != nullptr);
}

TEST_CASE("extents that cannot be") {
    using matrix = tensor<double, dyn, dyn>;
    CHECK_THROWS_WITH(matrix(-1, 3, cpu()), "extent 1 of a tensor with extents -1 x 3 is negative: -1");
    CHECK_THROWS_WITH((tensor<double, dyn>(-3, cpu())), "extent 1 of a tensor with extents -3 is negative: -3");
    CHECK_THROWS_WITH(matrix(3, std::numeric_limits<std::uint64_t>::max(), cpu()),
                      "an extent or a position does not fit 64 bits");
    const std::int64_t big = std::int64_t{1} << 32;
    CHECK_THROWS_AS(matrix(big, big, cpu()), ricci::error);
    CHECK_THROWS_AS(matrix(std::int64_t{1} << 60, 1, cpu()), ricci::error); // the elements fit, their bytes do not
    CHECK_THROWS_AS((tensor<double, dyn, dyn, dyn>(big, big, 0, cpu())), ricci::error);
}

TEST_CASE("zero extents") {
    tensor<double, 3, dyn> A(0, cpu());
    CHECK(A.size() == 0);
    CHECK(A.download().empty());
    A.upload({});
    CHECK(A.copy().size() == 0);
}

TEST_CASE("fill is a statement") {
    tensor<std::complex<float>, 2, dyn> A(3, cpu());
    const auto s = captured([&] { A.fill({1, 2}); });
    CHECK(s.accesses[0].data == A.data());
    CHECK(positions_of(s, 0) == std::vector<std::string>{"1*i0 + 0"});
    CHECK((s.positions[0].extent == 6 && s.positions[0].stride == 1));
    CHECK((s.scalars[0].real == 1 && s.scalars[0].imaginary == 2 && s.scalars[0].complex));
    A.fill(3);
    CHECK(A.download() == std::vector<std::complex<float>>(6, 3));
}
