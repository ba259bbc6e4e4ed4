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

/// Whether the entries of index tables are checked also where that costs time: with RICCI_CHECK, RICCI_DEBUG, or in a
/// debug build of the library.
inline bool is_checking() {
#ifdef NDEBUG
    return variable("RICCI_CHECK") != nullptr || is_debugging();
#else
    return true;
#endif
}

} // namespace ricci::runtime
