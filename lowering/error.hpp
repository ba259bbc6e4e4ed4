// error: what ricci throws for every mistake of a user and every failure of the environment.
#pragma once

#include <stdexcept>
#include <string>

namespace ricci {

/// Whose mistake it is: the statement's or its data's, or the machine's (no compiler, no device, out of memory).
enum class blame { statement, environment };

/// Thrown before anything is written. what() names the statement, the operand, the index and the two values.
class error : public std::runtime_error {
  public:
    explicit error(const std::string& message, ricci::blame who = ricci::blame::statement)
        : std::runtime_error(message), who_(who) {}
    ricci::blame blame() const noexcept { return who_; }

  private:
    ricci::blame who_;
};

/// There is not enough memory, of the host or of a device.
class memory_error : public error {
  public:
    explicit memory_error(const std::string& message) : error(message, blame::environment) {}
};

} // namespace ricci
