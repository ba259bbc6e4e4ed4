// winograd_test: convolutions by minimal filtering, found in programs and run as one kernel, against the oracle.
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/program_cases.hpp"
#include "tests/kernels/program_run.hpp"

#include "runtime/backend.hpp"

#include <fmt/format.h>

using namespace ricci;
using namespace ricci::tests;

namespace {

/// A layer by F(m, r) in both directions.
struct layer {
    const char* what;
    int mx, my, r;
    int width, height, channels, filters, pictures;
    const char *of_image = "x,y,c,b", *of_output = "x,y,k,b"; ///< orders in memory, the first nearest
    const char *type = "f32", *type_of_output = "f32";
    const char *tree = "relu({} + z(k))", *sign = "=";
};

std::string replaced(std::string text, const char* from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, std::string_view(from).size(), to);
    return text;
}

std::string extents_of(const char* order, int x, int y, int planes, int b) {
    std::string out;
    for (const char* letter = order; *letter != 0; ++letter)
        if (*letter != ',')
            out += fmt::format("{}{}", out.empty() ? "" : ",",
                               *letter == 'x'   ? x
                               : *letter == 'y' ? y
                               : *letter == 'b' ? b
                                                : planes);
    return out;
}

random_program program_of(const layer& l) {
    const int ax = l.mx + l.r - 1, ay = l.my + l.r - 1, pad = l.r / 2;
    const int across = (l.width + l.mx - 1) / l.mx, down = (l.height + l.my - 1) / l.my;
    auto image = replaced(l.of_image, "x", fmt::format("{}*X+p-{}", l.mx, pad));
    image = replaced(replaced(image, "y", fmt::format("{}*Y+q-{}", l.my, pad)), "X", "x");
    auto output = replaced(l.of_output, "x", fmt::format("{}*X+a", l.mx));
    output = replaced(replaced(output, "y", fmt::format("{}*Y+e", l.my)), "X", "x");
    image = replaced(image, "Y", "y"), output = replaced(output, "Y", "y");
    const bool square = l.mx == l.my; // then the matrices are the same
    const char *B = square ? "B" : "C", *A = square ? "A" : "E";
    random_program p;
    p.statements = {fmt::format("V(x,y,c,b,u,v) = B(u,p)*{}(v,q)*padded(D)({})", B, image),
                    "M(x,y,k,b,u,v) = U(c,k,u,v)*V(x,y,c,b,u,v)",
                    fmt::format("padded(O)({}) {} {}", output, l.sign,
                                replaced(l.tree, "{}", fmt::format("A(a,u)*{}(e,v)*M(x,y,k,b,u,v)", A)))};
    p.locals = {"V", "M"};
    p.operands = parse_operands(fmt::format(
        "V={0}[{1},{2},{3},{4},{5},{6}] B=f32[{5},{5}] C=f32[{6},{6}] D={0}[{7}] U={0}[{3},{8},{5},{6}] "
        "M=f32[{1},{2},{8},{4},{5},{6}] O={9}[{10}] A=f32[{11},{5}] E=f32[{12},{6}] z=f32[{8}] S=f32[{10}]",
        l.type, across, down, l.channels, l.pictures, ax, ay,
        extents_of(l.of_image, l.width, l.height, l.channels, l.pictures), l.filters, l.type_of_output,
        extents_of(l.of_output, l.width, l.height, l.filters, l.pictures), l.mx, l.my));
    return p;
}

const layer layers[] = {
    {"padded at both ends", 2, 2, 3, 7, 6, 5, 19, 2},
    {"several parts of tiles and filters", 4, 4, 3, 29, 18, 9, 70, 1},
    {"rows of vectors", 4, 4, 3, 16, 12, 16, 16, 2},
    {"rows of pairs", 4, 4, 3, 14, 14, 8, 32, 1},
    {"channels nearest", 4, 4, 3, 13, 9, 17, 33, 1, "c,x,y,b", "k,x,y,b"},
    {"channels outermost", 2, 2, 3, 9, 8, 4, 20, 2, "x,y,b,c", "x,y,b,k"},
    {"large tiles", 6, 6, 3, 13, 12, 6, 17, 1},
    {"filters of five", 2, 2, 5, 9, 7, 5, 18, 1},
    {"other tiles in each direction", 2, 4, 3, 9, 13, 7, 16, 1},
    {"smaller than a tile", 4, 4, 3, 2, 1, 3, 9, 1},
    {"one channel", 4, 4, 3, 9, 9, 1, 64, 1},
    {"without a function", 4, 4, 3, 10, 9, 8, 16, 1, "x,y,c,b", "x,y,k,b", "f32", "f32", "{}"},
    {"added", 4, 4, 3, 10, 9, 8, 16, 1, "x,y,c,b", "x,y,k,b", "f32", "f32", "{}", "+="},
    {"subtracted", 2, 2, 3, 10, 9, 8, 16, 1, "x,y,c,b", "x,y,k,b", "f32", "f32", "{} + z(k)", "-="},
    {"half", 4, 4, 3, 15, 9, 21, 33, 1, "x,y,c,b", "x,y,k,b", "f16", "f32"},
    {"half, channels nearest", 2, 2, 3, 9, 7, 16, 16, 2, "c,x,y,b", "k,x,y,b", "f16", "f16", "{}"},
    {"bfloat16", 2, 2, 3, 9, 7, 19, 16, 1, "x,y,c,b", "x,y,k,b", "bf16", "f32"},
};

/// As planned for a chip on which each kernel takes long to start: one is better than several.
program_outcome run(const random_program& p, program_data data = program_data::integers) {
    auto chip = runtime::backend_of(device(device_under_test())).machine();
    chip.launch_seconds = 1;
    return run_program(p, 1, device_under_test(), data, &chip);
}

/// Whether it is one kernel, and right.
void check_is_one(const random_program& p, program_data data = program_data::integers) {
    INFO(p.text());
    const auto outcome = run(p, data);
    CHECK(outcome.kernels == 1);
    CHECK(outcome.report == "");
}

} // namespace

TEST_CASE("layers by minimal filtering are one kernel, exact where all numbers are small integers") {
    for (const auto& l : layers) {
        INFO(l.what);
        check_is_one(program_of(l));
    }
}

TEST_CASE("layers are several kernels where that is expected to be faster, and as exact") {
    auto chip = runtime::backend_of(device(device_under_test())).machine();
    // Of a chip with many processors, which waits for nothing.
    constexpr int times = 100;
    chip.bandwidth = 1e18, chip.launch_seconds = 0, chip.flops_f32 *= times, chip.processors *= times;
    const auto check = [&](const random_program& p) {
        INFO(p.text());
        const auto outcome = run_program(p, 1, device_under_test(), program_data::integers, &chip);
        REQUIRE(outcome.families.size() >= 3);
        CHECK(outcome.families.front() == lowering::family::tile_transform);
        CHECK(outcome.families.back() == lowering::family::tile_transform);
        CHECK(outcome.report == "");
    };
    for (const auto& l : layers) {
        INFO(l.what);
        auto several = l;
        several.channels += 64;
        check(program_of(several));
    }
    // In one direction, with signals' neighbors or channels nearest.
    for (const bool nearest : {false, true}) {
        const char *image = nearest ? "c,4*x+p-1,b" : "4*x+p-1,c,b", *output = nearest ? "k,4*x+a,b" : "4*x+a,k,b";
        const auto operands =
            fmt::format("V=f32[9,75,3,6] B=f32[6,6] U=f32[75,20,6] M=f32[9,20,3,6] A=f32[4,6] "
                        "z=f32[20] {}",
                        nearest ? "D=f32[75,33,3] O=f32[20,33,3]" : "D=f32[33,75,3] O=f32[33,20,3]");
        check(
            as_program({{fmt::format("V(x,c,b,u) = B(u,p)*padded(D)({})", image), "M(x,k,b,u) = U(c,k,u)*V(x,c,b,u)",
                         fmt::format("padded(O)({}) = A(a,u)*M(x,k,b,u) + z(k)", output)},
                        operands.c_str(),
                        "V M",
                        0,
                        0}));
    }
}

TEST_CASE("layers are right whatever a program makes of them") {
    for (const auto& l : layers) {
        INFO(l.what);
        CHECK(run_program(program_of(l), 2, device_under_test(), program_data::integers).report == "");
    }
}

TEST_CASE("of other numbers they are within the bound of f32") {
    for (const layer& l :
         {layer{"small tiles", 2, 2, 3, 9, 7, 11, 17, 1}, layer{"larger ones", 4, 4, 3, 13, 9, 24, 16, 1},
          layer{"channels nearest", 4, 4, 3, 8, 9, 8, 32, 1, "c,x,y,b", "k,x,y,b"},
          layer{"half", 2, 2, 3, 9, 7, 21, 16, 1, "x,y,c,b", "x,y,k,b", "f16", "f32"}}) {
        INFO(l.what);
        check_is_one(program_of(l), program_data::unit);
    }
}

TEST_CASE("so they are where the matrices have mirrored rows, and in one direction") {
    const layer l{"mirrored", 2, 2, 3, 9, 7, 11, 17, 1};
    auto p = program_of(l);
    // Bt of F(2, 3).
    std::vector<std::string> matrix{"B(u,p) = 0"};
    for (const char* element :
         {"(0,0) = 1", "(0,2) = -1", "(1,1) = 1", "(1,2) = 1", "(2,1) = -1", "(2,2) = 1", "(3,1) = 1", "(3,3) = -1"})
        matrix.push_back(std::string("B") + element);
    p.statements.insert(p.statements.begin(), matrix.begin(), matrix.end());
    const auto outcome = run(p);
    CHECK(outcome.kernels == static_cast<int>(matrix.size()) + 1);
    CHECK(outcome.report == "");

    const program_case line{{"V(x,c,b,u) = B(u,p)*padded(D)(4*x+p-1,c,b)", "M(x,k,b,u) = U(c,k,u)*V(x,c,b,u)",
                             "padded(O)(4*x+a,k,b) = A(a,u)*M(x,k,b,u) + z(k)"},
                            "V=f32[9,11,3,6] B=f32[6,6] D=f32[33,11,3] U=f32[11,20,6] M=f32[9,20,3,6] O=f32[33,20,3] "
                            "A=f32[4,6] z=f32[20]",
                            "V M",
                            0,
                            1};
    check_is_one(as_program(line));
}

TEST_CASE("what stands around the sum may read other tensors, the output's old elements among them") {
    for (const char* tree : {"0.5*{} + S(x,y,k,b)", "max({}, 0.25*S(x,y,k,b))"}) {
        layer l{"residual", 2, 2, 3, 8, 8, 8, 16, 1};
        l.tree = tree;
        auto p = program_of(l);
        for (auto& s : p.statements) s = replaced(s, "S(x,y,k,b)", "S(2*x+a,2*y+e,k,b)");
        check_is_one(p);
        for (auto& s : p.statements) s = replaced(replaced(s, "S(", "O("), "padded(O)", "O");
        check_is_one(p);
    }
}

TEST_CASE("statements stay apart where one kernel would not do the same") {
    const auto stays_apart = [](const random_program& p) {
        INFO(p.text());
        const auto outcome = run(p);
        CHECK(outcome.kernels != 1);
        CHECK(outcome.report == "");
    };
    const layer l{"", 2, 2, 3, 6, 6, 4, 4, 1};
    auto in_place = program_of(l); // other tiles read what a tile has written
    for (auto& s : in_place.statements) s = replaced(s, "(O)", "(D)");
    stays_apart(in_place);
    auto read_twice = program_of(l);
    read_twice.statements.push_back("O(x,y,k,b) += 0*V(0,0,0,0,0,0)");
    stays_apart(read_twice);
    auto overwritten = program_of(l);
    overwritten.statements.insert(overwritten.statements.begin() + 2, "D(x,y,c,b) = 3");
    stays_apart(overwritten);
    auto filters_overwritten = program_of(l);
    filters_overwritten.statements.insert(filters_overwritten.statements.begin() + 2, "U(c,k,u,v) = 3");
    stays_apart(filters_overwritten);
    auto added_to = program_of(l);
    added_to.statements[1] = "M(x,y,k,b,u,v) += U(c,k,u,v)*V(x,y,c,b,u,v)";
    stays_apart(added_to);
    // An index of M that nothing gives a place: every one of its elements is the same.
    stays_apart(
        as_program({{"V(x,c,u) = B(u,p)*padded(D)(2*x+p-1,c)", "M(x,k,u,w) = U(c,k,u)*V(x,c,u)",
                     "padded(O)(2*x+a,k,w) = A(a,u)*M(x,k,u,w)"},
                    "V=f32[5,4,4] B=f32[4,4] D=f32[9,4] U=f32[4,16,4] M=f32[5,16,4,3] O=f32[9,16,3] A=f32[2,4]",
                    "V M",
                    0,
                    0}));
    auto in_part = program_of(l); // the rest of M is zero
    in_part.statements[1] = "M(x(1,3),y,k,b,u,v) = U(c,k,u,v)*V(x,y,c,b,u,v)";
    stays_apart(in_part);
}

TEST_CASE("programs of several convolutions keep them apart from one another, and their scalars") {
    // The filters are transformed in the program; V is the first factor.
    layer l{"with its filters", 2, 2, 3, 9, 7, 11, 17, 1};
    l.tree = "0.5*{} + 2*z(k)";
    auto p = program_of(l);
    p.statements[1] = "M(x,y,k,b,u,v) = V(x,y,c,b,u,v)*U(c,k,u,v)";
    p.statements.insert(p.statements.begin(), "U(c,k,u,v) = G(u,s)*G(v,r)*F(s,r,c,k)");
    p.statements.insert(p.statements.begin(), "z(k) = 3");
    for (auto& o : parse_operands("G=f32[4,3] F=f32[3,3,11,17]")) p.operands.push_back(o);
    p.locals.push_back("U");
    const auto with_filters = run(p);
    CHECK(with_filters.kernels >= 3);
    CHECK(with_filters.report == "");

    // What one writes another transforms: three of five are one, or all are by themselves.
    const program_case overlapping{{"V(u,c,x) = B(u,p)*D(p,c,x)", "M(u,k,x) = U(u,k,c)*V(u,c,x)",
                                    "W(a,k,x) = A(a,u)*M(u,k,x)", "N(a,l,x) = T(a,l,k)*W(a,k,x)",
                                    "O(i,l,x) = C(i,a)*N(a,l,x)"},
                                   "V=f32[4,8,40] B=f32[4,4] D=f32[4,8,40] U=f32[4,16,8] M=f32[4,16,40] A=f32[2,4] "
                                   "W=f32[2,16,40] T=f32[2,16,16] N=f32[2,16,40] O=f32[3,16,40] C=f32[3,2]",
                                   "V M W N",
                                   0,
                                   0};
    CHECK(run(as_program(overlapping)).report == "");

    // Two layers one behind the other.
    auto first = program_of({"first", 2, 2, 3, 8, 8, 4, 16, 1});
    auto second = program_of({"second", 2, 2, 3, 8, 8, 16, 5, 1});
    const auto renamed = [](std::string text) {
        for (const char* name : {"V(", "M(", "U(", "z(", "V=", "M=", "U=", "z="})
            text = replaced(text, name, fmt::format("{}2{}", name[0], name[1]));
        text = replaced(replaced(text, "D)", "O)"), "padded(O)(2*x+a", "padded(P)(2*x+a");
        return text;
    };
    for (const auto& s : second.statements) first.statements.push_back(renamed(s));
    for (auto& o :
         parse_operands("V2=f32[4,4,16,1,4,4] M2=f32[4,4,5,1,4,4] U2=f32[16,5,4,4] z2=f32[5] P=f32[8,8,5,1]"))
        first.operands.push_back(o);
    first.locals.insert(first.locals.end(), {"V2", "M2"});
    INFO(first.text());
    const auto both = run(first);
    CHECK(both.kernels == 2);
    CHECK(both.report == "");
}
