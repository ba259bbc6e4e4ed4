// collect: the statements that a callable would run.
#pragma once

#include "lowering/statement.hpp"
#include "runtime/run.hpp"

#include <concepts>
#include <vector>

namespace ricci::dsl {

/// Calls `body` and returns its statements, none of which runs. Tensors that it creates are gone then, unless a
/// runtime::kept_memory lives.
template <std::invocable Body>
std::vector<lowering::statement> collected(Body&& body) {
    std::vector<lowering::statement> statements;
    const runtime::collecting scope([&](const lowering::statement& s) { statements.push_back(s); });
    body();
    return statements;
}

} // namespace ricci::dsl
