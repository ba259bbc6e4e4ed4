// environment: what the user sets by environment variables.
#pragma once

#include <cstdlib>
#include <cstring>

namespace ricci::runtime {

/// A variable's text; null where it is not set, or empty.
inline const char* variable(const char* name) {
    const char* const text = std::getenv(name);
    return text != nullptr && *text != '\0' ? text : nullptr;
}

/// Whether a variable that asks for something is set, to other than 0.
inline bool is_on(const char* name) {
    const char* const text = variable(name);
    return text != nullptr && std::strcmp(text, "0") != 0;
}

/// Whether RICCI_DEBUG asks for what helps to find mistakes, and costs time.
inline bool is_debugging() { return is_on("RICCI_DEBUG"); }

/// Whether the entries of index tables are checked also where that costs time: with RICCI_CHECK, RICCI_DEBUG, or in a
/// debug build of the library.
inline bool is_checking() {
#ifdef NDEBUG
    return is_on("RICCI_CHECK") || is_debugging();
#else
    return true;
#endif
}

} // namespace ricci::runtime
