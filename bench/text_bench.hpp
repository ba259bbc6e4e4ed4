// text_bench: statements given as text, each a row.
#pragma once

#include "bench/session.hpp"

#include <ricci/dsl/text.hpp>

#include <vector>

namespace ricci::bench {

/// Measures each statement on operands of these types and shapes, whose data is made here. Peers take part, and
/// results are checked, where a statement is a batch of products: see statement_product.hpp. Throws ricci::error for
/// a mistake in one before the first is measured.
int run_texts(const std::vector<text_statement>& statements, const std::vector<text_operand>& operands,
              std::int64_t offset, const session_options& options);

} // namespace ricci::bench
