// session: one run of the bench.
#include "bench/session.hpp"

#include "bench/cpu_facts.hpp"
#include "bench/operand_sets.hpp"
#include "bench/output_files.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/lowering/print.hpp>
#include <ricci/runtime/lower_for.hpp>
#include <ricci/runtime/math_mode.hpp>
#include <ricci/runtime/program_cache.hpp>
#include <ricci/runtime/run.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

namespace ricci::bench {

namespace {

constexpr int most_failures = 3; ///< in turn: then the device, not the point, is at fault

std::string now() {
    const std::time_t seconds = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32] = {};
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

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

std::int64_t yardstick_bytes(device where) {
    return where.is_cpu() ? std::max<std::int64_t>(200'000'000, beyond_cpu_caches()) : 2'100'000'000;
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
    : options_(options), where_(options.device.empty() ? default_device() : parse_device(options.device)) {
    check_outputs({{"--json", options.json}, {"--csv", options.csv}}); // now, not after an hour
    if (options.in_cache) report_.cache = in_cache_bytes(where_);
    tools_ = make_device_tools(where_);
    const auto& machine = runtime::backend_of(where_).machine();
    report_.command = options.command, report_.version = options.version, report_.date = now();
    report_.device = where_.name(), report_.chip = machine.name, report_.architecture = machine.architecture;
    report_.processors = machine.processors;
    if (where_.is_cpu()) report_.processor = machine.model;
    report_.energy = options.energy;
    if (options.energy) meter_ = make_energy_meter(where_);
    report_.counters = options.counters;
    if (options.counters)
        report_.no_counters = where_.is_cpu() ? counters_problem(events_of_processor()) : "they are a CPU's";
    if (kinds) report_.of = kinds->of;
    make_peers(kinds);
    report_.at_start = measure_bandwidth(where_, *tools_, yardstick_bytes(where_), &report_.gpu);
    if (options.in_cache || has_peak()) report_.peak_at_start = measure_peak();
    print(table_head(report_));
}

bool session::has_peak() const { return where_.is_cpu() && runtime::backend_of(where_).machine().has_compiler; }

void session::make_peers(const peer_kinds* kinds) {
    if (options_.peers == "none") return;
    const bool asked = !options_.peers.empty();
    std::vector<std::string> names;
    if (asked) {
        const auto words = split(options_.peers, ',');
        if (std::find(words.begin(), words.end(), "none") != words.end())
            throw error(fmt::format("--peers: none goes with no other peer: {}", options_.peers));
        names = parse_choices(options_.peers, "--peers", kinds ? kinds->names : peer_names());
    } else if (kinds) {
        names = kinds->usual(where_);
    } else {
        names = where_.is_cuda() ? std::vector<std::string>{"cublas", "cutensor"}
                                 : std::vector<std::string>{"libxsmm", "eigen", "blas", "ijk", "ikj"};
        if (options_.plain_loops) names.insert(where_.is_cuda() ? names.begin() + 1 : names.end(), "plain");
    }
    for (const std::string& name : names) {
        auto& made = peers_.emplace_back();
        report_.peers.push_back({name, "", ""});
        try {
            if (!kinds) made = make_peer(name, where_, *tools_);
            report_.peers.back().version = kinds ? kinds->open(name, where_, *tools_) : made->version();
        } catch (const error& e) {
            if (asked) throw;
            report_.peers.back().missing = e.what();
        }
    }
}

std::vector<measured> session::offers(workload& load,
                                      const std::function<std::vector<contender>(std::size_t peer)>& of) const {
    std::vector<measured> refused;
    for (std::size_t n = 0; n < report_.peers.size(); ++n) {
        if (!report_.peers[n].missing.empty()) continue;
        try {
            for (contender& c : of(n)) load.contenders.push_back(std::move(c));
        } catch (const error& e) {
            refused.emplace_back();
            refused.back().peer = report_.peers[n].name, refused.back().failure = e.what();
        }
    }
    return refused;
}

void session::print(const std::string& text) const {
    // What goes to the standard output must stay readable by programs.
    std::FILE* const to = options_.json == "-" || options_.csv == "-" ? stderr : stdout;
    fmt::print(to, "{}", text);
    std::fflush(to);
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
    if (w.as_product) {
        product p = w.as_product->p;
        p.math = math_of(w, where_);
        std::vector<operand_set> operands;
        for (const auto& set : sets.addresses()) operands.push_back(operands_at(w, set));
        const std::size_t c = w.as_product->operand[2];
        load.check = [&, p, c, first = operands.front()] {
            return tools_->check(p, first, numbers_of(w.operands[c], c, 0));
        };
        refused = offers(load, [&](std::size_t peer) { return peers_[peer]->contenders(p, operands); });
    }
    if (w.check) load.check = [&] { return w.check(sets.addresses().front()); };
    if (w.contenders)
        refused =
            offers(load, [&](std::size_t peer) { return w.contenders(report_.peers[peer].name, sets.addresses()); });
    const bool count = report_.counters && report_.no_counters.empty();
    r.results = measure(load, where_, *tools_, meter_.get(), {options_.repeat, options_.check, count});
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
    try {
        if (const std::int64_t bytes = memory_of(w); options_.in_cache && bytes > report_.cache)
            throw error(fmt::format("takes {} bytes, and --in-cache allows {}: half of L2 for each thread", bytes,
                                    report_.cache));
        measure_row(r, w);
        failures_in_turn_ = 0;
    } catch (const error& e) {
        r.failure = e.what();
    } catch (const std::bad_alloc&) {
        r.failure = "not enough memory";
    }
    const bool counts =
        best_of(r, "ricci") != nullptr || !r.failure.empty(); // else a signal came before the first round
    if (!r.failure.empty()) {
        r.results.clear();
        gave_up_ = ++failures_in_turn_ >= most_failures;
    }
    if (counts) {
        print(table_line(report_, r));
        report_.rows.push_back(std::move(r));
    }
    return !interrupted() && !gave_up_;
}

int session::finish() {
    report_.complete = !interrupted() && !gave_up_;
    memory_ = {};
    if (report_.complete) try {
            report_.at_end = measure_bandwidth(where_, *tools_, yardstick_bytes(where_), nullptr);
            if (has_peak()) report_.peak_at_end = measure_peak();
        } catch (const error&) { // the rows are there, and are worth more
        }
    print(table_foot(report_));
    write_outputs({{options_.json, options_.json.empty() ? "" : to_json(report_)},
                   {options_.csv, options_.csv.empty() ? "" : to_csv(report_)}});
    const bool failed =
        std::any_of(report_.rows.begin(), report_.rows.end(), [](const row& r) { return !r.failure.empty(); });
    if (interrupted()) return 130;
    return gave_up_ || failed || checked_and_wrong(report_).second > 0 ? 2 : 0;
}

} // namespace ricci::bench
