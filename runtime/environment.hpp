// environment: what the user sets by environment variables.
#pragma once

#include <cstdlib>

namespace ricci::runtime {

/// A variable's text; null where it is not set, or empty.
inline const char* variable(const char* name) {
    const char* const text = std::getenv(name);
    return text != nullptr && *text != '\0' ? text : nullptr;
}

/// Whether RICCI_DEBUG asks for what helps to find mistakes, and costs time.
inline bool is_debugging() { return variable("RICCI_DEBUG") != nullptr; }

} // namespace ricci::runtime
