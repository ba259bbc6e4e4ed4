// fuzz_test: random bytes and mutated statements; only ricci::error may come out. RICCI_TEST_N inputs, from fixed
// seeds.
#include "tests/catch.hpp"
#include "tests/text/try_text.hpp"

#include <array>
#include <cstdlib>
#include <random>
#include <string>

using ricci::tests::reached;
using ricci::tests::try_text;

namespace {

int test_count(int otherwise) {
    const char* n = std::getenv("RICCI_TEST_N");
    return n ? std::atoi(n) : otherwise;
}

constexpr const char* seeds[] = {"C(i,j) = A(i,k)*B(k,j)",
                                 "A(i, j, m(1, 9), n(1, 8)) -= A(i, k, m, 0) * A(k, j, 0, n)",
                                 "O(b,k,y,x) = relu(D(b,c,y+r,x+s)*F(k,c,r,s) + bias(k))",
                                 "O(k,y(0,8),x(0,8)) = padded(D)(c,y+r-1,x+s-1)*F(k,c,r,s)",
                                 "V(u,v,c,x,y,b) = Bt(u,p)*Bt(v,q)*D(c, 4*x+p, 4*y+q, b)",
                                 "v(a,b,c,e) = B(q,a)*B(r,b)*B(s,c)*D(q,r,s,e)*B(q,i)*B(r,j)*B(s,k)*u(i,j,k,e)",
                                 "s() += 2.5e-1*x(i)*y(i) - conj(z(i))/2i; t = s()*s()",
                                 "y(i) = max(min(a(i), 1), -a(i)) + exp(sqrt(abs(b(j))))",
                                 "A(i,i) = 1; # diagonal\nB(10 - 2*i(0,4), 3) = A(i,0) // more",
                                 "C(i) = (A(i) + B(i))*(A(i) - B(i))/(A(i)*B(i) + 1)"};

constexpr const char* tokens[] = {"(",
                                  ")",
                                  ",",
                                  "=",
                                  "+=",
                                  "-=",
                                  "+",
                                  "-",
                                  "*",
                                  "/",
                                  ";",
                                  "i",
                                  "j",
                                  "k",
                                  "A",
                                  "B",
                                  "0",
                                  "1",
                                  "9",
                                  "2.5",
                                  "1e9",
                                  "2i",
                                  "m(1,9)",
                                  "padded(",
                                  "conj(",
                                  "relu(",
                                  "exp(",
                                  "min(",
                                  "9223372036854775807",
                                  "4294967296",
                                  "#",
                                  "//",
                                  "\n",
                                  " ",
                                  "A(i,j)",
                                  "B(j)",
                                  ".",
                                  "\xff"};

/// One change to `text`: a byte or a token put in, taken out, replaced, or a piece copied.
void mutate(std::string& text, std::mt19937& random) {
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
    case 0:
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
    case 1:
        text.insert(at, tokens[below(std::size(tokens))]);
        break;
    case 2:
        text.erase(at, 1 + below(4));
        break;
    case 3:
        text.replace(at, std::min<std::size_t>(text.size() - at, below(4)), tokens[below(std::size(tokens))]);
        break;
    case 4:
        text.insert(at, text.substr(below(text.size() + 1), below(20)));
        break;
    default:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
    }
}

} // namespace

TEST_CASE("any bytes are refused or planned, nothing else", "[fuzz]") {
    const int count = test_count(20'000);
    std::array<int, 4> outcomes{};
    for (int n = 0; n < count; ++n) {
        std::mt19937 random(static_cast<std::uint32_t>(n));
        std::string text;
        if (n % 8 == 0) {
            for (std::size_t length = random() % 64; length > 0; --length) text += static_cast<char>(random());
        } else if (n % 8 == 1) {
            for (std::size_t length = random() % 32; length > 0; --length)
                text += tokens[random() % std::size(tokens)];
        } else {
            text = seeds[random() % std::size(seeds)];
            for (std::size_t changes = random() % 6; changes > 0; --changes) mutate(text, random);
        }
        try {
            ++outcomes[static_cast<std::size_t>(try_text(text, static_cast<std::uint32_t>(n)))];
        } catch (const std::exception& e) {
            FAIL("input " << n << " (" << text << ") threw " << e.what());
        }
    }
    // The inputs are worth something only if every outcome is common.
    CAPTURE(outcomes[0], outcomes[1], outcomes[2], outcomes[3]);
    for (const int outcome : outcomes) CHECK(outcome > count / 100);
}
