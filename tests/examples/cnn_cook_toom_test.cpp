// cnn_cook_toom_test: the transforms of F(m, r) are exact, are those of the literature, and refuse wrong points.
#include "examples/cnn/winograd/cook_toom.hpp"
#include "tests/catch.hpp"

#include <stdexcept>
#include <string>

using cnn::cook_toom, cnn::rational;

namespace {

/// sum_u At(i,u) G(u,s) Bt(u,p) must be 1 where p = i + s, else 0: then y_i = sum_s d_(i+s) g_s for all d and g.
bool is_filtering(const cnn::transforms& t) {
    for (int i = 0; i < t.m; ++i)
        for (int s = 0; s < t.r; ++s)
            for (int p = 0; p < t.a(); ++p) {
                rational sum = 0;
                for (int u = 0; u < t.a(); ++u) sum += t.At(i, u) * t.G(u, s) * t.Bt(u, p);
                if (sum != (p == i + s ? 1 : 0)) return false;
            }
    return true;
}

/// A matrix as text, a row in brackets.
std::string text(const cnn::exact_matrix& x) {
    std::string result;
    for (int i = 0; i < x.rows; ++i) {
        result += "[";
        for (int j = 0; j < x.columns; ++j) result += (j ? " " : "") + x(i, j).str();
        result += "]";
    }
    return result;
}

std::string complaint(int m, int r, const std::vector<rational>& points) {
    try {
        cook_toom(m, r, points);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("Cook-Toom's transforms are filtering, exactly, for m to 6 and r to 5") {
    for (int m = 1; m <= 6; ++m)
        for (int r = 1; r <= 5; ++r) {
            CAPTURE(m, r);
            const auto t = cook_toom(m, r);
            CHECK((t.At.rows == m && t.At.columns == m + r - 1));
            CHECK((t.G.rows == m + r - 1 && t.G.columns == r));
            CHECK((t.Bt.rows == m + r - 1 && t.Bt.columns == m + r - 1));
            CHECK(is_filtering(t));
        }
    CHECK(is_filtering(cook_toom(4, 3, {0, 1, -1, {1, 2}, -2})));
    CHECK(is_filtering(cook_toom(3, 2, {{7, 3}, {-22, 7}, 5})));
    CHECK(!is_filtering([] {
        auto t = cook_toom(4, 3);
        t.Bt(2, 1) += rational(1, 1000000);
        return t;
    }()));
}

TEST_CASE("F(2,3), F(4,3) and F(6,3) are those of the literature") {
    // A. Lavin, S. Gray, CVPR 2016; github.com/andravin/wincnn.
    const auto f2 = cook_toom(2, 3);
    CHECK(text(f2.At) == "[1 1 1 0][0 1 -1 1]");
    CHECK(text(f2.G) == "[1 0 0][1/2 1/2 1/2][1/2 -1/2 1/2][0 0 1]");
    CHECK(text(f2.Bt) == "[1 0 -1 0][0 1 1 0][0 -1 1 0][0 -1 0 1]");
    const auto f4 = cook_toom(4, 3);
    CHECK(text(f4.At) == "[1 1 1 1 1 0][0 1 -1 2 -2 0][0 1 1 4 4 0][0 1 -1 8 -8 1]");
    CHECK(text(f4.G) == "[1/4 0 0][-1/6 -1/6 -1/6][-1/6 1/6 -1/6][1/24 1/12 1/6][1/24 -1/12 1/6][0 0 1]");
    CHECK(text(f4.Bt) == "[4 0 -5 0 1 0][0 -4 -4 1 1 0][0 4 -4 -1 1 0][0 -2 -1 2 1 0][0 2 -1 -2 1 0][0 4 0 -5 0 1]");
    // With points to +-1/2, as other libraries have it; the rows of +-1 are also seen with both signs changed.
    const auto f6 = cook_toom(6, 3);
    CHECK(text(f6.At) == "[1 1 1 1 1 1 1 0][0 1 -1 2 -2 1/2 -1/2 0][0 1 1 4 4 1/4 1/4 0][0 1 -1 8 -8 1/8 -1/8 0]"
                         "[0 1 1 16 16 1/16 1/16 0][0 1 -1 32 -32 1/32 -1/32 1]");
    CHECK(text(f6.G) == "[1 0 0][-2/9 -2/9 -2/9][-2/9 2/9 -2/9][1/90 1/45 2/45][1/90 -1/45 2/45]"
                        "[32/45 16/45 8/45][32/45 -16/45 8/45][0 0 1]");
    CHECK(text(f6.Bt) == "[1 0 -21/4 0 21/4 0 -1 0][0 1 1 -17/4 -17/4 1 1 0][0 -1 1 17/4 -17/4 -1 1 0]"
                         "[0 1/2 1/4 -5/2 -5/4 2 1 0][0 -1/2 1/4 5/2 -5/4 -2 1 0][0 2 4 -5/2 -5 1/2 1 0]"
                         "[0 -2 4 5/2 -5 -1/2 1 0][0 -1 0 21/4 0 -21/4 0 1]");
}

TEST_CASE("wrong points have one message each") {
    CHECK(complaint(0, 3, {}) == "F(0, 3): m and r must be at least 1");
    CHECK(complaint(2, -1, {}) == "F(2, -1): m and r must be at least 1");
    CHECK(complaint(4, 3, {0, 1, -1}) == "F(4, 3) takes m + r - 2 = 5 points beside infinity, not 3");
    CHECK(complaint(2, 3, {0, 1, -1, 2}) == "F(2, 3) takes m + r - 2 = 3 points beside infinity, not 4");
    CHECK(complaint(2, 3, {0, {1, 2}, {2, 4}}) == "F(2, 3): points 1 and 2 (counted from 0) are both 1/2");
    CHECK_THROWS_WITH(cook_toom(0, 1), "F(0, 1): m and r must be at least 1");
    CHECK_THROWS_WITH(cook_toom(8, 8), "there are 9 default points, not 14: give your own");
}
