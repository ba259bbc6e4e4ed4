// progress: how far a long command is, and how long it will take, on stderr.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace ricci::tools {

/// "0:07", "12:30", "1:02:03".
std::string shown_time(double seconds);

/// On a terminal a bar in one line that is written over; elsewhere a line now and then.
class progress {
  public:
    using clock = std::chrono::steady_clock;
    explicit progress(std::size_t steps, bool terminal, std::function<clock::time_point()> now = clock::now);
    ~progress(); ///< takes the bar away
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    /// `done` steps, and `part` of the next one, which is called `name`.
    void show(std::size_t done, double part, const std::string& name);
    /// Takes the bar away, for other lines to be printed.
    void hide();
    /// What show() would print, without the bar's control characters; empty where it is too early for a new one.
    std::string line(std::size_t done, double part, const std::string& name);

  private:
    std::size_t steps_;
    bool terminal_, shown_ = false;
    std::function<clock::time_point()> now_;
    clock::time_point begin_, last_;
};

} // namespace ricci::tools
