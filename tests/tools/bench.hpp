// bench: runs `ricci bench` in a folder.
#pragma once

#include "tests/tools/command.hpp"
#include "tests/tools/folder.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ricci::tests {

inline outcome bench(std::vector<std::string> arguments, const folder& f, std::vector<std::string> environment = {}) {
    arguments.insert(arguments.begin(), "bench");
    return ricci_command(arguments, {f.path(), std::move(environment)});
}

} // namespace ricci::tests
