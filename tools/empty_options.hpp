// empty_options: an option that is given, but nothing with it, is a mistake.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace ricci::tools {

/// What a command takes for "not given" is the empty text; `--sizes ""`, of a variable that was not set, is refused.
inline void refuse_empty_options(CLI::App& app) {
    for (CLI::Option* const option : app.get_options())
        if (option->nonpositional() && option->get_items_expected_max() > 0)
            option->check([](const std::string& word) { return word.empty() ? "it is empty" : ""; });
}

} // namespace ricci::tools
