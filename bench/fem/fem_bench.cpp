// fem_bench: sweeps over the bake-off problems.
#include "bench/fem/fem_bench.hpp"

#include "bench/cpu_facts.hpp"
#include "bench/fem/notation.hpp"
#include "bench/fem/operator_peer.hpp"
#include "bench/fem/reference.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/content_versions.hpp>
#include <ricci/runtime/run.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>

namespace ricci::bench::fem {

namespace {

using lowering::scalar_type;

/// "1..6", none above `last`.
std::vector<std::int64_t> parse_up_to(std::int64_t last, const std::string& text, const char* option) {
    const auto all = parse_sizes(text, option);
    for (const std::int64_t n : all)
        if (n > last) throw error(fmt::format("{}: there is no {}; there are 1 to {}", option, n, last));
    return all;
}

/// Sizes on which operands that stay in the caches take no more than `bytes`.
problem fitting(const problem& p, std::int64_t bytes) {
    problem out = p;
    const auto memory = [](const problem& x) {
        std::int64_t all = 0;
        for (const text_operand& o : fused(x).operands) all += elements_of(o) * lowering::size_of(o.type);
        return all;
    };
    for (std::int64_t elements = sized(p, bytes).mesh.elements(); elements > 0; --elements)
        if (out.mesh = box_of(elements); memory(out) <= bytes) break;
    return out;
}

/// Of the weights and the diffusion's matrices, which are random below 1: added, they are positive, and diagonally
/// dominant.
void make_positive_definite(const problem& p, const operand_addresses& set, device where) {
    text_operand s{"S",
                   p.type,
                   {p.points(), p.numbers(), p.mesh.elements()},
                   {1, p.points(), p.points() * p.numbers()},
                   set[at_S],
                   where.code()};
    for (const text_statement& each :
         parse_text(p.is_mass() ? "S(n,0,e) += 2" : "S(n,0,e) += 3; S(n,3,e) += 3; S(n,5,e) += 3"))
        runtime::run(bind_text(each, {&s, 1}));
}

/// Tables that ricci knows to be unchanged, as it knows it of a ricci::tensor: of other memory it would read them
/// again at each use.
class known_tables {
  public:
    explicit known_tables(device where) : where_(where) {}
    ~known_tables() {
        for (const void* const table : all_) runtime::forget_contents(where_, table);
    }
    known_tables(const known_tables&) = delete;
    known_tables& operator=(const known_tables&) = delete;

    void add(const void* table) {
        runtime::track_contents(where_, table);
        all_.push_back(table);
    }

  private:
    device where_;
    std::vector<const void*> all_;
};

row describe(const problem& p) {
    row r;
    r.kind = "fem";
    r.batch = p.mesh.elements();
    r.types = lowering::name_of(p.type);
    r.field = field_operator{fmt::format("BP{}", p.number), p.order, p.is_global() ? "L" : "E",
                             !p.is_global() ? ""
                             : p.atomic     ? "atomic"
                                            : "ordered",
                             p.unknowns()};
    return r;
}

using peers_by_name = std::map<std::string, std::unique_ptr<operator_peer>>;

work work_of(const problem& p, peers_by_name& peers, device where) {
    const auto ours = std::make_shared<const text_program>(fused(p));
    work w;
    for (std::size_t n = 0; n < ours->operands.size(); ++n) {
        const text_operand& o = ours->operands[n];
        // The matrices are random, not those of a basis: no result is easier to get right or faster for it.
        const double size = n == at_B || n == at_G ? operand_size(o.extents[1]) : 1;
        w.operands.push_back({o.type, elements_of(o), size, n == at_v, {}});
    }
    if (p.is_global())
        w.operands[at_l].contents = [p](const operand_addresses&) {
            const auto numbers = numbers_of_nodes(p.mesh, p.order);
            const auto* const first = reinterpret_cast<const std::byte*>(numbers.data());
            return std::vector(first, first + numbers.size() * sizeof numbers.front());
        };
    w.bind = [ours](const operand_addresses& at, device d) { return bind_program(*ours, at, {}, d); };
    w.contenders = [p, &peers](const std::string& name, const std::vector<operand_addresses>& sets) {
        return peers.at(name)->contenders(p, sets);
    };
    w.check = [p, where](const operand_addresses& at) { return check(p, at, where); };
    w.adjust = [p, where, tables = std::make_shared<known_tables>(where)](const operand_addresses& at) {
        make_positive_definite(p, at, where);
        if (p.is_global()) tables->add(at[at_l]);
    };
    w.bytes = w.element_bytes = p.bytes(), w.flops = p.flops();
    w.at_roofline = true;
    return w;
}

} // namespace

std::vector<problem> points_of(const options& o, std::int64_t default_bytes) {
    const auto numbers = parse_up_to(6, o.numbers, "--bp"), orders = parse_up_to(8, o.orders, "--orders");
    const auto forms = parse_choices(o.forms, "--form", {"E", "L"});
    const auto scatters = parse_choices(o.scatters, "--scatter", {"ordered", "atomic"});
    const auto types = parse_types_among(o.types, "--types", {scalar_type::f64, scalar_type::f32}, "operators");
    const std::int64_t bytes = o.bytes.empty() ? default_bytes : parse_bytes(o.bytes, "--bytes");
    if (o.cache > 0 && !o.bytes.empty())
        throw error("--in-cache and --bytes both say how much a point takes: leave one out");
    std::vector<problem> all;
    for (const scalar_type type : types)
        for (const std::int64_t number : numbers)
            for (const std::string& name : forms)
                for (const std::string& scatter : scatters) {
                    if (name == "E" && scatter != scatters.front()) continue; // nothing is scattered
                    for (const std::int64_t order : orders) {
                        const problem p{static_cast<int>(number), order, name == "E" ? form::element : form::global,
                                        name == "L" && scatter == "atomic", type};
                        all.push_back(o.cache > 0 ? fitting(p, o.cache) : sized(p, bytes));
                    }
                }
    return all;
}

int run(options options_of, session_options session_of) {
    const device where = session_of.device.empty() ? default_device() : parse_device(session_of.device);
    if (session_of.in_cache) options_of.cache = in_cache_bytes(where);
    const auto points = points_of(options_of, where.is_cpu() ? 200'000'000 : 2'000'000'000);
    peers_by_name peers;
    const peer_kinds kinds{subject::fields, operator_peer_names(),
                           [](device d) {
                               return d.is_cuda() ? std::vector<std::string>{"unfused", "cublas"}
                                                  : std::vector<std::string>{"unfused", "loops", "blas"};
                           },
                           [&](const std::string& name, device d, device_tools& tools) {
                               auto& made = peers[name];
                               made = make_operator_peer(name, d, tools);
                               return made->version();
                           }};
    session s(session_of, &kinds);
    for (const problem& p : points)
        if (!s.run(describe(p), work_of(p, peers, where))) break;
    return s.finish();
}

} // namespace ricci::bench::fem
