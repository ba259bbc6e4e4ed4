// catch: Catch2's macros, version 2 or 3, under version 2's names.
#pragma once
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
namespace Catch {
inline auto Contains(const std::string& part) { return Matchers::ContainsSubstring(part); }
} // namespace Catch
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
