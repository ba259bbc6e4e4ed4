// conv_test: the layers of `ricci bench conv`: points, transforms, costs, results, and what finds a wrong one.
#include "bench/conv/conv_bench.hpp"
#include "bench/conv/convolution_peer.hpp"
#include "bench/conv/layers.hpp"
#include "bench/conv/minimal_filtering.hpp"
#include "bench/conv/problem.hpp"
#include "bench/conv/reference.hpp"
#include "bench/read_values.hpp"
#include "lowering/error.hpp"
#include "runtime/run.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

using namespace ricci;
using namespace ricci::bench;
using namespace ricci::bench::conv;
using enum lowering::scalar_type;

namespace {

/// The tensors of a problem in this process's memory: random ones, and the transforms.
class host_operands {
  public:
    explicit host_operands(const problem& p) : p_(p) {
        std::mt19937 random(7);
        std::uniform_real_distribution<double> below_one(-1, 1);
        const auto notation = notation_of(p);
        for (std::size_t n = 0; n < notation.operands.size() && n <= at_O; ++n) {
            std::vector<double> numbers(static_cast<std::size_t>(elements_of(notation.operands[n])));
            for (double& x : numbers) x = below_one(random);
            add(numbers);
        }
        if (p.tile == 0) return;
        const auto by = make_minimal_filtering(p.tile, filter_side);
        add(transformed(p, by, values(at_F)));
        for (const small_matrix* m : {&by.Bt, &by.At}) {
            std::vector<double> columns;
            for (std::int64_t c = 0; c < m->columns; ++c)
                for (std::int64_t r = 0; r < m->rows; ++r) columns.push_back((*m)(r, c));
            add(columns);
        }
    }
    operand_addresses addresses() {
        operand_addresses all;
        for (auto& each : memory_) all.push_back(each.data());
        return all;
    }
    std::vector<double> values(tensor_number which) const {
        const auto& bytes = memory_[which];
        return read_values<double>(p_.type, bytes.data(), 0,
                                   static_cast<std::int64_t>(bytes.size()) / lowering::size_of(p_.type), cpu());
    }
    void set_result(std::size_t number, double value) {
        const auto bytes = bytes_of_values(p_.type, {value});
        std::memcpy(memory_[at_O].data() + number * bytes.size(), bytes.data(), bytes.size());
    }
    void spoil() {
        for (std::size_t n = 0; n < values(at_O).size(); ++n) set_result(n, -1);
    }

  private:
    void add(const std::vector<double>& numbers) { memory_.push_back(bytes_of_values(p_.type, numbers)); }

    problem p_;
    std::vector<std::vector<std::byte>> memory_;
};

void run(const problem& p, host_operands& operands, const std::vector<void*>& intermediates) {
    const auto statements = bind_program(notation_of(p), operands.addresses(), intermediates, cpu());
    statements.size() == 1 ? runtime::run(statements.front()) : runtime::run_program(statements);
}

findings check(const problem& p, host_operands& operands) {
    return reference(p, operands.addresses(), cpu())
        .check(operands.addresses()[at_O], bound_of(p, lowering::math_mode::full));
}

} // namespace

TEST_CASE("layers: of networks, each once, or as they are given") {
    const auto vgg = parse_layers("vgg16", "--layers");
    CHECK((vgg.size() == 9 && vgg.front() == layer{3, 64, 224, 224} && vgg.back() == layer{512, 512, 14, 14}));
    const auto resnet = parse_layers("resnet50", "--layers");
    CHECK(resnet == std::vector<layer>{{64, 64, 56, 56}, {128, 128, 28, 28}, {256, 256, 14, 14}, {512, 512, 7, 7}});
    CHECK(parse_layers("square", "--layers").size() == 5);
    CHECK(parse_layers("square,vgg16,resnet50", "--layers").size() == 13);
    CHECK(parse_layers("4x5x9,3x2^6x320x240,4x5x9x9", "--layers") ==
          std::vector<layer>{{4, 5, 9, 9}, {3, 64, 320, 240}});
    CHECK(to_string(layer{3, 64, 224, 224}) == "3x64@224");
    CHECK(to_string(layer{3, 64, 320, 240}) == "3x64@320x240");
    for (const char* text : {"", "vgg19", "4x5", "4x5x0", "4x5x9x9x9", "4x5x1..9", "vgg16,", "4x5x9 "}) {
        CAPTURE(text);
        const std::string word = std::string(text) == "vgg16," ? "" : text;
        CHECK_THROWS_WITH(parse_layers(text, "--layers"),
                          "--layers: '" + word +
                              "' is no layer; there are vgg16, resnet50, square, and channels x filters x side, or x "
                              "width x height, as 64x128x112");
    }
}

TEST_CASE("points of bench conv: every layer, batch and algorithm; mistakes in the options") {
    conv::options o;
    CHECK(points_of(o, 1).size() == 13 * 4);
    o.layers = "square", o.batch = "1,8", o.algorithms = "direct,f4", o.types = "f32,f16";
    const auto points = points_of(o, 32);
    REQUIRE(points.size() == 2 * 5 * 2 * 2);
    CHECK((points[0].tile == 0 && points[0].batch == 1 && points[0].type == f32));
    CHECK((points[1].tile == 4 && points[1].algorithm() == "f4" && points[2].batch == 8));
    CHECK((points[4].of == layer{128, 128, 112, 112} && points[20].type == f16));
    const std::pair<std::string conv::options::*, std::pair<const char*, const char*>> wrong[] = {
        {&conv::options::layers, {"vgg", "--layers: 'vgg' is no layer; there are vgg16, "}},
        {&conv::options::layers, {"9x9x10000000", "--layers: 9x9@10000000 with a batch of 1 is too large"}},
        {&conv::options::algorithms, {"f3", "--algorithms: there is no 'f3'; there are direct, f2, f4, f6"}},
        {&conv::options::types, {"f64", "--types: layers are not measured in f64; there are f32, f16"}},
        {&conv::options::types, {"f16:f32", "--types: layers are not measured in f16:f32; there are f32, f16"}},
        {&conv::options::batch, {"0", "--batch: '0' is no size and no range of sizes; "}},
        {&conv::options::batch, {"2^60", "--layers: 3x64@224 with a batch of 1152921504606846976 is too large"}}};
    for (const auto& [option, text] : wrong) {
        conv::options bad;
        bad.*option = text.first;
        CHECK_THROWS_WITH(points_of(bad, 1), Catch::Contains(text.second));
    }
}

TEST_CASE("minimal filtering: y = At ((G g) . (Bt d)) is the sum over the taps") {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> below_one(-1, 1);
    for (const auto& [m, r] : {std::pair{2, 3}, {4, 3}, {6, 3}, {2, 5}, {4, 5}, {1, 2}, {3, 1}}) {
        CAPTURE(m, r);
        const minimal_filtering f = make_minimal_filtering(m, r);
        REQUIRE((f.outputs() == m && f.taps() == r && f.size() == m + r - 1));
        for (int n = 0; n < 20; ++n) {
            std::vector<double> d(static_cast<std::size_t>(m + r - 1)), g(static_cast<std::size_t>(r));
            for (double& x : d) x = below_one(random);
            for (double& x : g) x = below_one(random);
            const auto times = [](const small_matrix& a, const std::vector<double>& x) {
                std::vector<double> y(static_cast<std::size_t>(a.rows));
                for (std::int64_t i = 0; i < a.rows; ++i)
                    for (std::int64_t j = 0; j < a.columns; ++j)
                        y[static_cast<std::size_t>(i)] += a(i, j) * x[static_cast<std::size_t>(j)];
                return y;
            };
            auto product = times(f.G, g);
            const auto in = times(f.Bt, d);
            for (std::size_t u = 0; u < product.size(); ++u) product[u] *= in[u];
            const auto y = times(f.At, product);
            for (std::size_t i = 0; i < y.size(); ++i) {
                double sum = 0;
                for (std::size_t j = 0; j < g.size(); ++j) sum += d[i + j] * g[j];
                CHECK(y[i] == Approx(sum).margin(1e-12));
            }
        }
    }
    // One tap, or one output, and the points do nothing.
    CHECK(make_minimal_filtering(1, 1).error_growth() == Approx(1));
    const double growth[] = {make_minimal_filtering(2, 3).error_growth(), make_minimal_filtering(4, 3).error_growth(),
                             make_minimal_filtering(6, 3).error_growth()};
    CHECK((1 < growth[0] && growth[0] < 2));
    CHECK((growth[0] < growth[1] && growth[1] < 20));
    CHECK((growth[0] < growth[2] && growth[2] < 20));
}

TEST_CASE("costs of a layer are those of the direct statement, whatever the algorithm") {
    for (const std::int64_t tile : {0, 4}) {
        const problem p{{4, 5, 9, 7}, 2, f16, tile};
        CHECK(p.flops() == 2.0 * 9 * 4 * 5 * 9 * 7 * 2);
        CHECK(p.bytes() == 2.0 * (9 * 7 * 2 * (4 + 5) + 9 * 4 * 5));
        CHECK(p.terms() == 36);
    }
    const problem direct{{64, 64, 9, 9}, 1, f32, 0}, tiled{{64, 64, 9, 9}, 1, f32, 4},
        half_tiled{{64, 64, 9, 9}, 1, f16, 4};
    const auto full = lowering::math_mode::full;
    CHECK(bound_of(direct, full).sum < 2.4e-5);
    CHECK(bound_of(direct, full).sum < bound_of(tiled, full).sum);
    CHECK(bound_of(tiled, full).sum < bound_of(half_tiled, full).sum);
    CHECK(bound_of(tiled, full).sum < bound_of(tiled, lowering::math_mode::tf32).sum);
}

TEST_CASE("direct, by tiles and by peers: layers have the reference's results") {
    for (const layer& l : {layer{4, 5, 9, 7}, layer{1, 1, 1, 1}, layer{3, 2, 1, 13}, layer{2, 3, 6, 12}})
        for (const std::int64_t tile : {0, 2, 4, 6})
            for (const auto type : {f32, f16}) {
                const problem p{l, 2, type, tile};
                CAPTURE(to_string(l), p.algorithm(), lowering::name_of(type));
                host_operands operands(p);
                const auto correct = [&] {
                    const findings found = check(p, operands);
                    CHECK(found.looked_at == l.pixels() * l.filters * 2);
                    return found.wrong == 0;
                };
                operands.spoil();
                CHECK_FALSE(correct());
                run(p, operands, {});
                CHECK(correct());
                if (tile > 0) {
                    const intermediate_memory between(notation_of(p), cpu());
                    operands.spoil();
                    run(p, operands, between.addresses());
                    CHECK(correct());
                }
                for (const char* const name : {"direct", "im2col"}) {
                    CAPTURE(name);
                    std::unique_ptr<convolution_peer> peer;
                    try {
                        peer = make_convolution_peer(name, cpu());
                    } catch (const error&) { // no BLAS
                        continue;
                    }
                    const auto ways = peer->contenders(p, {operands.addresses()});
                    CHECK(ways.size() == (name == std::string("direct") ? tile > 0 : type == f32));
                    for (const contender& each : ways) {
                        operands.spoil();
                        each.run(0);
                        CHECK(correct());
                    }
                }
            }
}

TEST_CASE("the reference finds one wrong number, in a layer of which some are drawn too") {
    for (const layer& l : {layer{3, 4, 11, 10}, layer{40, 40, 160, 120}}) {
        const problem p{l, 2, f32, 4};
        CAPTURE(to_string(l));
        host_operands operands(p);
        run(p, operands, {});
        const auto last = static_cast<std::size_t>(l.pixels() * l.filters * 2 - 1);
        const findings found = check(p, operands);
        CHECK((found.wrong == 0 && found.worst < 1e-4));
        CHECK(found.looked_at == (l.channels == 3 ? static_cast<std::int64_t>(last) + 1 : 4096));
        const double right = operands.values(at_O)[last];
        operands.set_result(last, right + 1e-2);
        const findings off = check(p, operands);
        CHECK((off.wrong >= 1 && off.first == static_cast<std::int64_t>(last)));
        operands.set_result(last, std::numeric_limits<double>::quiet_NaN());
        CHECK(check(p, operands).worst == std::numeric_limits<double>::infinity());
        operands.set_result(last, right);
        operands.set_result(0, -1); // as without relu
        CHECK(check(p, operands).first == 0);
    }
}

TEST_CASE("a peer of layers says on which device it is") {
    CHECK_THROWS_WITH(make_convolution_peer("cudnn", cpu()), "cudnn is a peer on a GPU");
    CHECK(make_convolution_peer("direct", cpu())->version() == "ricci's direct statement");
}
