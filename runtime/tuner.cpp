// tuner: measures the parameters that a step's or a chain's kernel may have against each other.
#include "runtime/tuner.hpp"

#include "lowering/chain_shape.hpp"
#include "lowering/error.hpp"
#include "lowering/factor_layout.hpp"
#include "lowering/families.hpp"
#include "lowering/matrix_sizes.hpp"
#include "runtime/executable.hpp"
#include "runtime/host_threads.hpp"
#include "runtime/kernel_arguments.hpp"
#include "runtime/kernel_source_families.hpp"
#include "runtime/loaded_request.hpp"
#include "runtime/result_check.hpp"
#include "runtime/step_memory.hpp"

#include <algorithm>
#include <cmath>

namespace ricci::runtime {
namespace {

using namespace lowering;
using outcome = candidate::outcome;

/// Of a thread: a few words, outside of loops, may be worth more warps.
constexpr int most_local_bytes = 64;
/// Times the best so far in its first sample: not measured further, unless the tolerance is larger.
constexpr double hopeless = 1.3;
constexpr double nearly_best = 1.02; ///< measured again
/// Batches of any length have the same kernel: of those that are as good the fastest for one product alone is kept,
/// if it takes at most `clearly_faster` of the time that the model's choice takes.
constexpr double as_good = 1.015, clearly_faster = 0.97;
constexpr int alone_repetitions = 50;       ///< launches of one product
constexpr double queueing_seconds = 300e-6; ///< that the host takes for these
constexpr std::size_t most_finalists = 4;
constexpr double compiling = 0.5; ///< of a step's time
constexpr int most_repetitions = 1000;

/// What is tuned: a kernel, whatever it computes.
struct subject {
    tuned_step planned;
    scalar_type compute{};
    std::function<kernel_request(const batched_tile&)> kernel;
    std::function<kernel_request(const batched_tile&)> alone; ///< of one product of a batch; null: it has none
    std::function<step_memory(std::size_t least_bytes)> memory;
    std::function<bool(const std::vector<step_output>&, const std::vector<step_output>&)> agree; ///< two results
};

class kernel_tuner {
  public:
    kernel_tuner(backend& b, subject what, const statement& s, const tuning_effort& effort)
        : backend_(b), what_(std::move(what)), statement_(s), effort_(effort), out_(std::move(what_.planned)) {
        for (std::size_t n = 0; n < out_.candidates.size(); ++n)
            if (out_.candidates[n].result == outcome::measured) kept_.push_back(n);
        kernels_.resize(out_.candidates.size());
    }

    tuned_step run() {
        compile();
        if (stopped()) return std::move(out_);
        // A GPU's launches come to cold caches; what a CPU sweeps lies in its cache if it fits.
        const bool cold = backend_.machine().kind == target::cuda;
        memory_.emplace(what_.memory(cold ? effort_.memory_bytes : 0));
        measure();
        if (stopped()) return std::move(out_);
        measure_finalists();
        if (!stopped()) choose();
        return std::move(out_);
    }

  private:
    candidate& at(std::size_t n) { return out_.candidates[n]; }

    bool stopped() {
        out_.stopped = out_.stopped || (effort_.stop && effort_.stop());
        return out_.stopped;
    }
    void tell(double part) {
        if (effort_.progress) effort_.progress(part);
    }

    /// Threads take the next candidate each; this one tells how far they are.
    void compile() {
        on_host_threads(
            kept_.size(), effort_.threads, [&](std::size_t n) { load(kept_[n]); },
            [&](std::size_t done) {
                tell(compiling * static_cast<double>(done) / static_cast<double>(kept_.size()));
                return !stopped();
            });
        if (kept_.empty() || out_.stopped) return;
        if (const auto& model = at(kept_.front()); model.result == outcome::failed)
            throw error(model.problem, blame::environment);
    }

    void load(std::size_t n) noexcept {
        auto& c = at(n);
        try {
            auto& kernel = kernels_[n];
            kernel = loaded_request(backend_, what_.kernel(c.tile));
            c.shared_bytes = kernel.request().shape.shared_bytes;
            c.use = kernel.use(backend_);
            // The model's choice runs where nothing was tuned: what takes longer than that is not to be chosen.
            if (c.use.local_bytes > most_local_bytes && n != kept_.front()) c.result = outcome::spills;
        } catch (const std::exception& e) {
            c.result = outcome::failed;
            c.problem = e.what();
        }
    }

    /// One launch on each of the sets, in turn.
    void launch(std::size_t n, int repetitions) {
        for (int r = 0; r < repetitions; ++r) kernels_[n].launch(backend_, words_[turn_++ % words_.size()]);
    }

    /// Of launches that find what they read as it was at first: where they overwrite it, it is put back before, a
    /// launch on each set, which is not timed.
    double sample(std::size_t n, int repetitions) {
        if (!memory_->is_used_up()) return seconds_of(n, repetitions) / repetitions;
        double seconds = 0;
        for (int done = 0; done < repetitions;) {
            const int fresh = std::min(repetitions - done, memory_->sets());
            for (int set = 0; set < fresh; ++set) memory_->refill_outputs(set);
            turn_ = 0;
            seconds += seconds_of(n, fresh);
            done += fresh;
        }
        return seconds / repetitions;
    }
    double seconds_of(std::size_t n, int launches) {
        return backend_.seconds_of([&] { launch(n, launches); });
    }

    void write_words(std::size_t n) {
        words_.resize(static_cast<std::size_t>(memory_->sets()));
        for (int set = 0; set < memory_->sets(); ++set)
            write_arguments(
                backend_, kernels_[n].request(), what_.compute, statement_.scalars,
                [&](std::int32_t source) { return memory_->address(set, source); },
                words_[static_cast<std::size_t>(set)]);
    }

    void measure() {
        samples_.resize(out_.candidates.size());
        double best = INFINITY;
        std::size_t done = 0;
        for (const auto n : kept_) {
            if (stopped()) return;
            tell(compiling + (1 - compiling) * 0.9 * static_cast<double>(done++) / static_cast<double>(kept_.size()));
            auto& c = at(n);
            if (c.result != outcome::measured) continue;
            try {
                time(n, best);
            } catch (const error& e) {
                if (n == kept_.front()) throw;
                c.result = outcome::failed;
                c.problem = e.what();
            }
            if (c.result == outcome::measured) best = std::min(best, c.seconds);
        }
    }

    void time(std::size_t n, double best) {
        auto& c = at(n);
        write_words(n);
        memory_->refill_outputs(refilled_++ % memory_->sets()); // sums of many launches would leave the range of half
        sample(n, 1); // the first launch
        if (repetitions_ == 0) {
            const auto once = sample(n, 1);
            repetitions_ = once > 0 ? static_cast<int>(std::clamp(std::ceil(effort_.sample_seconds / once), 1.0,
                                                                  double{most_repetitions}))
                                    : 1;
        }
        auto& all = samples_[n];
        all.push_back(sample(n, repetitions_));
        c.seconds = all.front();
        if (c.seconds > std::max(hopeless, 1 + effort_.tolerance) * best) {
            c.result = outcome::abandoned;
            return;
        }
        while (static_cast<int>(all.size()) < effort_.samples) all.push_back(sample(n, repetitions_));
        c.seconds = median(all);
    }

    static double median(std::vector<double> values) {
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        return *middle;
    }

    /// Usable ones, the fastest first.
    std::vector<std::size_t> ranked() {
        std::vector<std::size_t> out;
        for (const auto n : kept_)
            if (at(n).result == outcome::measured) out.push_back(n);
        std::stable_sort(out.begin(), out.end(),
                         [&](std::size_t a, std::size_t b) { return at(a).seconds < at(b).seconds; });
        return out;
    }

    void measure_finalists() {
        auto all = ranked();
        const auto end = std::find_if(all.begin(), all.end(), [&](std::size_t n) {
            return at(n).seconds > nearly_best * at(all.front()).seconds;
        });
        all.erase(end, all.end());
        all.resize(std::min(all.size(), most_finalists));
        if (all.size() < 2) return;
        for (int turn = 0; turn < effort_.samples; ++turn)
            for (const auto n : all) {
                if (stopped()) return;
                write_words(n);
                samples_[n].push_back(sample(n, repetitions_));
            }
        for (const auto n : all) at(n).seconds = median(samples_[n]);
    }

    std::vector<step_output> result_of(std::size_t n) {
        write_words(n);
        memory_->refill_outputs(0);
        turn_ = 0;
        launch(n, 1);
        return memory_->outputs(0);
    }

    /// One product of the batch, as it is launched in a short one, on the first set: behind launches of the whole
    /// that keep the device busy while the host queues it, whose time is taken off.
    double seconds_alone(std::size_t n) {
        const loaded_request kernel(backend_, what_.alone(at(n).tile));
        std::vector<std::uint64_t> words;
        const auto address = [&](std::int32_t source) { return memory_->address(0, source); };
        write_arguments(backend_, kernel.request(), what_.compute, statement_.scalars, address, words);
        write_words(n);
        memory_->refill_outputs(0);
        const auto before =
            static_cast<int>(std::clamp(queueing_seconds / at(n).seconds, 1.0, double{most_repetitions}));
        std::vector<double> differences; // of neighbors in time
        for (int turn = 0; turn < effort_.samples; ++turn) {
            const auto whole = seconds_of(n, before);
            const auto both = backend_.seconds_of([&] {
                launch(n, before);
                for (int r = 0; r < alone_repetitions; ++r) kernel.launch(backend_, words);
            });
            differences.push_back((both - whole) / alone_repetitions);
        }
        return median(differences);
    }

    /// Of candidates that are as good, the fastest with one product alone; the model's choice if none is clearly.
    std::size_t best_alone(const std::vector<std::size_t>& good) {
        const auto model = std::find(good.begin(), good.end(), kept_.front());
        const auto preferred = model == good.end() ? good.front() : *model;
        if (good.size() < 2 || !what_.alone) return preferred;
        std::size_t best = preferred;
        double least = INFINITY;
        const auto take = [&](std::size_t n, double times) {
            if (stopped()) return;
            try {
                const auto own = times * seconds_alone(n);
                if (own > 0 && own < least) best = n, least = own;
            } catch (const error&) { // measured for many, but not alone: no reason to prefer it
            }
        };
        take(preferred, clearly_faster);
        for (const auto n : good)
            if (n != preferred) take(n, 1);
        return best;
    }

    void choose() {
        std::vector<step_output> right;
        auto all = ranked();
        if (all.empty()) return tell(1);
        const auto is_as_good = [&](std::size_t n) { return at(n).seconds <= as_good * at(all.front()).seconds; };
        const std::vector<std::size_t> good(all.begin(), std::find_if_not(all.begin(), all.end(), is_as_good));
        const auto first = std::find(all.begin(), all.end(), best_alone(good));
        std::rotate(all.begin(), first, first + 1);
        for (const auto n : all) {
            if (out_.best &&
                (effort_.tolerance == 0 || at(n).seconds > (1 + effort_.tolerance) * at(*out_.best).seconds))
                continue;
            if (n != kept_.front()) {
                if (right.empty()) right = result_of(kept_.front());
                if (!what_.agree(right, result_of(n))) {
                    at(n).result = outcome::wrong;
                    continue;
                }
            }
            if (!out_.best) out_.best = n;
        }
        tell(1);
    }

    backend& backend_;
    subject what_;
    const statement& statement_;
    const tuning_effort& effort_;
    tuned_step out_;
    std::vector<std::size_t> kept_; ///< candidates to measure, the model's choice first
    std::vector<loaded_request> kernels_;
    std::optional<step_memory> memory_;
    std::vector<std::vector<std::uint64_t>> words_; ///< of the candidate in hand, one for each set
    std::vector<std::vector<double>> samples_;
    std::size_t turn_ = 0;
    int refilled_ = 0;
    int repetitions_ = 0; ///< launches a sample, the same for all
};

tuned_step tune_chain(backend& b, const plan& p, std::int32_t chain, const statement& s,
                      const tuning_effort& effort) {
    const auto& c = p.chains[static_cast<std::size_t>(chain)];
    subject what;
    what.planned = plan_tuning(c, b.machine(), effort);
    what.compute = c.compute;
    what.kernel = [&](const batched_tile& t) {
        auto made = c;
        set_tile(made, t);
        return make_chain(made, b.machine());
    };
    what.memory = [&](std::size_t bytes) { return step_memory(b, p, chain, s, bytes); };
    what.agree = [](const auto& x, const auto& y) { return agree_nearly(x, y); };
    return kernel_tuner(b, std::move(what), s, effort).run();
}

/// With memory of its own for whichever candidate wants the most.
step with_workspace_for_all(step st, const tuned_step& planned, const machine& chip) {
    for (const auto& c : planned.candidates)
        st.workspace.bytes = std::max(st.workspace.bytes, factor_workspace_bytes(st, c.tile, chip));
    if (st.workspace.bytes == 0 || st.workspace.source < 0) return st;
    for (const auto& o : st.operands) st.workspace.source = std::min(st.workspace.source, o.source);
    st.workspace.source -= 1;
    return st;
}

} // namespace

tuned_step tune_step(backend& b, const step& st, const statement& s, const tuning_effort& effort) {
    const auto kernel_of = [&](const step& what, const batched_tile& t) {
        auto made = what;
        made.batched = t;
        return make_kernel(made, b.machine());
    };
    const bool of_matrices = st.matrices.task != matrix_task::none;
    subject what;
    what.planned = plan_tuning(st, b.machine(), effort);
    what.compute = st.compute;
    const auto own = of_matrices ? with_workspace_for_all(st, what.planned, b.machine()) : st;
    what.kernel = [&](const batched_tile& t) { return kernel_of(own, t); };
    auto one = own;
    const auto batch = of_matrices ? batch_of_matrices(st) : axes_of(st, axis_class::batch);
    for (const auto a : batch) one.axes[static_cast<std::size_t>(a)].extent = 1;
    // Matrices are factored again and again, alone, in the place of what came before: where a GPU is as fast as ever
    // with what becomes of them a CPU may not be.
    if (!batch.empty() && (!of_matrices || b.machine().kind == target::cuda))
        what.alone = [&](const batched_tile& t) { return kernel_of(one, t); };
    what.memory = [&](std::size_t bytes) { return step_memory(b, own, s, bytes); };
    what.agree = [&](const auto& x, const auto& y) { return agree(st, s, x, y); };
    return kernel_tuner(b, std::move(what), s, effort).run();
}

tuned_step tune_kernel(backend& b, const plan& p, std::size_t step, const statement& s, const tuning_effort& effort) {
    const auto& st = p.steps[step];
    return st.chain < 0 ? tune_step(b, st, s, effort) : tune_chain(b, p, st.chain, s, effort);
}

} // namespace ricci::runtime
