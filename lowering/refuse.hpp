// refuse: throws ricci::error for a statement, which is printed under the message.
#pragma once

#include "lowering/error.hpp"
#include "lowering/print.hpp"

#include <fmt/format.h>

namespace ricci::lowering {

template <class... Args>
[[noreturn]] void refuse(const statement& s, fmt::format_string<Args...> format, Args&&... args) {
    throw error(fmt::format(format, std::forward<Args>(args)...) + "\n  in " + to_string(s));
}

} // namespace ricci::lowering
