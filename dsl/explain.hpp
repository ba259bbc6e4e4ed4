// explain: what would happen to statements, as text.
#pragma once

#include "lowering/statement.hpp"
#include "runtime/run.hpp"

#include <concepts>
#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

namespace ricci {

namespace dsl {

template <std::invocable Body>
std::string explained(Body&& body) {
    std::vector<lowering::statement> statements;
    {
        const runtime::collecting scope([&](const lowering::statement& s) { statements.push_back(s); });
        body();
    }
    return runtime::explain(statements);
}

} // namespace dsl

/// Writes every stage of each statement of `body` to `out`: form, kernel, bytes, flops, cache; of a program with
/// locals those of the whole. Runs none of them.
template <std::invocable Body>
void explain(Body&& body, std::ostream& out) {
    out << dsl::explained(body);
}

/// The same to the standard output.
template <std::invocable Body>
void explain(Body&& body) {
    const auto text = dsl::explained(body);
    std::fwrite(text.data(), 1, text.size(), stdout);
}

} // namespace ricci
