// view_test: the user's memory, with any strides, from pointers, tensors and things shaped like std::mdspan.
#include "ricci.hpp"

#include "tests/catch.hpp"
#include "tests/dsl/captured.hpp"

using namespace ricci::indices;
using ricci::view;

namespace {

/// Shaped like std::mdspan with layout_stride.
template <class T, std::size_t Rank>
struct strided_span {
    using element_type = T;
    using reference = T&;
    struct extents_type {
        std::array<int, Rank> values;
        constexpr int extent(std::size_t r) const { return values[r]; }
    };
    T* data;
    extents_type sizes;
    std::array<int, Rank> steps;

    static constexpr std::size_t rank() { return Rank; }
    T* data_handle() const { return data; }
    const extents_type& extents() const { return sizes; }
    int stride(std::size_t r) const { return steps[r]; }
};

/// The same with the stride in a mapping only.
struct mapped_span {
    using element_type = const float;
    struct mapping_type {
        std::size_t stride(std::size_t r) const { return r == 0 ? 10 : 1; }
    };
    struct extents_type {
        std::size_t extent(std::size_t r) const { return r + 2; }
    };
    const float* data;

    static constexpr std::size_t rank() { return 2; }
    const float* data_handle() const { return data; }
    extents_type extents() const { return {}; }
    mapping_type mapping() const { return {}; }
};

/// An accessor that scales: its elements are not what lies in memory.
struct scaled_span : strided_span<double, 1> {
    using reference = double;
};
static_assert(!ricci::dsl::mdspan_like<scaled_span>);
static_assert(!ricci::dsl::mdspan_like<std::vector<double>>);

} // namespace

TEST_CASE("a view says what it was told") {
    double memory[24] = {};
    const view<double, 2> v(memory + 23, {4, 6}, {-6, -1}, ricci::cpu());
    CHECK(v.data() == memory + 23);
    CHECK(v.extents() == std::array<std::int64_t, 2>{4, 6});
    CHECK(v.strides() == std::array<std::int64_t, 2>{-6, -1});
    CHECK((v.rank == 2 && v.extent(1) == 6 && v.size() == 24));
    const auto s = captured([&] { v(i, 0) = v(i, j); });
    CHECK(s.accesses[0].data == memory + 23);
    CHECK((s.positions[0].stride == -6 && s.positions[0].extent == 4));
    const view<const double, 2> read_only = v;
    CHECK(read_only.data() == v.data());
}

TEST_CASE("views of tensors") {
    ricci::tensor<float, 3, 4> A(ricci::cpu());
    const view<float, 2> v = A;
    CHECK(v.data() == A.data());
    CHECK(v.strides() == A.strides());
    const auto& constant = A;
    const view<const float, 2> c = constant;
    CHECK(c.data() == A.data());
    static_assert(!std::is_convertible_v<const ricci::tensor<float, 3, 4>&, view<float, 2>>);
}

TEST_CASE("views of what is shaped like std::mdspan") {
    double memory[60];
    const strided_span<double, 3> m{memory, {{3, 4, 5}}, {20, 5, 1}};
    const view v(m);
    static_assert(std::is_same_v<decltype(v), const view<double, 3>>);
    CHECK(v.data() == memory);
    CHECK(v.extents() == std::array<std::int64_t, 3>{3, 4, 5});
    CHECK(v.strides() == std::array<std::int64_t, 3>{20, 5, 1});
    const view<const double, 3> c(m, ricci::cpu());
    CHECK(c.extent(2) == 5);
    const float floats[13] = {};
    const view w(mapped_span{floats});
    static_assert(std::is_same_v<decltype(w), const view<const float, 2>>);
    CHECK(w.strides() == std::array<std::int64_t, 2>{10, 1});
    CHECK(w.extents() == std::array<std::int64_t, 2>{2, 3});
}

TEST_CASE("views of dense memory") {
    double memory[24] = {};
    using strides = std::array<std::int64_t, 3>;
    CHECK(view<double, 3>(memory, {2, 3, 4}).strides() == strides{1, 2, 6});
    CHECK(view<double, 3>(memory, {2, 3, 4}, ricci::cuda()).strides() == strides{1, 2, 6});
    CHECK(view<double, 3>(memory, {2, 3, 4}, ricci::cuda()).device() == ricci::cuda());
    CHECK(view<double, 3>(memory, {2, 3, 4}, ricci::row_major).strides() == strides{12, 4, 1});
    CHECK(view<double, 3>(memory, {2, 3, 4}, ricci::row_major, ricci::cuda()).device() == ricci::cuda());
    CHECK(view<double, 3>(memory, {2, 0, 4}, ricci::row_major).strides() == strides{4, 4, 1});
    // Braces are strides, also where they could be a device.
    CHECK(view<double, 1>(memory, {4}, {-1}).strides()[0] == -1);
    CHECK(view<double, 0>(memory, {}).size() == 1);
    CHECK_THROWS_WITH((view<double, 2>(memory, {-1, 3}, ricci::row_major)),
                      "extent 1 of a tensor with extents -1 x 3 is negative: -1");
}

TEST_CASE("extents that cannot be, in a view") {
    double x = 0;
    CHECK_THROWS_AS((view<double, 1>(&x, {-2}, {1})), ricci::error);
    CHECK_THROWS_AS((view<double, 2>(&x, {std::int64_t{1} << 40, std::int64_t{1} << 40}, {0, 0})), ricci::error);
}

TEST_CASE("fill through strides, negative and zero ones among them") {
    float memory[12] = {};
    view<float, 2>(memory + 11, {2, 3}, {-1, -4}).fill(5);
    for (int n = 0; n < 12; ++n) CHECK(memory[n] == (n % 4 >= 2 ? 5 : 0));
    view<float, 2>(memory, {2, 100}, {1, 0}).fill(7);
    CHECK((memory[0] == 7 && memory[1] == 7 && memory[2] == 5));
}
