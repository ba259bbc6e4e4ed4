// block: the scheduler of an emulated block's fibres.
#include "tests/emulator/block.hpp"

#include "lowering/error.hpp"
#include "tests/emulator/sanitizer.hpp"

#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace ricci::tests {
namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;

constexpr std::size_t stack_bytes = RICCI_ASAN ? 256 << 10 : 96 << 10;
constexpr std::size_t warp = 32;
constexpr int most_idle_waits = 1'000'000;

block_runner* current = nullptr; // one block runs at a time: the emulator's lock

} // namespace

void block_runner::run(kernel entry, const void* arguments, int threads, int shared_bytes, std::mt19937_64& random) {
    entry_ = entry, arguments_ = arguments, random_ = &random;
    engine_.reset(state_.shared, static_cast<std::size_t>(shared_bytes));
    failure_.clear();
    idle_waits_ = 0;
    threads_ = static_cast<std::size_t>(threads);
    if (fibres_.size() < threads_) fibres_.resize(threads_);
    state_.barrier = barrier, state_.exchange = exchange;
    current = this;
    attach_engine();
    waiting_ = 0;
    ready_.clear();
    for (std::size_t n = 0; n < threads_; ++n) start(n);
    std::size_t ended = 0;
    while (!ready_.empty()) {
        std::swap(ready_[random() % ready_.size()], ready_.back());
        const std::size_t n = ready_.back();
        ready_.pop_back();
        resume(n);
        if (!failure_.empty()) fail(failure_);
        if (fibres_[n].now != status::at_wait) idle_waits_ = 0;
        switch (fibres_[n].now) {
        case status::at_wait: // to look again
            if (++idle_waits_ > most_idle_waits) fail("its threads wait for copies that nobody has asked for");
            fibres_[n].now = status::ready;
            ready_.push_back(n);
            break;
        case status::at_barrier:
            if (++waiting_ == threads_) pass_barrier();
            break;
        case status::at_warp_operation:
            pass_warp_operation(n);
            break;
        default:
            ++ended;
        }
    }
    if (ended != threads_) fail("its threads wait for each other");
    engine_.check_finished();
}

/// An exception must not cross a fibre's stack: what goes wrong is thrown by the scheduler.
template <class F>
void block_runner::on_engine(F use) {
    try {
        use(current->engine_);
    } catch (const error& e) {
        current->failure_ = e.what();
        current->suspend();
    }
}

void block_runner::attach_engine() {
    state_.start_barrier = [](const void* b, int arrivals) {
        on_engine([&](copy_engine& e) { e.start_barrier(b, arrivals); });
    };
    state_.end_barrier = [](const void* b) { on_engine([&](copy_engine& e) { e.end_barrier(b); }); };
    state_.arrive = [](const void* b, int bytes) { on_engine([&](copy_engine& e) { e.arrive(b, bytes); }); };
    state_.wait = wait;
    state_.bulk_load = [](void* to, const void* from, int bytes, const void* b) {
        on_engine([&](copy_engine& e) { e.load(to, from, bytes, b); });
    };
    state_.bulk_store = [](void* to, const void* from, int bytes) {
        on_engine([&](copy_engine& e) { e.store(current->running_, to, from, bytes, *current->random_); });
    };
    state_.box_load = [](void* to, const unsigned long long* map, long long first, int line, int plane,
                         const void* b) {
        on_engine([&](copy_engine& e) { e.load_box(to, map, {first, line, plane}, b); });
    };
    state_.box_store = [](const unsigned long long* map, long long first, int line, int plane, const void* from) {
        on_engine([&](copy_engine& e) {
            e.store_box(current->running_, map, {first, line, plane}, from, *current->random_);
        });
    };
    state_.wait_bulk_stores = [](int pending) {
        on_engine([&](copy_engine& e) { e.finish_stores(current->running_, pending); });
    };
    state_.async_copy = [](void* to, const void* from, int bytes, int valid) {
        on_engine([&](copy_engine& e) { e.copy_async(current->running_, to, from, bytes, valid); });
    };
    state_.commit_async_copies = [] { on_engine([](copy_engine& e) { e.commit(current->running_); }); };
    state_.wait_async_copies = [](int pending) {
        on_engine([&](copy_engine& e) { e.wait(current->running_, pending); });
    };
}

void block_runner::wait(const void* barrier, int parity) {
    bool ended = false;
    while (!ended) {
        on_engine([&](copy_engine& e) { ended = e.has_ended(barrier, parity, *current->random_); });
        if (ended) break;
        current->fibres_[current->running_].now = status::at_wait;
        current->suspend();
    }
}

void block_runner::start(std::size_t n) {
    fibre& f = fibres_[n];
    if (!f.stack) f.stack.reset(new std::byte[stack_bytes]);
    f.at = make_fcontext(f.stack.get() + stack_bytes, stack_bytes, main); // stacks grow downwards
    f.kept = nullptr;
    f.now = status::ready;
    ready_.push_back(n);
}

void block_runner::main(transfer from) {
    current->scheduler_ = from.fctx;
    enter_stack(nullptr, &current->scheduler_stack_, &current->scheduler_bytes_);
    current->entry_(current->arguments_);
    fibre& f = current->fibres_[current->running_];
    f.now = status::ended;
    leave_stack(nullptr, current->scheduler_stack_, current->scheduler_bytes_);
    jump_fcontext(current->scheduler_, nullptr);
}

void block_runner::resume(std::size_t n) {
    fibre& f = fibres_[n];
    running_ = n;
    state_.thread = {static_cast<unsigned>(n), 0, 0};
    leave_stack(&kept_, f.stack.get(), stack_bytes);
    f.at = jump_fcontext(f.at, nullptr).fctx;
    enter_stack(kept_, nullptr, nullptr);
}

void block_runner::suspend() {
    fibre& f = fibres_[running_];
    leave_stack(&f.kept, scheduler_stack_, scheduler_bytes_);
    scheduler_ = jump_fcontext(scheduler_, nullptr).fctx;
    enter_stack(f.kept, nullptr, nullptr);
}

void block_runner::barrier(int line) {
    fibre& f = current->fibres_[current->running_];
    f.now = status::at_barrier, f.line = line;
    current->suspend();
}

void block_runner::exchange(unsigned mask, int kind, int line, unsigned long long mine, unsigned long long* all) {
    fibre& f = current->fibres_[current->running_];
    f.now = status::at_warp_operation;
    f.mask = mask, f.kind = kind, f.line = line, f.given = mine, f.all = all;
    current->suspend();
}

void block_runner::pass_barrier() {
    for (std::size_t n = 0; n < threads_; ++n) {
        if (fibres_[n].line != fibres_[0].line) fail("its threads are at different __syncthreads");
        fibres_[n].now = status::ready;
        ready_.push_back(n);
    }
    waiting_ = 0;
}

void block_runner::pass_warp_operation(std::size_t n) {
    const fibre& f = fibres_[n];
    const std::size_t first = n / warp * warp;
    if (!(f.mask >> (n - first) & 1))
        fail(fmt::format("thread {} is not in the mask {:#x} of its warp operation in line {}", n, f.mask, f.line));
    const auto takes_part = [&](std::size_t lane) { return first + lane < threads_ && (f.mask >> lane & 1); };
    for (std::size_t lane = 0; lane < warp; ++lane) {
        if (!takes_part(lane)) continue;
        const fibre& other = fibres_[first + lane];
        if (other.now != status::at_warp_operation || other.kind != f.kind || other.line != f.line ||
            other.mask != f.mask)
            return; // not here yet
    }
    unsigned long long all[warp];
    std::memset(all, 0xff, sizeof all);
    for (std::size_t lane = 0; lane < warp; ++lane)
        if (takes_part(lane)) all[lane] = fibres_[first + lane].given;
    for (std::size_t lane = 0; lane < warp; ++lane) {
        if (!takes_part(lane)) continue;
        fibre& other = fibres_[first + lane];
        std::memcpy(other.all, all, sizeof all);
        other.now = status::ready;
        ready_.push_back(first + lane);
    }
}

/// The fibres that still run are left where they are; their stacks are used again.
void block_runner::fail(const std::string& what) {
    const std::string where = states();
    for (fibre& f : fibres_) permit(f.stack.get(), stack_bytes);
    throw error(fmt::format("emulator: block ({}, {}) fails: {}:{}", state_.block.x, state_.block.y, what, where),
                blame::environment);
}

/// Where the threads are, the first of each kind by number.
std::string block_runner::states() const {
    std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;
    for (std::size_t n = 0; n < threads_; ++n) {
        const fibre& f = fibres_[n];
        std::string state = "ready";
        if (f.now == status::ended) state = "ended";
        if (f.now == status::at_wait) state = "waiting for copies";
        if (f.now == status::at_barrier) state = fmt::format("at __syncthreads in line {}", f.line);
        if (f.now == status::at_warp_operation)
            state = fmt::format("at a warp operation in line {} with mask {:#x}", f.line, f.mask);
        auto group = groups.begin();
        while (group != groups.end() && group->first != state) ++group;
        if (group == groups.end()) group = groups.insert(group, {state, {}});
        group->second.push_back(n);
    }
    std::string text;
    for (const auto& [state, members] : groups)
        text += fmt::format("\n  {} of {} threads, among them thread {}, {}", members.size(), threads_, members[0],
                            members.size() == 1 ? "is " + state : "are " + state);
    return text;
}

} // namespace ricci::tests
