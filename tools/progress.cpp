// progress: how far a long command is, and how long it will take, on stderr.
#include "tools/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ricci::tools {

namespace {

constexpr std::size_t bar_width = 30, name_width = 36;
constexpr double between_bars = 0.1, between_lines = 10; ///< seconds
constexpr double least_known = 0.002; ///< part of the whole after which a guess of the rest is worth showing

} // namespace

std::string shown_time(double seconds) {
    const auto s = static_cast<long>(std::llround(std::max(seconds, 0.0)));
    return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                    : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

progress::progress(std::size_t steps, bool terminal, std::function<clock::time_point()> now)
    : steps_(std::max<std::size_t>(steps, 1)), terminal_(terminal), now_(std::move(now)), begin_(now_()),
      last_(begin_) {}

progress::~progress() { hide(); }

std::string progress::line(std::size_t done, double part, const std::string& name) {
    const auto now = now_();
    const double since = std::chrono::duration<double>(now - last_).count();
    if (since < (terminal_ ? between_bars : between_lines)) return {};
    last_ = now;
    const double all = std::clamp((static_cast<double>(done) + part) / static_cast<double>(steps_), 0.0, 1.0);
    const double passed = std::chrono::duration<double>(now - begin_).count();
    const auto left = all < least_known ? std::string("?:??") : shown_time(passed / all - passed);
    if (!terminal_) return fmt::format("ricci: {} of {} done, {} left", done, steps_, left);
    const auto full = static_cast<std::size_t>(all * static_cast<double>(bar_width));
    return fmt::format("[{}{}] {}/{}, {} left  {:.{}}", std::string(full, '#'), std::string(bar_width - full, '.'),
                       done, steps_, left, name, name_width);
}

void progress::show(std::size_t done, double part, const std::string& name) {
    const auto text = line(done, part, name);
    if (text.empty()) return;
    if (terminal_)
        fmt::print(stderr, "\r{}\033[K", text);
    else
        fmt::print(stderr, "{}\n", text);
    std::fflush(stderr);
    shown_ = true;
}

void progress::hide() {
    if (terminal_ && shown_) fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    shown_ = false;
}

} // namespace ricci::tools
