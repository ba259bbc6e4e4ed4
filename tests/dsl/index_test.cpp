// index_test: indices, ranges and affine arithmetic; nearly all of it at compile time.
#include "dsl/index.hpp"
#include "dsl/index_set.hpp"

#include "tests/catch.hpp"

#include <limits>
#include <type_traits>

using namespace ricci::indices;
namespace dsl = ricci::dsl;
using dsl::as_position, dsl::sign, dsl::term, dsl::index_name, dsl::position;

static_assert(std::is_same_v<ricci::index<"el">::name, index_name<'e', 'l'>>);
static_assert(std::is_same_v<ricci::idx<"el">, ricci::index<"el">>);
static_assert(ricci::index<"el">::name::view == "el");

// An index alone and an index with a range are plain; whatever was calculated is not.
static_assert(decltype(as_position(i))::plain && as_position(i).terms[0].begin == ricci::lowering::no_range);
static_assert(decltype(m(1, 9))::plain && m(1, 9).terms[0].begin == 1 && m(1, 9).terms[0].end == 9);
static_assert(!decltype(i + 0)::plain && !decltype(1 * i)::plain && !decltype(as_position(3))::plain);
static_assert(as_position(3).offset == 3 && as_position(3u).count == 0);

static_assert(std::is_same_v<decltype(y + r - 1), position<false, term<index_name<'y'>, sign::plus, false>,
                                                           term<index_name<'r'>, sign::plus, false>>>);
static_assert(std::is_same_v<decltype(4 * t - u(0, 4)), position<false, term<index_name<'t'>, sign::unknown, false>,
                                                                 term<index_name<'u'>, sign::minus, true>>>);
constexpr auto strided = 4 * t - u(0, 4) + 7;
static_assert(strided.offset == 7 && strided.terms[0].coefficient == 4 && strided.terms[1].coefficient == -1);
static_assert(strided.terms[1].begin == 0 && strided.terms[1].end == 4);
constexpr auto reversed = 5 - (x - 2) * 3;
static_assert(reversed.offset == 11 && reversed.terms[0].coefficient == -3);
static_assert((-x + 5).offset == 5 && (-x + 5).terms[0].coefficient == -1);
static_assert((-(2 - x)).offset == -2 && (-(2 - x)).terms[0].coefficient == 1);
static_assert(decltype(i + i)::count == 2);
static_assert(!dsl::linear<bool> && !dsl::position_argument<bool> && !dsl::position_argument<double>);

// The indices of C(i, j) += A(i, 2*k) * B(k, j): left first, in order of appearance.
template <char C, std::int64_t Extent, bool Plain = true, bool Ranged = false>
using at = dsl::occurrence<index_name<C>, Extent, Plain, Ranged, sign::plus, 0>;
using product =
    dsl::statement_indices<dsl::occurrence_list<at<'i', 4>, at<'j', ricci::dyn>>,
                           dsl::occurrence_list<at<'i', 4>, at<'k', ricci::dyn, false>, at<'k', 6>, at<'j', 5>>>;
static_assert(product::names::count == 3 && product::names::views[2] == "k");
static_assert(product::numbers == std::array<std::int32_t, 6>{0, 1, 0, 2, 2, 1});
static_assert(product::extents == std::array<std::int64_t, 3>{4, 5, 6});
static_assert(product::unbounded == -1);
using open =
    dsl::statement_indices<dsl::occurrence_list<at<'i', 4>>, dsl::occurrence_list<at<'k', ricci::dyn, false>>>;
static_assert(open::unbounded == 1 && std::is_same_v<open::name<open::unbounded>, index_name<'k'>>);
using nothing = dsl::statement_indices<dsl::occurrence_list<>, dsl::occurrence_list<>>;
static_assert(nothing::names::count == 0 && nothing::unbounded == -1);

TEST_CASE("coefficients and offsets may come at run time") {
    volatile int three = 3;
    const int stride = three;
    const auto p = stride * t + stride - u;
    CHECK(p.offset == stride);
    CHECK(p.terms[0].coefficient == stride);
    CHECK(p.terms[1].coefficient == -1);
}

TEST_CASE("arithmetic beyond 64 bits is refused") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
    CHECK((i + most).offset == most);
    CHECK_THROWS_AS(i + most + 1, ricci::error);
    CHECK_THROWS_AS(i - least, ricci::error);
    CHECK_THROWS_AS(-(i + least), ricci::error);
    CHECK_THROWS_AS(3 * (most * i), ricci::error);
    CHECK_THROWS_AS(i + std::numeric_limits<std::uint64_t>::max(), ricci::error);
}
