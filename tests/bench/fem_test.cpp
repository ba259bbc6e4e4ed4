// fem_test: the bake-off problems of `ricci bench fem`: meshes, costs, points, results.
#include "bench/fem/contraction.hpp"
#include "bench/fem/fem_bench.hpp"
#include "bench/fem/notation.hpp"
#include "bench/fem/operator_peer.hpp"
#include "bench/fem/reference.hpp"
#include "bench/peers/gemm_call.hpp"
#include "lowering/error.hpp"
#include "runtime/run.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>

using namespace ricci;
using namespace ricci::bench;
using namespace ricci::bench::fem;

namespace {

/// The tensors of a problem in this process's memory, random ones.
class host_operands {
  public:
    explicit host_operands(const problem& p) {
        std::mt19937 random(5);
        std::uniform_real_distribution<double> below_one(-1, 1);
        for (const text_operand& o : fused(p).operands) {
            auto& memory = memory_.emplace_back(static_cast<std::size_t>(elements_of(o)));
            for (double& x : memory) x = below_one(random);
            addresses_.push_back(memory.data());
        }
        if (!p.is_global()) return;
        numbers_ = numbers_of_nodes(p.mesh, p.order);
        addresses_[at_l] = numbers_.data();
    }
    const operand_addresses& addresses() const { return addresses_; }
    std::vector<double>& result() { return memory_[at_v]; }

  private:
    std::vector<std::vector<double>> memory_;
    std::vector<std::int32_t> numbers_;
    operand_addresses addresses_;
};

problem make(int number, std::int64_t order, form vectors, box mesh) {
    return {number, order, vectors, false, lowering::scalar_type::f64, mesh};
}

} // namespace

TEST_CASE("a box of elements: about as many as asked for, each node numbered, those on faces once") {
    CHECK(box_of(1) == box{1, 1, 1});
    CHECK(box_of(0) == box{1, 1, 1});
    CHECK(box_of(27) == box{3, 3, 3});
    for (const std::int64_t count : {2, 5, 100, 12345, 1'000'000}) {
        CAPTURE(count);
        CHECK(box_of(count).elements() == Approx(count).epsilon(0.35));
    }
    const box b{3, 2, 4};
    for (const std::int64_t order : {1, 3}) {
        const auto numbers = numbers_of_nodes(b, order);
        REQUIRE(static_cast<std::int64_t>(numbers.size()) == 24 * (order + 1) * (order + 1) * (order + 1));
        const std::set<std::int32_t> all(numbers.begin(), numbers.end());
        CHECK(static_cast<std::int64_t>(all.size()) == b.nodes(order));
        CHECK((*all.begin() == 0 && *all.rbegin() == b.nodes(order) - 1));
        std::map<std::int32_t, int> elements_at;
        for (const auto n : numbers) ++elements_at[n];
        const auto inner_vertex = static_cast<std::int32_t>(
            order + (3 * order + 1) * (order + (2 * order + 1) * order)); // where eight elements meet
        CHECK(elements_at[inner_vertex] == 8);
        CHECK(elements_at[0] == 1);
    }
    CHECK(neighbor(b, 0, {1, 0, 0}) == 1);
    CHECK(neighbor(b, 0, {1, 1, 1}) == 10);
    CHECK(neighbor(b, 0, {-1, 0, 0}) == -1);
    CHECK(neighbor(b, 2, {1, 0, 0}) == -1);
    CHECK(neighbor(b, 23, {-1, -1, -1}) == 13);
}

TEST_CASE("sizes and costs of the bake-off problems") {
    const box b{2, 3, 4};
    const problem mass = make(1, 4, form::element, b);
    CHECK(mass.bytes() == 24 * 8 * (2 * 125 + 216)); // 2(p+1)^3 + (p+2)^3 numbers an element
    CHECK(mass.unknowns() == 9 * 13 * 17);
    CHECK(mass.flops() == 24 * (4 * (125 * 6 + 25 * 36 + 5 * 216) + 216));
    const problem diffusion = make(4, 2, form::element, b);
    CHECK(diffusion.components() == 3);
    CHECK(diffusion.bytes() == 24 * 8 * (3 * 2 * 27 + 6 * 64));
    const problem at_nodes = make(5, 2, form::global, b);
    CHECK(at_nodes.points() == 27);
    CHECK(at_nodes.bytes() == 8 * (24 * 6 * 27 + 2 * 5 * 7 * 9) + 4 * 24 * 27);
    CHECK(at_nodes.flops() == 24 * (12 * 81 + 15 * 27));
    for (int number = 1; number <= 6; ++number)
        for (const form vectors : {form::element, form::global}) {
            CAPTURE(number);
            CHECK(sized(make(number, 3, vectors, {}), 100'000'000).bytes() == Approx(1e8).epsilon(0.1));
        }
    CHECK(sized(mass, 1).mesh.elements() == 1);
}

TEST_CASE("points of bench fem: every problem, form and order; mistakes in the options") {
    fem::options o;
    CHECK(points_of(o, 1'000'000).size() == 6 * 2 * 8);
    o.numbers = "1,3", o.orders = "2,4", o.forms = "L", o.scatters = "ordered,atomic", o.types = "f64,f32";
    const auto points = points_of(o, 1'000'000);
    REQUIRE(points.size() == 2 * 2 * 2 * 2);
    CHECK((points[0].number == 1 && points[0].order == 2 && points[0].is_global() && !points[0].atomic));
    CHECK((points[1].order == 4 && points[2].atomic && points[4].number == 3));
    CHECK(points[8].type == lowering::scalar_type::f32);
    o.forms = "E";
    CHECK(points_of(o, 1'000'000).size() == 2 * 2 * 2); // there is nothing to scatter
    o.cache = 500'000;
    for (const problem& p : points_of(o, 1)) {
        std::int64_t bytes = 0;
        for (const text_operand& t : fused(p).operands) bytes += elements_of(t) * lowering::size_of(t.type);
        CHECK(bytes <= o.cache);
        CHECK(bytes > o.cache / 2);
    }
    o.bytes = "1MB";
    CHECK_THROWS_WITH(points_of(o, 1), "--in-cache and --bytes both say how much a point takes: leave one out");
    const std::pair<std::string fem::options::*, std::pair<const char*, const char*>> wrong[] = {
        {&fem::options::numbers, {"7", "--bp: there is no 7; there are 1 to 6"}},
        {&fem::options::numbers, {"BP1", "--bp: 'BP1' is no size and no range of sizes; "}},
        {&fem::options::orders, {"4..9", "--orders: there is no 9; there are 1 to 8"}},
        {&fem::options::orders, {"0", "--orders: '0' is no size and no range of sizes; "}},
        {&fem::options::forms, {"E,T", "--form: there is no 'T'; there are E, L"}},
        {&fem::options::scatters, {"coloured", "--scatter: there is no 'coloured'; there are ordered, atomic"}},
        {&fem::options::types, {"f16", "--types: operators are not measured in f16; there are f64, f32"}},
        {&fem::options::types, {"f32:f64", "--types: operators are not measured in f32:f64; there are f64, f32"}},
        {&fem::options::bytes, {"much", "--bytes: 'much' is no number of bytes; "}}};
    for (const auto& [option, text] : wrong) {
        fem::options bad;
        bad.*option = text.first;
        CHECK_THROWS_WITH(points_of(bad, 1'000'000), Catch::Contains(text.second));
    }
}

TEST_CASE("fused, by steps and by hand: all bake-off problems have the reference's results") {
    const auto tools = make_device_tools(cpu());
    for (int number = 1; number <= 6; ++number)
        for (const form vectors : {form::element, form::global}) {
            const bool one_component = number % 2 == 1;
            const problem p = make(number, one_component ? 2 : 1, vectors, {3, 3, 2});
            CAPTURE(number, p.is_global());
            host_operands operands(p);
            const auto correct = [&] {
                const findings found = check(p, operands.addresses(), cpu());
                CHECK(found.looked_at >= p.nodes() * p.components() * 2);
                return found.wrong == 0;
            };
            CHECK_FALSE(correct());
            const auto statements = bind_program(fused(p), operands.addresses(), {}, cpu());
            statements.size() == 1 ? runtime::run(statements.front()) : runtime::run_program(statements);
            CHECK(correct());
            for (const char* const name : {"unfused", "loops", "blas"}) {
                CAPTURE(name);
                std::unique_ptr<operator_peer> peer;
                try {
                    peer = make_operator_peer(name, cpu(), *tools);
                } catch (const error&) { // no compiler, no BLAS
                    continue;
                }
                if (!one_component && name != std::string("loops")) continue; // steps of the same kinds
                for (const contender& each : peer->contenders(p, {operands.addresses()})) {
                    std::fill(operands.result().begin(), operands.result().end(), 0.25);
                    each.run(0);
                    CAPTURE(each.variant);
                    CHECK(correct());
                }
            }
        }
}

TEST_CASE("every contraction by itself is a product that a BLAS has a call for") {
    for (int number = 1; number <= 6; ++number)
        for (std::int64_t order = 1; order <= 8; ++order) {
            CAPTURE(number, order);
            const problem p = make(number, order, form::global, {2, 3, 4});
            const text_program steps = step_by_step(p);
            double flops = 0;
            int products = 0;
            const std::vector<void*> nowhere(steps.operands.size() + steps.intermediates.size());
            for (const auto& s : bind_program(steps, nowhere, nowhere, cpu()))
                if (const auto found = contraction_of(s)) {
                    CHECK(gemm_call_of(found->p));
                    flops += flops_of(found->p), ++products;
                }
            CHECK(products == (p.is_mass() || p.is_collocated() ? 6 : 12));
            const double pointwise = static_cast<double>(p.points() * p.components() * 24);
            CHECK(flops == p.flops() - (p.is_mass() ? 1 : 15) * pointwise);
        }
}

TEST_CASE("the reference finds one wrong number") {
    for (const form vectors : {form::element, form::global}) {
        const problem p = make(3, 2, vectors, {2, 2, 1});
        host_operands operands(p);
        const auto statements = bind_program(fused(p), operands.addresses(), {}, cpu());
        runtime::run_program(statements);
        double& last = operands.result().back();
        const double right = last;
        last = right * (1 + 1e-10);
        CHECK(check(p, operands.addresses(), cpu()).wrong == 1);
        last = std::numeric_limits<double>::quiet_NaN();
        const findings found = check(p, operands.addresses(), cpu());
        CHECK((found.wrong == 1 && found.worst == std::numeric_limits<double>::infinity()));
        last = right;
        CHECK(check(p, operands.addresses(), cpu()).wrong == 0);
    }
}
