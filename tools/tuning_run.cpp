// tuning_run: tunes a list of statements on one device, and says what came of it.
#include "tools/tuning_run.hpp"

#include "bench/interrupt.hpp"
#include "bench/output_files.hpp"
#include "tools/fewest_kernels.hpp"
#include "tools/progress.hpp"
#include "tools/shapes.hpp"

#include <ricci/lowering/chain_key.hpp>
#include <ricci/lowering/families.hpp>
#include <ricci/lowering/lower.hpp>
#include <ricci/lowering/lower_program.hpp>
#include <ricci/lowering/matrix_sizes.hpp>
#include <ricci/lowering/print.hpp>
#include <ricci/runtime/backend.hpp>
#include <ricci/runtime/kernel_cache.hpp>
#include <ricci/runtime/program_cache.hpp>
#include <ricci/runtime/run.hpp>
#include <ricci/runtime/tuning_database.hpp>
#include <ricci/runtime/tuning_json.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <unistd.h>

namespace ricci::tools {

namespace {

using namespace lowering;
using runtime::candidate;
using runtime::tuned_step;
using outcome = candidate::outcome;

constexpr std::size_t most_failures = 3; ///< in turn: then the device, not the step, is at fault

/// The third is that of the sum, or of the right-hand sides of matrices that are factored or solved with.
struct extents {
    std::int64_t m, n, k, batch;
};
extents extents_of(const step& st) {
    using enum axis_class;
    if (st.matrices.task == matrix_task::none)
        return {extent_of(st, m), extent_of(st, n), extent_of(st, k), extent_of(st, batch)};
    const auto sizes = matrix_sizes_of(st);
    return {sizes.m, sizes.n, sizes.r, sizes.matrices};
}

/// Of the kernel that step `n` begins.
std::string name_of_job(const plan& p, std::size_t n, std::string_view statements) {
    const auto& st = p.steps[n];
    if (st.chain >= 0) {
        const auto& c = p.chains[static_cast<std::size_t>(st.chain)];
        return fmt::format("{} in {}: {} phases over {}, {} elements", statements, name_of(c.compute),
                           c.phases.size(), c.axis, c.elements);
    }
    const auto [em, en, ek, batch] = extents_of(st);
    if (st.matrices.task != matrix_task::none)
        return fmt::format("{} in {}: m={} n={}{} batch={}", statements, name_of(st.compute), em, en,
                           ek > 0 ? fmt::format(" r={}", ek) : "", batch);
    const auto type = [&](std::int32_t o) { return st.operands[static_cast<std::size_t>(o)].type; };
    std::string types(name_of(type(st.x)));
    if (type(st.y) != type(st.x)) types += fmt::format("*{}", name_of(type(st.y)));
    if (type(0) != type(st.x)) types += fmt::format(":{}", name_of(type(0)));
    return fmt::format("{} in {}{}: m={} n={} k={} batch={}", statements, types,
                       st.math == math_mode::tf32 ? " as tf32" : "", em, en, ek, batch);
}

std::string plural(std::size_t count, std::string_view one) {
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

/// "412 candidates; 71 predicted more than 1.5x the best; 277 like others that are kept; 64 left".
std::string pruning(const tuned_step& t, const runtime::tuning_effort& effort) {
    const auto pruned = t.count(outcome::pruned), alike = t.count(outcome::alike), all = t.candidates.size();
    auto out = plural(all, "candidate");
    if (pruned > 0) out += fmt::format("; {} predicted more than {:.3g}x the best", pruned, effort.prune);
    if (alike > 0) out += fmt::format("; {} like others that are kept", alike);
    return out + fmt::format("; {} left", all - pruned - alike);
}

bool is_kept(const candidate& c) { return c.result != outcome::pruned && c.result != outcome::alike; }

/// ", 38 measured, 2 spill registers, 1 abandoned".
std::string outcomes(const tuned_step& t) {
    std::string out = fmt::format(": {} measured", t.count(outcome::measured));
    const auto add = [&](outcome which, std::string_view words) {
        if (const auto n = t.count(which); n > 0) out += fmt::format(", {} {}", n, words);
    };
    add(outcome::abandoned, "abandoned as hopeless");
    add(outcome::spills, "refused for spilled registers");
    add(outcome::failed, "failed");
    add(outcome::wrong, "refused for another result");
    return out;
}

std::string microseconds(double seconds) { return fmt::format("{:.4g} us", seconds * 1e6); }

void print_result(std::FILE* text, const tuning_job& job, const tuned_step& t, const runtime::tuning_effort& effort,
                  target where) {
    const auto name = [&](const candidate& c) { return to_string(c.tile, job.step(), where); };
    fmt::print(text, "{}\n  {}{}\n", job.name, pruning(t, effort), outcomes(t));
    for (const auto& c : t.candidates)
        if (c.result == outcome::failed || c.result == outcome::wrong) {
            fmt::print(text, "  {}: {}\n", name(c),
                       c.result == outcome::wrong ? "its result is not the model's choice's"
                                                  : c.problem.substr(0, c.problem.find('\n')));
            break; // of one kind, mostly
        }
    if (!t.best) return fmt::print(text, "  none can be used: the model's choice stays\n");
    const auto& best = t.candidates[*t.best];
    const auto& model = t.candidates.front();
    fmt::print(text, "  best {}: {}", name(best), microseconds(best.seconds));
    if (*t.best == 0)
        fmt::print(text, ", the model's choice\n");
    else if (model.seconds > 0)
        fmt::print(text, ", {:.3f} of the model's choice {}: {}\n", best.seconds / model.seconds, name(model),
                   microseconds(model.seconds));
    else
        fmt::print(text, "; the model's choice {} cannot be used\n", name(model));
}

nlohmann::json row_of(const tuning_job& job, const candidate& c) {
    const auto [m, n, k, batch] = extents_of(job.step());
    nlohmann::json row{{"statement", to_string(job.statement)},
                       {"layout", job.key.layout},
                       {"strides", job.key.strides},
                       {"batch_class", name_of(job.key.batch)},
                       {"m", m},
                       {"n", n},
                       {"k", k},
                       {"batch", batch},
                       {"tile", nlohmann::json::parse(runtime::to_json(c.tile))},
                       {"predicted_us", c.predicted * 1e6},
                       {"us", c.seconds * 1e6},
                       {"outcome", name_of(c.result)},
                       {"registers", c.use.registers},
                       {"local_bytes", c.use.local_bytes},
                       {"shared_bytes", c.shared_bytes}};
    if (!c.problem.empty()) row["problem"] = c.problem;
    return row;
}

/// Timings of all candidates that were compiled, one a line.
void write_timings(const std::string& file, const std::vector<tuned_job>& results, const machine& chip) {
    auto text = nlohmann::json{{"chip", chip.name},
                               {"architecture", chip.architecture},
                               {"processors", chip.processors},
                               {"bandwidth", chip.bandwidth}}
                    .dump();
    for (const auto& [job, result, again] : results)
        for (std::size_t n = 0; n < result.candidates.size(); ++n) {
            const auto& c = again && is_kept(again->candidates[n]) ? again->candidates[n] : result.candidates[n];
            if (is_kept(c)) text += "\n" + row_of(*job, c).dump();
        }
    bench::write_outputs({{file, text + "\n"}});
}

tuning_table winner(const tuned_step& t, std::size_t which) {
    tuning_table out;
    out.put(t.key, {t.candidates[which].tile, t.candidates[which].seconds});
    return out;
}

class work_finder {
  public:
    work_finder(const machine& chip, device where) : chip_(chip), where_(where) {}

    tuning_work take() && { return std::move(work_); }

    void add(const tuning_request& request) {
        const auto program = place_shapes(request.statements, request.operands, where_);
        const bool is_apart = program.locals.empty();
        std::vector<statement> statements;
        for (const auto& text : program.statements) try {
                const auto& s = statements.emplace_back(bind(text, program));
                if (is_apart) add_jobs(s, lower(s, chip_), to_string(s)); // finds its mistakes, which get its number
            } catch (const error& e) {
                throw numbered(e, text, program);
            }
        if (is_apart) {
            std::ranges::move(statements, std::back_inserter(work_.statements));
            return;
        }
        if (runtime::placed_program placed; placed.take(statements))
            add_jobs(placed.joined, lower_program(placed.statements, placed.locals, placed.shared, chip_),
                     request.statements);
        work_.programs.push_back(std::move(statements));
    }

  private:
    void add_jobs(const statement& s, plan made, std::string_view text) {
        const auto p = std::make_shared<const plan>(std::move(made));
        for (std::size_t n = 0; n < p->steps.size(); ++n) {
            if (!runtime::is_worth_measuring(*p, n, chip_)) continue;
            auto key = key_of(*p, n, chip_);
            if (seen_.insert(key).second) work_.jobs.push_back({s, p, n, std::move(key), name_of_job(*p, n, text)});
        }
    }

    const machine& chip_;
    const device where_;
    std::set<tuning_key> seen_;
    tuning_work work_;
};

} // namespace

tuning_work work_of(const std::vector<tuning_request>& requests, const machine& chip, device where) {
    work_finder finder(chip, where);
    for (std::size_t n = 0; n < requests.size(); ++n) try {
            finder.add(requests[n]);
        } catch (const error& e) {
            if (!requests[n].place.empty())
                throw error(fmt::format("{}: {}", requests[n].place, e.what()), e.blame());
            if (requests.size() == 1) throw;
            throw error(
                fmt::format("request {} of {}, {}: {}", n + 1, requests.size(), requests[n].statements, e.what()),
                e.blame());
        }
    return std::move(finder).take();
}

void print_candidates(std::FILE* text, const std::vector<tuning_job>& jobs, const machine& chip,
                      const runtime::tuning_effort& effort) {
    constexpr std::size_t most_shown = 10;
    for (const auto& job : jobs) {
        const auto t = runtime::plan_tuning(*job.plan, job.number, chip, effort);
        fmt::print(text, "{}\n  {}\n", job.name, pruning(t, effort));
        std::size_t shown = 0;
        for (const auto& c : t.candidates) {
            if (!is_kept(c) || (std::isfinite(effort.prune) && shown == most_shown)) continue;
            fmt::print(text, "  {:>10}  {}{}\n", microseconds(c.predicted), to_string(c.tile, job.step(), chip.kind),
                       shown == 0 ? "  (the model's choice)" : "");
            ++shown;
        }
        if (const auto rest =
                static_cast<std::size_t>(std::count_if(t.candidates.begin(), t.candidates.end(), is_kept)) - shown;
            rest > 0)
            fmt::print(text, "  and {} more\n", rest);
    }
}

int run_tuning(const std::vector<tuning_job>& jobs, device where, runtime::tuning_effort effort,
               const tuning_output& output) {
    auto& backend = runtime::backend_of(where);
    auto& database = runtime::tuning_database_of(backend.machine());
    const bench::interruptible until_signal;
    progress bar(jobs.size() * (output.tolerance ? 2 : 1), isatty(STDERR_FILENO) == 1);
    std::vector<tuned_job> results;
    std::size_t done = 0, failed = 0, failed_in_turn = 0;
    effort.stop = [&] { return bench::interrupted(); };
    effort.tolerance = output.tolerance.value_or(0);
    for (const auto& job : jobs) {
        if (bench::interrupted() || failed_in_turn == most_failures) break;
        effort.progress = [&](double part) { bar.show(done, part, job.name); };
        try {
            auto result = runtime::tune_kernel(backend, *job.plan, job.number, job.statement, effort);
            if (result.stopped) break;
            bar.hide();
            print_result(output.text, job, result, effort, backend.machine().kind);
            if (result.best) database.keep(winner(result, *result.best));
            results.push_back({&job, std::move(result), std::nullopt});
            failed_in_turn = 0;
        } catch (const error& e) { // of this kernel or its memory: the others may do
            bar.hide();
            fmt::print(output.text, "{}\n  not tuned: {}\n", job.name, e.what());
            ++failed, ++failed_in_turn;
        }
        std::fflush(output.text);
        ++done;
    }
    bar.hide();
    if (output.tolerance && !results.empty()) {
        // What is good at one size may be at another, where the model did not have it measured.
        const auto patterns = near_best(times_of(results, backend.machine().kind), *output.tolerance);
        fmt::print(output.text, "\nmeasured at every size: {} within {:.3g}% of the best at one or more\n",
                   plural(patterns.size(), "kernel"), 100 * *output.tolerance);
        std::fflush(output.text);
        done = jobs.size();
        for (auto& each : results) {
            if (bench::interrupted()) break;
            const auto tiles = tiles_of(each, patterns, backend.machine().kind);
            effort.only = &tiles;
            effort.progress = [&](double part) { bar.show(done, part, each.job->name); };
            try {
                auto again =
                    runtime::tune_kernel(backend, *each.job->plan, each.job->number, each.job->statement, effort);
                if (again.stopped) break;
                if (again.best) each.again = std::move(again);
            } catch (const error& e) { // what the first round found stays
                bar.hide();
                fmt::print(output.text, "{}\n  not measured again: {}\n", each.job->name, e.what());
            }
            ++done;
        }
        bar.hide();
        keep_fewest(output.text, results, *output.tolerance, backend.machine().kind, database);
    }
    if (!output.json.empty()) write_timings(output.json, results, backend.machine());
    const bool stopped = bench::interrupted();
    if (stopped || failed > 0)
        fmt::print(stderr, "ricci: {}{} of {} tuned{}; what was measured is {}\n", stopped ? "stopped: " : "",
                   results.size(), jobs.size(), failed > 0 ? fmt::format(", {} failed", failed) : "", output.kept);
    return stopped ? stopped_by_signal : failed > 0 ? 2 : 0;
}

void compile_ahead(std::FILE* text, const tuning_work& work) {
    const auto before = runtime::compile_count();
    auto count = work.statements.size();
    runtime::prepare(work.statements);
    for (const auto& program : work.programs) runtime::prepare(program), count += program.size();
    const auto compiled = static_cast<std::size_t>(runtime::compile_count() - before);
    fmt::print(text, "{}: {} compiled now, the others before\n", plural(count, "statement"),
               plural(compiled, "kernel"));
}

} // namespace ricci::tools
