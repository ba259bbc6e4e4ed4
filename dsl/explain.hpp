// explain: what would happen to statements, as text.
#pragma once

#include "dsl/collect.hpp"
#include "runtime/run.hpp"

#include <concepts>
#include <cstdio>
#include <ostream>

namespace ricci {

/// Writes every stage of each statement of `body` to `out`: form, kernel, bytes, flops, cache; of a program with
/// locals those of the whole. Runs none of them.
template <std::invocable Body>
void explain(Body&& body, std::ostream& out) {
    out << runtime::explain(dsl::collected(body));
}

/// The same to the standard output.
template <std::invocable Body>
void explain(Body&& body) {
    const auto text = runtime::explain(dsl::collected(body));
    std::fwrite(text.data(), 1, text.size(), stdout);
}

} // namespace ricci
