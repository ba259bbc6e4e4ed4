// message: what is said of a wrong text.
#pragma once

#include "dsl/text.hpp"
#include "tests/catch.hpp"

#include <string>
#include <string_view>

namespace ricci::tests {

/// What parse_text says of a text; "accepted".
inline std::string message(std::string_view text) {
    try {
        parse_text(text);
    } catch (const error& e) {
        CHECK(e.blame() == blame::statement);
        return e.what();
    }
    return "accepted";
}

} // namespace ricci::tests
