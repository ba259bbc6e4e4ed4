// interrupt: Ctrl-C as a flag.
#include "bench/interrupt.hpp"

#include <csignal>

namespace ricci::bench {

namespace {

volatile std::sig_atomic_t signal_came = 0;

extern "C" void take_signal(int which) {
    signal_came = 1;
    std::signal(which, SIG_DFL);
}

} // namespace

interruptible::interruptible() {
    signal_came = 0;
    std::signal(SIGINT, take_signal);
    std::signal(SIGTERM, take_signal);
}

interruptible::~interruptible() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

bool interrupted() { return signal_came != 0; }

} // namespace ricci::bench
