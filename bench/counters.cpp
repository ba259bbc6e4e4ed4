// counters: perf_event_open, one counter for each event and thread.
#include "bench/counters.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ricci::bench {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t l1_accesses(std::uint64_t operation) {
    return PERF_COUNT_HW_CACHE_L1D | operation << 8 | std::uint64_t{PERF_COUNT_HW_CACHE_RESULT_ACCESS} << 16;
}

constexpr std::array<counted_event, 4> of_processor{
    {{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
     {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
     {"loads", PERF_TYPE_HW_CACHE, l1_accesses(PERF_COUNT_HW_CACHE_OP_READ)},
     {"stores", PERF_TYPE_HW_CACHE, l1_accesses(PERF_COUNT_HW_CACHE_OP_WRITE)}}};

/// An event of a thread of this process (0: of this one), or -1 and errno.
class counter {
  public:
    counter(const counted_event& event, pid_t thread) {
        perf_event_attr attributes{};
        attributes.size = sizeof attributes;
        attributes.type = event.type;
        attributes.config = event.config;
        attributes.disabled = 1;
        attributes.exclude_kernel = attributes.exclude_hv = 1; // what everyone may count
        attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        file_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
    }
    counter(counter&& other) noexcept : file_(other.file_) { other.file_ = -1; }
    counter(const counter&) = delete;
    counter& operator=(const counter&) = delete;
    ~counter() {
        if (file_ >= 0) close(file_);
    }

    bool counts() const { return file_ >= 0; }
    void start() const { ioctl(file_, PERF_EVENT_IOC_ENABLE, 0); }
    void stop() const { ioctl(file_, PERF_EVENT_IOC_DISABLE, 0); }
    /// Nothing where the thread ran and the event was never counted: others hold all counters.
    std::optional<double> value() const {
        struct {
            std::uint64_t count, enabled, running;
        } now{};
        if (read(file_, &now, sizeof now) != sizeof now || (now.enabled > 0 && now.running == 0)) return std::nullopt;
        if (now.running == 0) return 0; // the thread slept
        return static_cast<double>(now.count) * static_cast<double>(now.enabled) / static_cast<double>(now.running);
    }

  private:
    int file_ = -1;
};

std::vector<pid_t> threads_of_process() {
    std::vector<pid_t> all;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator("/proc/self/task", failure)) {
        const std::string name = entry.path().filename();
        pid_t thread = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc()) all.push_back(thread);
    }
    if (all.empty()) all.push_back(0);
    return all;
}

} // namespace

std::span<const counted_event> events_of_processor() { return of_processor; }

std::string counters_problem(std::span<const counted_event> events) {
    std::string problem;
    for (const counted_event& event : events) {
        errno = 0;
        if (counter(event, 0).counts()) return "";
        if (!problem.empty()) continue;
        problem = errno == ENOENT || errno == EOPNOTSUPP || errno == ENODEV
                      ? "the processor offers none, as in many virtual machines"
                  : errno == EACCES || errno == EPERM
                      ? "not allowed; see /proc/sys/kernel/perf_event_paranoid"
                      : std::generic_category().message(errno);
    }
    return problem;
}

event_counts count_events(std::span<const counted_event> events, const std::function<void()>& work) {
    const auto threads = threads_of_process();
    std::vector<std::vector<counter>> all(events.size());
    for (std::size_t e = 0; e < events.size(); ++e)
        for (const pid_t thread : threads)
            if (counter one(events[e], thread); one.counts()) all[e].push_back(std::move(one));
    for (const auto& of_event : all)
        for (const counter& c : of_event) c.start();
    work();
    for (const auto& of_event : all)
        for (const counter& c : of_event) c.stop();
    event_counts out;
    for (const auto& of_event : all) {
        std::optional<double> sum;
        if (!of_event.empty()) sum = 0;
        for (const counter& c : of_event) {
            const auto value = c.value();
            sum = sum && value ? std::optional(*sum + *value) : std::nullopt;
        }
        out.push_back(sum);
    }
    return out;
}

} // namespace ricci::bench
