// c_error: how what is thrown leaves the C interface: as a status, and a message that the thread keeps.
#pragma once

#include "lowering/error.hpp"

#include <string>

namespace ricci::dsl {

/// An argument of a C function is wrong.
class argument_error : public error {
  public:
    /// `number` counts the function's arguments from 1; `why` goes on from the argument's name: "is -1".
    argument_error(int number, const std::string& name, const std::string& why)
        : error("argument " + std::to_string(number) + " (" + name + ") " + why), number_(number) {}
    int number() const noexcept { return number_; }

  private:
    int number_;
};

/// The status of the exception that is being handled; its message becomes the thread's last.
int c_status(const char* function) noexcept;

/// The thread's last message, never null.
const char* c_message() noexcept;

/// Runs the body of the C function of this name and gives its status.
template <class Body>
int c_call(const char* function, Body body) noexcept {
    try {
        body();
        return 0;
    } catch (...) {
        return c_status(function);
    }
}

} // namespace ricci::dsl
