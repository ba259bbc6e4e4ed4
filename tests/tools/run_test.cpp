// run_test: `ricci run` from files to files, and all that it must refuse.
#include "runtime/half.hpp"
#include "tests/catch.hpp"
#include "tests/tools/command.hpp"
#include "tests/tools/folder.hpp"
#include "tests/tools/npy_files.hpp"

#include <fmt/format.h>

using namespace ricci;
using namespace ricci::tests;
using lowering::scalar_type;

namespace {

/// Runs `ricci run arguments...` in `f`, which must succeed.
outcome run(const folder& f, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    auto o = ricci_command(arguments, {f.path(), {}});
    INFO(o.err);
    CHECK(o.code == 0);
    CHECK(o.err.empty());
    return o;
}

/// `run` must end with `code`, say `message`, and leave every file as it was.
void refused(const folder& f, std::vector<std::string> arguments, int code, const std::string& message) {
    CAPTURE(fmt::format("{}", fmt::join(arguments, " | ")));
    arguments.insert(arguments.begin(), "run");
    const auto before = f.contents();
    const auto o = ricci_command(arguments, {f.path(), {}});
    CHECK(o.code == code);
    CHECK_THAT(o.err, Catch::Contains(message));
    CHECK(o.out.empty());
    CHECK(f.contents() == before);
}

/// a.npy = [1 3 5; 2 4 6] (2 x 3), b.npy = [1 4; 2 5; 3 6] (3 x 2)
void write_operands(const folder& f) {
    write_array(f / "a.npy", {2, 3}, counting(6));
    write_array(f / "b.npy", {3, 2}, counting(6));
}

constexpr const char* gemm = "C(i,j) = A(i,k)*B(k,j)";

} // namespace

TEST_CASE("a product is made in a new file, in Fortran order") {
    const folder f;
    write_operands(f);
    const auto o = run(f, {gemm, "A=a.npy", "B=b.npy", "C=c.npy"});
    CHECK(o.out == "C = f64[2,2] in c.npy\n");
    const auto c = read_array(f / "c.npy");
    CHECK(c.header.type == scalar_type::f64);
    CHECK(c.header.fortran_order);
    CHECK(c.header.extents == std::vector<std::int64_t>{2, 2});
    CHECK(c.values<double>() == std::vector<double>{22, 28, 49, 64});
    CHECK(f.contents().size() == 3);
}

TEST_CASE("C order, big-endian and format 2.0 files are read, and a result stays what it was") {
    const folder f;
    write_operands(f);
    std::string dictionary = "{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3)}";
    std::string bytes("\x93NUMPY\x02\x00", 8);
    bytes += static_cast<char>(dictionary.size());
    bytes += std::string(3, '\0') + dictionary;
    for (const double value : {1.0, 3.0, 5.0, 2.0, 4.0, 6.0}) {
        const char* first = reinterpret_cast<const char*>(&value);
        bytes.append(std::make_reverse_iterator(first + 8), std::make_reverse_iterator(first));
    }
    write_bytes(f / "big.npy", bytes); // its data begin at an odd byte
    run(f, {gemm, "A=big.npy", "B=b.npy", "C=c.npy"});
    CHECK(read_array(f / "c.npy").values<double>() == std::vector<double>{22, 28, 49, 64});

    run(f, {"A(i,j) += 1", "A=big.npy"});
    const auto a = read_array(f / "big.npy");
    CHECK(a.header.fortran_order);
    CHECK_FALSE(a.header.swapped);
    CHECK(a.values<double>() == std::vector<double>{2, 3, 4, 5, 6, 7});
}

TEST_CASE("every type that an .npy file holds is read, computed with and written") {
    const folder f;
    const half halves[] = {1, 2, 3};
    const float floats[] = {1, 2, 3};
    const std::complex<float> complexes[] = {{0, 1}, {1, 0}, {2, 2}};
    const std::complex<double> wide[] = {{0, 1}, {1, 0}, {2, 2}};
    tools::write_npy(f / "h.npy", scalar_type::f16, {3}, {1}, halves);
    tools::write_npy(f / "f.npy", scalar_type::f32, {3}, {1}, floats);
    tools::write_npy(f / "c.npy", scalar_type::c64, {3}, {1}, complexes);
    tools::write_npy(f / "z.npy", scalar_type::c128, {3}, {1}, wide);
    write_array(f / "d.npy", {3}, {1, 2, 3});

    run(f, {"r(i) = x(i)*x(i)", "x=h.npy", "r=hh.npy"});
    CHECK(read_array(f / "hh.npy").header.type == scalar_type::f16);
    CHECK(static_cast<float>(read_array(f / "hh.npy").values<half>()[2]) == 9);
    run(f, {"r(i) = x(i)*y(i)", "x=h.npy", "y=f.npy", "r=hf.npy"});
    CHECK(read_array(f / "hf.npy").values<float>() == std::vector<float>{1, 4, 9});
    run(f, {"r(i) = x(i)*y(i)", "x=f.npy", "y=c.npy", "r=fc.npy"});
    CHECK(read_array(f / "fc.npy").values<std::complex<float>>()[2] == std::complex<float>(6, 6));
    run(f, {"r(i) = x(i)*conj(y(i))", "x=d.npy", "y=c.npy", "r=dc.npy"});
    CHECK(read_array(f / "dc.npy").values<std::complex<double>>()[0] == std::complex<double>(0, -1));
    run(f, {"r(i) = 2i*x(i)", "x=z.npy", "r=zz.npy"});
    CHECK(read_array(f / "zz.npy").values<std::complex<double>>()[2] == std::complex<double>(-4, 4));
}

TEST_CASE("an existing result is read first: elements not written stay, += adds") {
    const folder f;
    write_array(f / "x.npy", {4}, {1, 2, 3, 4});
    write_array(f / "y.npy", {6}, {10, 20, 30, 40, 50, 60});
    run(f, {"y(i+1) = x(i)", "x=x.npy", "y=y.npy"}); // y is not made anew: it has 6 elements still
    CHECK(read_array(f / "y.npy").values<double>() == std::vector<double>{10, 1, 2, 3, 4, 60});
    run(f, {"y(i(1,3)) += 2*x(i)", "x=x.npy", "y=y.npy"});
    CHECK(read_array(f / "y.npy").values<double>() == std::vector<double>{10, 5, 8, 3, 4, 60});
    run(f, {"y(i) = y(5-i) - 1", "y=y.npy"}); // the right side first, where both are one file
    CHECK(read_array(f / "y.npy").values<double>() == std::vector<double>{59, 3, 2, 7, 4, 9});
}

TEST_CASE("a result that does not exist is zero where it is not written") {
    const folder f;
    write_array(f / "x.npy", {4}, {1, 2, 3, 4});
    run(f, {"y(2*i+1) = x(i); z(i(2,4), 1) = x(i)", "x=x.npy", "y=y.npy", "z=z.npy"});
    CHECK(read_array(f / "y.npy").values<double>() == std::vector<double>{0, 1, 0, 2, 0, 3, 0, 4});
    CHECK(read_array(f / "z.npy").header.extents == std::vector<std::int64_t>{4, 2});
    CHECK(read_array(f / "z.npy").values<double>() == std::vector<double>{0, 0, 0, 0, 0, 0, 3, 4});
}

TEST_CASE("the paper's update, in place") {
    const folder f;
    const std::int64_t b = 3, m = 4, n = 3; // blocks of 3 x 3, 4 x 3 of them
    auto values = counting(static_cast<std::size_t>(b * b * m * n));
    write_array(f / "a.npy", {b, b, m, n}, values);
    run(f, {"A(i, j, m(1, 4), n(1, 3)) -= A(i, k, m, 0)*A(k, j, 0, n)", "A=a.npy"});
    const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t p, std::int64_t q) {
        return static_cast<std::size_t>(i + b * (j + b * (p + m * q)));
    };
    const auto old = values;
    for (int p = 1; p < m; ++p)
        for (int q = 1; q < n; ++q)
            for (int i = 0; i < b; ++i)
                for (int j = 0; j < b; ++j)
                    for (int k = 0; k < b; ++k) values[at(i, j, p, q)] -= old[at(i, k, p, 0)] * old[at(k, j, 0, q)];
    CHECK(read_array(f / "a.npy").values<double>() == values);
}

TEST_CASE("statements run in order; a name between them needs no file") {
    const folder f;
    write_operands(f);
    const auto o = run(f, {"T(i,j) = A(i,k)*B(k,j); s = T(i,i); # trace\n T(i,j) += 1; d(i) = s*T(i,i)", "A=a.npy",
                           "B=b.npy", "s=s.npy", "d=d.npy"});
    CHECK(o.out == "s = f64[] in s.npy\nd = f64[2] in d.npy\n");
    CHECK(read_array(f / "s.npy").values<double>() == std::vector<double>{86});
    CHECK(read_array(f / "d.npy").values<double>() == std::vector<double>{86 * 23, 86 * 65});
    CHECK_FALSE(std::filesystem::exists(f / "T.npy"));
}

TEST_CASE("statements that hand each other what has no file are one program, and may be one kernel") {
    const folder f;
    const std::int64_t elements = 3000;
    std::vector<double> u(static_cast<std::size_t>(2 * elements)), expected;
    for (std::size_t n = 0; n < u.size(); ++n) u[n] = static_cast<double>(n % 7);
    for (std::int64_t e = 0; e < elements; ++e) {
        const double a = u[static_cast<std::size_t>(2 * e)], b = u[static_cast<std::size_t>(2 * e + 1)];
        const double x[] = {a + 4 * b, 2 * a + 5 * b, 3 * a + 6 * b};
        expected.push_back(x[0] + 2 * x[1] + 3 * x[2]);
        expected.push_back(4 * x[0] + 5 * x[1] + 6 * x[2]);
    }
    write_array(f / "b.npy", {3, 2}, {1, 2, 3, 4, 5, 6});
    write_array(f / "u.npy", {2, elements}, u);
    const std::vector<std::string> words = {
        "x(q,e) = B(q,i)*u(i,e); v(j,e) = B(q,j)*x(q,e)", "B=b.npy", "u=u.npy", "v=v.npy", "--device", "cpu"};
    auto more = words;
    more.insert(more.end(), {"--explain", "--time", "3"});
    const auto o = run(f, more);
    CHECK(read_array(f / "v.npy").values<double>() == expected);
    CHECK_THAT(o.out, Catch::Contains("steps 1 to 2 are one kernel over e") &&
                          Catch::Contains(" (median of 3): the program\n"));
    auto kept = words; // with a file for x, each statement runs by itself
    kept.push_back("x=x.npy");
    CHECK(run(f, kept).out == "x = f64[3,3000] in x.npy\nv = f64[2,3000] in v.npy\n");
    CHECK(read_array(f / "v.npy").values<double>() == expected);
    refused(f, {"x(q,e) = B(q,i)*u(i,e); v(j,e) = B(q,j)*x(j,e(0,3001))", "B=b.npy", "u=u.npy", "v=w.npy"}, 1,
            "ricci: statement 2, column 3: ");
    std::vector<std::int32_t> entries(static_cast<std::size_t>(2 * elements), 1);
    entries[1001] = 2;
    ricci::tools::write_npy(f / "l.npy", scalar_type::i32, {2, elements}, {1, 2}, entries.data());
    write_array(f / "y.npy", {2}, {0, 0});
    refused(f, {"x(q,e) = B(q,i)*u(i,e); y(l(j,e)) += B(q,j)*x(q,e)", "B=b.npy", "u=u.npy", "y=y.npy", "l=l.npy"}, 1,
            "l(j, e) at j = 1, e = 500 is 2, no value for position 1 of y, whose extent is 2");
    const auto text = ricci_command({"explain", "x(q,e) = B(q,i)*u(i,e); v(j,e) = B(q,j)*x(q,e)", "B=f64[3,2]",
                                     "u=f64[2,3000]", "--device", "cpu"},
                                    {f.path(), {}});
    CHECK_THAT(text.out, Catch::Contains("steps 1 to 2 are one kernel over e"));
}

TEST_CASE("convolution: affine positions bound the result, padded ones need a range") {
    const folder f;
    write_array(f / "d.npy", {5}, {1, 2, 3, 4, 5});
    write_array(f / "f.npy", {3}, {1, 10, 100});
    run(f, {"o(y) = d(y+r)*f(r)", "d=d.npy", "f=f.npy", "o=o.npy"});
    CHECK(read_array(f / "o.npy").values<double>() == std::vector<double>{321, 432, 543});
    run(f, {"p(y(0,5)) = padded(d)(y+r-1)*f(r)", "d=d.npy", "f=f.npy", "p=p.npy"});
    CHECK(read_array(f / "p.npy").values<double>() == std::vector<double>{210, 321, 432, 543, 54});
    refused(f, {"q(y) = padded(d)(y+r-1)*f(r)", "d=d.npy", "f=f.npy", "q=q.npy"}, 1, "index 'y' has no range");
}

TEST_CASE("zero extents are nothing to do") {
    const folder f;
    write_array(f / "e.npy", {0, 3}, {});
    write_array(f / "x.npy", {3}, {1, 2, 3});
    run(f, {"y(j) = e(i,j)*x(j); g(i,j) = e(i,j)", "e=e.npy", "x=x.npy", "y=y.npy", "g=g.npy"});
    CHECK(read_array(f / "y.npy").values<double>() == std::vector<double>{0, 0, 0});
    CHECK(read_array(f / "g.npy").header.extents == std::vector<std::int64_t>{0, 3});
}

TEST_CASE("--time and --explain print, and change no result") {
    const folder f;
    write_array(f / "x.npy", {3}, {1, 2, 3});
    write_array(f / "y.npy", {3}, {0, 0, 0});
    const auto o = run(f, {"y(i) += x(i)", "x=x.npy", "y=y.npy", "--time", "7", "--explain", "--device", "cpu"});
    CHECK(read_array(f / "y.npy").values<double>() == std::vector<double>{1, 2, 3});
    CHECK_THAT(o.out, Catch::Contains("statement: y(i) += x(i)") && Catch::Contains("us (median of 7), ") &&
                          Catch::Contains("GB/s") && Catch::Contains("GF/s: y(i) += x(i)"));
}

TEST_CASE("a link to a result is followed") {
    const folder f;
    write_operands(f);
    write_array(f / "real.npy", {2, 2}, {0, 0, 0, 0});
    std::filesystem::create_symlink("real.npy", f / "c.npy");
    run(f, {gemm, "A=a.npy", "B=b.npy", "C=c.npy"});
    CHECK(std::filesystem::is_symlink(f / "c.npy"));
    CHECK(read_array(f / "real.npy").values<double>() == std::vector<double>{22, 28, 49, 64});
}

TEST_CASE("wrong statements and operands are refused with 1, and no file changes") {
    const folder f;
    write_operands(f);
    write_array(f / "old.npy", {5, 5}, counting(25));
    write_bytes(f / "text.npy", "no array");
    std::filesystem::create_directory(f / "folder");
    const auto arguments = [](std::vector<std::string> words) { return words; };

    refused(f, {"C(i,j) = A(i,k*B(k,j)", "A=a.npy", "B=b.npy", "C=c.npy"}, 1,
            "statement 1, column 16: a position must be affine");
    refused(f, {"", "A=a.npy"}, 1, "no statement");
    refused(f, {gemm, "A=a.npy", "C=c.npy"}, 1, "column 17: 'B' is not given: add B=FILE.npy");
    refused(f, {gemm, "A=a.npy", "B=b.npy"}, 1, "column 1: 'C' is not given: add C=FILE.npy");
    refused(f, {"X(j) = solve(A(i,j), i, j, B(i))", "A=a.npy", "B=b.npy"}, 1,
            "column 1: 'X' is not given: add X=FILE.npy");
    refused(f, {"solve(A(i,j), i, j, X(j), B(i))", "A=a.npy", "B=b.npy"}, 1, "column 21: 'X' is not given: add X=");
    refused(f, {"info = choleksy(A(i,j), i, j)", "A=a.npy", "info=i.npy"}, 1,
            "column 8: no tensor 'choleksy' is given, and there is no routine 'choleksy'; the nearest is cholesky\n");
    refused(f, {gemm, "A=a.npy", "B=none.npy", "C=c.npy"}, 1, "'B' is read here, but there is no file none.npy");
    refused(f, {gemm, "A=a.npy", "B=b.npy", "C=c.npy", "D=a.npy"}, 1, "'D' is given, but no statement uses it");
    refused(f, {gemm, "A=a.npy", "B=b.npy", "C=c.npy", "A=b.npy"}, 1, "'A' is given twice");
    refused(f, {gemm, "A=a.npy", "B=b.npy", "C=a.npy"}, 1,
            "is given for 'C' and for 'A', and 'C' is written: use one name for both in the statement, or give 'C' a "
            "file of its own");
    refused(f, {gemm, "A=a.npy", "B=b.npy", "C=./a.npy"}, 1, "and 'C' is written");
    refused(f, {"C(i) = 1*A(i,0); D(i) = A(i,0)", "A=a.npy", "C=c.npy", "D=folder/../c.npy"}, 1,
            "is given for 'C' and for 'D'");
    refused(f, {gemm, "A=a.npy", "B=b.npy", "C="}, 1, "'C=' gives no tensor: write NAME=FILE.npy");
    refused(f, {gemm, "a.npy"}, 1, "'a.npy' gives no tensor");
    refused(f, {gemm, "A=a.npy", "exp=b.npy"}, 1, "'exp' in 'exp=b.npy' cannot name a tensor");
    refused(f, {"C(i,j) = A(i,k)*B(j,k)", "A=a.npy", "B=b.npy", "C=c.npy"}, 1, "index k has extent 3");
    refused(f, {"C(i) = A(i)", "A=a.npy", "C=c.npy"}, 1, "column 8: 'A' has 2 axes, not 1");
    refused(f, {"C(i,j) += A(i,k)*B(k,j)", "A=a.npy", "B=b.npy", "C=c.npy"}, 1,
            "'C' does not exist, so nothing can be added");
    refused(f, {"C(i,j) = C(i,j) + A(i,j)", "A=a.npy", "C=c.npy"}, 1, "'C' is read here, but there is no file c.npy");
    refused(f, {"C(i,j) = 1", "C=c.npy"}, 1, "index 'i' has no range");
    refused(f, {"B(i,j) = 2i", "B=b.npy"}, 1, "complex");
    refused(f, {"A(i,i) = 1", "A=a.npy"}, 1, "index i has extent");
    refused(f, {"A(0*i(0,2), 0) = 1", "A=a.npy"}, 1, "it is the same for all 2 values of index i");
    refused(f, {"A(i(0,9),0) = 1", "A=a.npy"}, 1, "whose extent is 2");
    refused(f, {"C(i(0,4611686018427387904)) = 1", "C=c.npy"}, 1, "does not fit in 64 bits");
    refused(f, {gemm, "A=a.npy", "B=b.npy", "C=text.npy"}, 1, "text.npy: it is not an .npy file");
    refused(f, {gemm, "A=a.npy", "B=folder", "C=c.npy"}, 1, "folder: it is not a regular file");
    refused(f, {gemm, "A=a.npy", "B=b.npy", "C=none/c.npy"}, 1, "there is no folder");
    refused(f, {gemm, "A=a.npy", "B=b.npy", "C=old.npy"}, 1, "note: 'C' was read from old.npy; without that file");
    refused(f, arguments({"A(i,j) = 1", "A=a.npy", "--device", "toaster"}), 1, "toaster");
    refused(f, {"C(i,j) = A(i,j); D(i) = A(i(0,9),0)", "A=a.npy", "C=c.npy", "D=d.npy"}, 1, "ricci: statement 2: ");
    refused(f, {"\xc3\xa4 = 1"}, 1, "found '\xc3\xa4'\n    \xc3\xa4 = 1\n    ^");

    // Usage mistakes print no result either.
    for (const auto& words : {arguments({"--time", "0", gemm}), arguments({"--time", "x", gemm}),
                              arguments({"--frobnicate", gemm}), arguments({})})
        refused(f, words, 1, "Run with --help");
}

TEST_CASE("an old result is named only where it is the mistake") {
    const folder f;
    write_operands(f);
    write_array(f / "c.npy", {2, 2}, counting(4));
    const auto said = [&](std::vector<std::string> arguments, std::vector<std::string> environment) {
        arguments.insert(arguments.begin(), "run");
        const auto o = ricci_command(arguments, {f.path(), environment});
        CHECK(o.code != 0);
        return o.err;
    };
    const std::string note = "note: 'C' was read from c.npy";
    // The environment's mistakes, and a wrong operand
    CHECK_THAT(said({gemm, "A=a.npy", "B=b.npy", "C=c.npy"}, {"RICCI_CACHE_SIZE=foo"}), !Catch::Contains("note: "));
    write_array(f / "right.npy", {2, 3}, counting(6));
    CHECK_THAT(said({gemm, "A=a.npy", "B=a.npy", "C=right.npy"}, {}), !Catch::Contains("note: "));
    CHECK_THAT(said({"C(i) = A(i,0)", "A=a.npy", "C=c.npy"}, {}), Catch::Contains(note));
    CHECK_THAT(said({"C(i,j) = 2i*A(i,k)*B(k,j)", "A=a.npy", "B=b.npy", "C=c.npy"}, {}), Catch::Contains(note));
    CHECK_THAT(said({"C(i,j) = C(i,j)*A(i,j)", "A=a.npy", "C=c.npy"}, {}), !Catch::Contains("note: "));
    // results of a call
    write_array(f / "k.npy", {2, 2, 3}, counting(12));
    write_array(f / "b3.npy", {2, 3}, counting(6));
    CHECK_THAT(said({"info(e) = cholesky(A(i,j,e), i, j)", "A=k.npy", "info=c.npy"}, {}),
               Catch::Contains("note: 'info' was read from c.npy"));
    CHECK_THAT(said({"X(j,e) = solve(A(i,j,e), i, j, B(i,e))", "A=k.npy", "B=b3.npy", "X=c.npy"}, {}),
               Catch::Contains("note: 'X' was read from c.npy"));
    CHECK_THAT(said({"solve(A(i,j,e), i, j, X(j,e))", "A=k.npy", "X=c.npy"}, {}), !Catch::Contains("note: "));
}

TEST_CASE("a result that cannot be written is named as the user did") {
    const folder f;
    write_operands(f);
    refused(f, {"y(i) = A(i,0)", "A=a.npy", "y=/proc/y.npy"}, 2, "ricci: /proc/y.npy: ");
}

TEST_CASE("when a later statement or output fails, nothing of an earlier one is written") {
    const folder f;
    write_operands(f);
    const std::string two = std::string(gemm) + "; D(i,j) = A(i,k)*B(k,j)";
    refused(f, {two, "A=a.npy", "B=b.npy", "C=c.npy", "D=none/d.npy"}, 1, "there is no folder");
    refused(f, {std::string(gemm) + "; A(i,j) = C(i,j)", "A=a.npy", "B=b.npy", "C=c.npy"}, 1, "has extent");

    // A disk that fills up: first with room for both, so that the kernels are compiled, then for C alone.
    write_array(f / "x.npy", {20000}, counting(20000));
    const std::vector<std::string> words{"run", "C(i(0,100)) = 2*x(i); D(i) = 2*x(i)", "x=x.npy", "C=c.npy",
                                         "D=d.npy"};
    CHECK(ricci_command(words, {f.path(), {}}).code == 0);
    for (const char* name : {"c.npy", "d.npy"}) std::filesystem::remove(f / name);
    const auto before = f.contents();
    const auto full = ricci_command(words, {f.path(), {}, 1 << 16});
    CHECK(full.code == 2);
    CHECK_THAT(full.err, Catch::Contains("ricci: d.npy: it cannot be written: File too large"));
    CHECK(f.contents() == before);
}

TEST_CASE("index tables are files of integers") {
    const folder f;
    write_array(f / "a.npy", {2, 3}, counting(6));
    const std::int32_t narrow[] = {2, 0, 2, 1};
    const std::int64_t wide[] = {4, 0, 3, 1};
    tools::write_npy(f / "p.npy", scalar_type::i32, {4}, {1}, narrow);
    tools::write_npy(f / "q.npy", scalar_type::i64, {4}, {1}, wide);
    const auto o = run(f, {"C(i,e) = 10*A(i,p(e))", "A=a.npy", "p=p.npy", "C=c.npy"});
    CHECK(o.out == "C = f64[2,4] in c.npy\n");
    CHECK(read_array(f / "c.npy").values<double>() == std::vector<double>{50, 60, 10, 20, 50, 60, 30, 40});
    write_array(f / "d.npy", {5}, {0, 0, 0, 0, 0});
    run(f, {"D(distinct(q)(e)) += A(0,p(e))", "A=a.npy", "p=p.npy", "q=q.npy", "D=d.npy"});
    CHECK(read_array(f / "d.npy").values<double>() == std::vector<double>{1, 3, 0, 5, 5});

    run(f, {"D(p(e)) += A(0,p(e)) + 10; D(atomic(p)(e)) -= 1", "A=a.npy", "p=p.npy", "D=d.npy"});
    CHECK(read_array(f / "d.npy").values<double>() == std::vector<double>{11, 15, 28, 5, 5});
    write_array(f / "short.npy", {3}, {0, 0, 0});
    refused(f, {"D(q(e)) += A(0,p(e))", "A=a.npy", "p=p.npy", "q=q.npy", "D=short.npy"}, 1,
            "q(e) at e = 0 is 4, no value for position 1 of D, whose extent is 3");

    refused(f, {"C(i,e) = A(i,q(e))", "A=a.npy", "q=q.npy", "C=c.npy"}, 1,
            "q(e) at e = 0 is 4, no value for position 2 of A, whose extent is 3");
    refused(f, {"E(distinct(q)(e)) = A(0,p(e))", "A=a.npy", "p=p.npy", "q=q.npy", "E=e.npy"}, 1,
            "position 1 of 'E' is gathered, which does not tell its extent: 'E' must exist");
    refused(f, {"D(q(e)) = A(0,p(e))", "A=a.npy", "p=p.npy", "q=q.npy", "D=d.npy"}, 1, "write distinct(q) there");
}

TEST_CASE("matrices that fail are told of where no info is asked for") {
    const folder f;
    write_array(f / "a.npy", {2, 2, 3}, {2, 1, 1, 2, 1, 2, 2, 1, 1, 1, 1, 1}); // the last two: indefinite, singular
    write_array(f / "b.npy", {2, 3}, counting(6));
    const auto with_errors = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "run");
        const auto o = ricci_command(arguments, {f.path(), {}});
        CHECK(o.code == 0);
        return o.err;
    };
    CHECK(with_errors({"X(j,e) = solve(A(i,j,e), i, j, B(i,e))", "A=a.npy", "B=b.npy", "X=x.npy"}) ==
          "warning: X(j,e) = solve(A(i,j,e), i, j, B(i,e)): info is not 0 for 1 of 3 matrices, the first is 2 at "
          "e = 2\n");
    CHECK(
        with_errors({"X(j,e) = solve(A(i,j,e), i, j, B(i,e), positive_definite)", "A=a.npy", "B=b.npy", "X=x.npy"}) ==
        "warning: X(j,e) = solve(A(i,j,e), i, j, B(i,e), positive_definite): info is not 0 for 2 of 3 matrices, the "
        "first is 2 at e = 1\n");
    CHECK(with_errors({"l(), s() = log_determinant(A(i,j,2), i, j)", "A=a.npy", "l=l.npy", "s=s.npy"}) ==
          "warning: l(), s() = log_determinant(A(i,j,2), i, j): info is 2\n");
    CHECK(with_errors({"K(i,j,e) = A(i,j,e); y(i,e) = B(i,e); solve(K(i,j,e), i, j, y(j,e)); X(i,e) = 2*y(i,e)",
                       "A=a.npy", "B=b.npy", "X=x.npy"}) ==
          "warning: solve(K(i,j,e), i, j, y(j,e)): info is not 0 for 1 of 3 matrices, the first is 2 at e = 2\n");
    // nothing to tell: it was asked for, all is right, or there is none
    run(f, {"X(j,e), info(e) = solve(A(i,j,e), i, j, B(i,e))", "A=a.npy", "B=b.npy", "X=x.npy", "info=info.npy"});
    run(f, {"X(j,e) = solve(A(i,j,e(0,2)), i, j, B(i,e))", "A=a.npy", "B=b.npy", "X=y.npy"});
    run(f, {"qr(A(i,j,e), i, j)", "A=a.npy"});
    CHECK(f.contents().size() == 7);
}

TEST_CASE("pivots that are no rows are refused") {
    const folder f;
    write_array(f / "a.npy", {2, 2, 2}, {2, 1, 1, 2, 1, 2, 2, 1});
    write_array(f / "b.npy", {2, 2}, counting(4));
    const std::int32_t from_1[] = {1, 2, 2, 2};
    tools::write_npy(f / "p.npy", scalar_type::i32, {2, 2}, {1, 2}, from_1);
    refused(f, {"lu_solve(A(i,j,e), i, j, p(k,e), B(j,e))", "A=a.npy", "p=p.npy", "B=b.npy"}, 1,
            "p(k, e) at e = 0, k = 1 is 2, no row of A(i, j, e): lu_solve has its pivots from 0 to 1, where LAPACK");
    refused(f, {"lu_solve(A(i,j,e), i, j, p(k,e), B(j,e))", "A=a.npy", "p=p.npy", "B=b.npy", "--time", "2"}, 1,
            "p(k, e) at e = 0, k = 1 is 2, no row of A(i, j, e)");
    const std::int32_t from_0[] = {0, 1, 1, 1};
    tools::write_npy(f / "p.npy", scalar_type::i32, {2, 2}, {1, 2}, from_0);
    run(f, {"lu_solve(A(i,j,e), i, j, p(k,e), B(j,e))", "A=a.npy", "p=p.npy", "B=b.npy"});
}

TEST_CASE("damaged files are refused with 1") {
    const folder f;
    write_operands(f);
    const std::string good = read_bytes(f / "a.npy");
    write_bytes(f / "short.npy", good.substr(0, good.size() - 1));
    refused(f, {gemm, "A=short.npy", "B=b.npy", "C=c.npy"}, 1, "short.npy: it is truncated");
    std::string bytes = good;
    bytes.replace(bytes.find("<f8"), 3, "<i8");
    write_bytes(f / "int.npy", bytes);
    refused(f, {gemm, "A=int.npy", "B=b.npy", "C=c.npy"}, 1, "A holds integers (i64), with which nothing computes");
    bytes.replace(bytes.find("<i8"), 3, "<u8");
    write_bytes(f / "int.npy", bytes);
    refused(f, {gemm, "A=int.npy", "B=b.npy", "C=c.npy"}, 1,
            "int.npy: it holds '<u8'; the types f2, f4, f8, c8 and c16 are known, for index tables i4 and i8; "
            "convert it: a.astype(float), a table by a.astype('i8')\n");
    bytes = good;
    bytes.replace(bytes.find("(2, 3), }"), 14, "(2, 99999999)}");
    write_bytes(f / "long.npy", bytes);
    refused(f, {gemm, "A=long.npy", "B=b.npy", "C=c.npy"}, 1,
            "its header says 1599999984 bytes of data, it holds 48");
    refused(f, {"A(i,j) += 1", "A=long.npy"}, 1, "its header says");
}

TEST_CASE("what is larger than memory is refused with 2 before it is read") {
    const folder f;
    const std::int64_t elements = std::int64_t{1} << 39; // 4 TiB; the file has holes and takes no room
    write_array(f / "x.npy", {1}, {1});
    std::string bytes = read_bytes(f / "x.npy");
    const std::string shape = fmt::format("({},)", elements);
    bytes.replace(bytes.find("(1,), }"), shape.size() + 3, shape + ", }");
    write_bytes(f / "huge.npy", bytes);
    std::error_code failure;
    std::filesystem::resize_file(f / "huge.npy", 128 + static_cast<std::uintmax_t>(elements) * 8, failure);
    if (!failure)
        refused(f, {"y = x(0)", "x=huge.npy", "y=y.npy"}, 2, "not enough memory: with 'x' the tensors take");
    refused(f, {"y(i(0,549755813888)) = 1", "y=y.npy"}, 2, "not enough memory: with 'y' the tensors take");
}
