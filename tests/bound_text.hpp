// bound_text: statements from text over tensors declared by text, for tests.
#pragma once

#include "dsl/text.hpp"
#include "lowering/lower.hpp"
#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "lowering/statement.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ricci::tests {

/// "A=f64[3,4] B=c64[2:8,5:1]": extents, and strides behind a colon (default: dense, first index fastest). Each name
/// gets an address of its own that must not be touched; "B@A+16" shares A's, 16 bytes further on.
std::vector<text_operand> parse_operands(std::string_view operands);

/// A statement over such operands, for tests that never run it.
lowering::statement bound_text(std::string_view statement, std::string_view operands);

/// Statements, of a text one or more, over such operands as one program, those with the names `locals` its locals; for tests that never run
/// it. `trace` gets what each pass leaves.
lowering::plan lowered_program(const std::vector<std::string>& statements, std::string_view operands,
                               const lowering::machine& chip, const std::vector<std::string>& locals = {},
                               std::vector<lowering::stage>* trace = nullptr);

/// Chips for plans that do not depend on the machine the test runs on.
lowering::machine some_cpu();
lowering::machine some_gpu();

} // namespace ricci::tests
