// session: one run of the bench.
#include "bench/session.hpp"

#include "bench/cpu_facts.hpp"
#include "bench/operand_sets.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/lowering/print.hpp>
#include <ricci/runtime/lower_for.hpp>
#include <ricci/runtime/math_mode.hpp>
#include <ricci/runtime/program_cache.hpp>
#include <ricci/runtime/run.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ricci::bench {

namespace {

/// The kernels that a program's plans name.
std::string kernels_of(const std::vector<lowering::statement>& program, device where) {
    std::string text;
    const auto add = [&](const lowering::plan& plan) {
        for (const auto& step : plan.steps)
            text += fmt::format("{}{}", text.empty() ? "" : " + ", lowering::name_of(step.kernel));
    };
    if (runtime::placed_program fused; fused.take(program) && runtime::find_fused(fused)) {
        add(runtime::plan_of(fused, nullptr));
        return text;
    }
    for (const auto& s : program)
        add(runtime::lower_for(s, runtime::backend_of(where), nullptr, runtime::occasion::look));
    return text;
}

bool has_tables(const std::vector<lowering::statement>& program) {
    return std::any_of(program.begin(), program.end(), [](const lowering::statement& s) {
        return std::any_of(s.positions.begin(), s.positions.end(),
                           [](const lowering::position& p) { return p.is_gathered(); });
    });
}

std::string text_of(const std::vector<lowering::statement>& program) {
    std::string text;
    for (const auto& s : program) text += fmt::format("{}{}", text.empty() ? "" : "; ", lowering::to_string(s));
    return text;
}

/// A, B and C of the product that `w` is, among the addresses of a set.
operand_set operands_at(const work& w, const std::vector<void*>& set) {
    const auto at = [&](std::size_t which) -> void* {
        const std::size_t operand = w.as_product->operand[which];
        return static_cast<char*>(set[operand]) +
               w.as_product->offset[which] * lowering::size_of(w.operands[operand].type);
    };
    const auto& [table, addresses] = w.as_product->tables;
    return {at(0), at(1), at(2), table > 0 ? set[table] : nullptr, addresses > 0 ? set[addresses] : nullptr};
}

template <class T>
std::vector<std::byte> bytes_of_table(const std::vector<T>& entries) {
    std::vector<std::byte> out(entries.size() * sizeof(T));
    std::memcpy(out.data(), entries.data(), out.size());
    return out;
}

/// tf32 where it was asked for and can make a difference.
math math_of(const work& w, device where) {
    const bool has_f32 = std::any_of(w.operands.begin(), w.operands.end(), [](const work_operand& o) {
        return lowering::real_of(o.type) == lowering::scalar_type::f32;
    });
    const bool on_gpu = runtime::backend_of(where).machine().kind == lowering::target::cuda;
    return has_f32 && on_gpu ? runtime::chosen_math() : math::full;
}

/// The measured peak of a CPU, in the type that `w` most likely computes in.
double peak_of(const work& w, const peak& measured) {
    if (w.as_product) return measured.of(compute_type(w.as_product->p));
    const bool is_double = std::any_of(w.operands.begin(), w.operands.end(), [](const work_operand& o) {
        return lowering::real_of(o.type) == lowering::scalar_type::f64;
    });
    return is_double ? measured.f64 : measured.f32;
}

std::int64_t memory_of(const work& w) {
    std::int64_t bytes = 0;
    for (const work_operand& o : w.operands) bytes += o.elements * lowering::size_of(o.type);
    return bytes;
}

} // namespace

work work_of(const product& p) {
    work w;
    w.operands = {{p.a.type, p.a.elements, operand_size(p.k), false, {}},
                  {p.b.type, p.b.elements, operand_size(p.k), false, {}},
                  {p.c.type, p.c.elements, 1, true, {}}};
    w.as_product = work_product{p};
    if (p.places) {
        w.as_product->tables[0] = w.operands.size();
        w.operands.push_back({lowering::scalar_type::i32, p.batch, 1, false,
                              [places = p.places](const std::vector<void*>&) { return bytes_of_table(*places); }});
    }
    if (p.by_address) {
        w.as_product->tables[1] = w.operands.size();
        w.operands.push_back(
            {lowering::scalar_type::address, 3 * p.batch, 1, false, [p](const std::vector<void*>& at) {
                 return bytes_of_table(addresses_of(p, {at[0], at[1], at[2]}));
             }});
    }
    w.bind = [p](const std::vector<void*>& at, device where) {
        const auto nth = [&](std::size_t n) { return n < at.size() ? at[n] : nullptr; };
        return std::vector{bind(p, {at[0], at[1], at[2], nth(3), nth(4)}, where)};
    };
    w.bytes = touched_bytes_of(p), w.element_bytes = bytes_of(p), w.flops = flops_of(p);
    return w;
}

session::session(const session_options& options, const peer_kinds* kinds)
    : session_base(options, {table_head, table_line, table_foot, to_json, to_csv}) {
    if (options.in_cache) report_.cache = in_cache_bytes(where_);
    if (options.energy) meter_ = make_energy_meter(where_);
    report_.counters = options.counters;
    if (options.counters)
        report_.no_counters = where_.is_cpu() ? counters_problem(events_of_processor()) : "they are a CPU's";
    if (kinds) report_.of = kinds->of;
    open_peers(kinds);
    begin(options.in_cache || has_peak());
}

void session::open_peers(const peer_kinds* kinds) {
    if (kinds)
        return session_base::open_peers(kinds->names, kinds->usual(where_),
                                        [&](const std::string& name) { return kinds->open(name, where_, *tools_); });
    std::vector<std::string> usual = where_.is_cuda()
                                         ? std::vector<std::string>{"cublas", "cutensor"}
                                         : std::vector<std::string>{"libxsmm", "eigen", "blas", "ijk", "ikj"};
    if (options_.plain_loops) usual.insert(where_.is_cuda() ? usual.begin() + 1 : usual.end(), "plain");
    session_base::open_peers(peer_names(), std::move(usual), [&](const std::string& name) {
        auto& made = peers_.emplace_back();
        made = make_peer(name, where_, *tools_);
        return made->version();
    });
}

void session::fill(const work& w, const std::vector<void*>& set, std::size_t set_number, bool written_only) {
    for (std::size_t o = 0; o < w.operands.size(); ++o) {
        const work_operand& operand = w.operands[o];
        if (written_only && !operand.written) continue;
        if (operand.contents) {
            const auto contents = operand.contents(set);
            runtime::copy(where_, set[o], cpu(), contents.data(), contents.size());
            continue;
        }
        tools_->fill(operand.type, set[o], operand.elements, numbers_of(operand, o, set_number));
    }
}

void session::measure_row(row& r, const work& w) {
    const operand_sets sets(w, where_, r.offset, options_.warm_cache || options_.in_cache, memory_);
    r.sets = sets.addresses().size();
    for (std::size_t s = 0; s < r.sets; ++s) {
        fill(w, sets.addresses()[s], s, false);
        if (w.adjust) w.adjust(sets.addresses()[s]);
    }

    std::vector<std::vector<lowering::statement>> programs;
    for (const auto& set : sets.addresses()) {
        programs.push_back(w.bind(set, where_));
        if (programs.back().size() == 1) runtime::prepare(programs.back().front());
    }
    r.statement = text_of(programs.front());

    const auto run_ours = [&](std::size_t set) {
        const auto& program = programs[set];
        program.size() == 1 ? runtime::run(program.front()) : runtime::run_program(program);
    };
    // The inverse of a table is made when it is first used, and kept: no round has that in it.
    if (has_tables(programs.front()))
        for (std::size_t s = 0; s < r.sets; ++s) run_ours(s);

    workload load;
    load.sets = r.sets;
    load.contenders.push_back({"ricci", "", run_ours});
    load.reset = [&] { fill(w, sets.addresses().front(), 0, true); };
    std::vector<measured> refused;
    const auto offered = [&](const auto& of) {
        refused = refusals([&](std::size_t peer) {
            for (contender& c : of(peer)) load.contenders.push_back(std::move(c));
        });
    };
    if (w.as_product) {
        product p = w.as_product->p;
        p.math = math_of(w, where_);
        std::vector<operand_set> operands;
        for (const auto& set : sets.addresses()) operands.push_back(operands_at(w, set));
        const std::size_t c = w.as_product->operand[2];
        load.check = [&, p, c, first = operands.front()] {
            return tools_->check(p, first, numbers_of(w.operands[c], c, 0));
        };
        offered([&](std::size_t peer) { return peers_[peer]->contenders(p, operands); });
    }
    if (w.check) load.check = [&] { return w.check(sets.addresses().front()); };
    if (w.contenders)
        offered([&](std::size_t peer) { return w.contenders(report_.peers[peer].name, sets.addresses()); });
    measure_options how = measuring();
    how.count = report_.counters && report_.no_counters.empty();
    r.results = measure(load, where_, *tools_, meter_.get(), how);
    r.results.insert(r.results.end(), refused.begin(), refused.end());
    r.kernel = kernels_of(programs.front(), where_);
}

bool session::run(row r, const work& w) {
    if (interrupted()) return false;
    r.bytes = w.bytes, r.flops = w.flops;
    r.element_bytes = w.element_bytes > 0 ? w.element_bytes : w.bytes;
    r.math = lowering::name_of(math_of(w, where_));
    const double peak = peak_of(w, report_.peak_at_start);
    r.against_peak =
        options_.in_cache || (w.at_roofline && peak > 0 && w.flops / peak > w.bytes / report_.at_start.triad);
    r.yardstick = r.against_peak ? peak : r.against_read ? report_.at_start.read : report_.at_start.triad;
    return keep(std::move(r), [&](row& each) {
        if (const std::int64_t bytes = memory_of(w); options_.in_cache && bytes > report_.cache)
            throw error(fmt::format("takes {} bytes, and --in-cache allows {}: half of L2 for each thread", bytes,
                                    report_.cache));
        measure_row(each, w);
    });
}

} // namespace ricci::bench
