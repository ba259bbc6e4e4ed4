// math_mode: how exactly the f32 products of statements to come are made.
#include "runtime/math_mode.hpp"

#include "lowering/error.hpp"
#include "runtime/environment.hpp"

#include <atomic>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace ricci::runtime {
namespace {

std::optional<math> math_named(std::string_view name) {
    for (const auto m : {math::full, math::tf32})
        if (name == name_of(m)) return m;
    return std::nullopt;
}

math from_environment() {
    const char* const name = variable("RICCI_MATH");
    if (name == nullptr) return math::full;
    if (const auto named = math_named(name)) return *named;
    throw error(fmt::format("RICCI_MATH is \"{}\": expected full or tf32", name), blame::environment);
}

constexpr int not_chosen = -1; ///< so far: RICCI_MATH is asked on first use
std::atomic<int> process_math{not_chosen};

thread_local std::optional<math> thread_math;

} // namespace

void choose_math(math choice) { process_math = static_cast<int>(choice); }

math chosen_math() {
    if (thread_math) return *thread_math;
    int choice = process_math.load(std::memory_order_relaxed);
    if (choice == not_chosen) [[unlikely]] {
        const int given = static_cast<int>(from_environment());
        if (process_math.compare_exchange_strong(choice, given)) choice = given;
    }
    return static_cast<math>(choice);
}

std::optional<math> exchange_thread_math(std::optional<math> choice) noexcept {
    return std::exchange(thread_math, choice);
}

math parse_math(const std::string& name) {
    if (const auto named = math_named(name)) return *named;
    throw error(fmt::format("no math is named \"{}\": expected full or tf32", name));
}

} // namespace ricci::runtime
