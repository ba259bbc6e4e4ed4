// language_version: C++17, for want of an option.
// options: -std=c++17
// expect: ricci needs C++20: compile with -std=c++20
#ifdef BROKEN
#include "ricci.hpp"
#endif
