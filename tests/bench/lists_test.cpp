// lists_test: the lists of the command lines of bench and tune, and what is said of a mistake in one.
#include "bench/lists.hpp"
#include "lowering/error.hpp"
#include "tests/catch.hpp"

#include <functional>
#include <utility>

using namespace ricci;
using namespace ricci::bench;

namespace {

using sizes = std::vector<std::int64_t>;

std::string mistake(const std::function<void()>& f) {
    try {
        f();
    } catch (const error& e) {
        CHECK(e.blame() == blame::statement);
        return e.what();
    }
    return "none";
}

} // namespace

TEST_CASE("sizes: numbers, powers, ranges with steps and factors") {
    CHECK(parse_sizes("8", "--sizes") == sizes{8});
    CHECK(parse_sizes("8,16,24", "--sizes") == sizes{8, 16, 24});
    CHECK(parse_sizes("1..4", "--sizes") == sizes{1, 2, 3, 4});
    CHECK(parse_sizes("1..10:3,64", "--sizes") == sizes{1, 4, 7, 10, 64});
    CHECK(parse_sizes("2^3..2^6:*2", "--sizes") == sizes{8, 16, 32, 64});
    CHECK(parse_sizes("2^62", "--sizes") == sizes{std::int64_t{1} << 62});
    CHECK(parse_sizes("2^61..2^62:*4", "--sizes") == sizes{std::int64_t{1} << 61});
    const char* const wrong[] = {"",
                                 "0",
                                 "-3",
                                 "8,",
                                 "x",
                                 "1..",
                                 "..4",
                                 "5..4",
                                 "1..4:0",
                                 "1..4:*1",
                                 "1..4:x",
                                 "2^63",
                                 "2^x",
                                 "1..2..3",
                                 "8 ",
                                 "99999999999999999999",
                                 "1..1000000000"};
    for (const char* text : wrong) {
        CAPTURE(text);
        CHECK_THAT(mistake([&] { parse_sizes(text, "--sizes"); }),
                   Catch::Matchers::StartsWith("--sizes: '") &&
                       Catch::Matchers::EndsWith("' is no size and no range of sizes; write it like 1..32, 1..128:3, "
                                                 "2^10..2^20:*4 or 8,16,24"));
    }
}

TEST_CASE("sizes between x's") {
    CHECK(read_extents("3x64x2^5x7") == sizes{3, 64, 32, 7});
    CHECK(read_extents("12") == sizes{12});
    for (const char* text : {"", "x", "3x", "3xx4", "0x2", "3x-1", "3x1..4", "a3"}) CHECK(read_extents(text).empty());
}

TEST_CASE("shapes and widths") {
    CHECK(parse_shapes("16x8x24,5x5x5", "--shape") == std::vector<shape>{{16, 8, 24}, {5, 5, 5}});
    CHECK(mistake([] { parse_shapes("16x8", "--shape"); }) == "--shape: '16x8' is no shape; write MxNxK, as 16x8x24");
    CHECK(mistake([] { parse_shapes("1x2x0", "--shape"); }) ==
          "--shape: '1x2x0' is no shape; write MxNxK, as 16x8x24");
    CHECK(parse_products("1..5:2,2^3,24x8x2^2", "--sizes") ==
          std::vector<shape>{{1, 1, 1}, {3, 3, 3}, {5, 5, 5}, {8, 8, 8}, {24, 8, 4}});
    for (const char* text : {"", "8x9", "0", "1x2x0", "8,", "9..3", "1..4x4x4"})
        CHECK_THAT(mistake([&] { parse_products(text, "--sizes"); }),
                   Catch::Matchers::StartsWith("--sizes: '") &&
                       Catch::Matchers::EndsWith("' is no size, no shape and no range of sizes; write it like 1..32, "
                                                 "1..128:3, 2^3..2^6:*2 or 8,16,24x8x4 (m x n x k)"));
    CHECK(parse_widths("1..2,8x3", "--widths") == std::vector<shape>{{1, 1, 0}, {2, 2, 0}, {8, 3, 0}});
    for (const char* text : {"8x", "x", "8x3x2", "0"})
        CHECK(mistake([&] { parse_widths(text, "--widths"); }) ==
              std::string("--widths: '") + text +
                  "' is no width and no pair of widths; write it like 1..64, 8,16 or 8x3");
}

TEST_CASE("types, transpositions, betas, choices") {
    using enum lowering::scalar_type;
    CHECK(parse_types("f64,f16:f32", "--types") == std::vector<type_pair>{{f64, f64}, {f16, f32}});
    CHECK(to_string({f16, f32}) == "f16:f32");
    CHECK(to_string({c128, c128}) == "c128");
    CHECK(mistake([] { parse_types("f63", "--types"); }) ==
          "--types: 'f63' is no type; there are f16, bf16, f32, f64, c64 and c128, and pairs like f16:f32");
    CHECK(mistake([] { parse_types("c64:f32", "--types"); }) ==
          "--types: 'c64:f32' would store complex sums as real numbers; let both be complex");
    CHECK(parse_transpositions("NN,TC", "--transpose") == std::vector<operations>{{'N', 'N'}, {'T', 'C'}});
    for (const char* text : {"N", "XN", "NNN", "nt", ""})
        CHECK(mistake([&] { parse_transpositions(text, "--transpose"); }) ==
              std::string("--transpose: '") + text +
                  "' is no pair of transpositions; write two letters of N, T and C (conjugated), for A and B, as NT");
    CHECK(parse_betas("0,1", "--beta") == std::vector<bool>{false, true});
    CHECK(mistake([] { parse_betas("2", "--beta"); }) ==
          "--beta: '2' is no beta; there are 0 (C = A*B) and 1 (C += A*B)");
    CHECK(parse_choices("b,a", "--order", {"a", "b"}) == std::vector<std::string>{"b", "a"});
    CHECK(mistake([] { parse_choices("c", "--order", {"a", "b"}); }) == "--order: there is no 'c'; there are a, b");
}

TEST_CASE("bytes") {
    CHECK(parse_bytes("2GB", "--bytes") == 2'000'000'000);
    CHECK(parse_bytes("1.5MB", "--bytes") == 1'500'000);
    CHECK(parse_bytes("4096", "--bytes") == 4096);
    CHECK(parse_bytes("3B", "--bytes") == 3);
    CHECK(parse_bytes("4KiB", "--bytes") == 4096);
    CHECK(parse_bytes("1.5G", "--bytes") == 1'500'000'000);
    CHECK(parse_bytes("1TB", "--bytes") == 1'000'000'000'000);
    for (const char* text : {"", "GB", "-1GB", "2 GB", "1e99GB", "0", "0.1", "nan", "2XB", "2iB", "99999999999TB"})
        CHECK(mistake([&] { parse_bytes(text, "--bytes"); }) ==
              std::string("--bytes: '") + text + "' is no number of bytes; write it like 2GB, 1.5MB, 4KiB or 4096");
}
