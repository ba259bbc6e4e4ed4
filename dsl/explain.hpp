// explain: what would happen to statements, as text.
#pragma once

#include "lowering/statement.hpp"
#include "runtime/run.hpp"

#include <concepts>
#include <cstdio>
#include <ostream>
#include <string>

namespace ricci {

/// Writes every stage of each statement of `body` to `out`: form, kernel, bytes, flops, cache. Runs none of them.
template <std::invocable Body>
void explain(Body&& body, std::ostream& out) {
    const runtime::collecting scope([&](const lowering::statement& s) { out << runtime::explain(s); });
    body();
}

/// The same to the standard output.
template <std::invocable Body>
void explain(Body&& body) {
    const runtime::collecting scope([](const lowering::statement& s) {
        const std::string text = runtime::explain(s);
        std::fwrite(text.data(), 1, text.size(), stdout);
    });
    body();
}

} // namespace ricci
