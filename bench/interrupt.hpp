// interrupt: Ctrl-C as a question that a long run asks between its steps.
#pragma once

namespace ricci::bench {

/// While one lives, Ctrl-C (SIGINT) or SIGTERM only sets a flag; a second one ends the program as usual.
class interruptible {
  public:
    interruptible();
    ~interruptible();
    interruptible(const interruptible&) = delete;
    interruptible& operator=(const interruptible&) = delete;
};

/// Whether a signal came since the last interruptible was made.
bool interrupted();

} // namespace ricci::bench
