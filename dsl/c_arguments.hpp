// c_arguments: reads what the C interface is given by codes: types, devices, and the operands of a text.
#pragma once

#include "dsl/c_program.hpp"
#include "lowering/scalar_type.hpp"
#include "runtime/device.hpp"

#include <optional>
#include <string_view>
#include <vector>

struct ricci_operand; // ricci.h

namespace ricci::dsl {

std::optional<lowering::scalar_type> type_of_code(int code);
/// "RICCI_F64"
std::string_view name_of_code(lowering::scalar_type type);

/// Throws argument_error where the code of this argument is no device's.
device device_of_code(int argument, int code);

/// The operands of a text, which are the arguments `argument` - 1 (how many) and `argument`. Throws argument_error.
std::vector<c_operand> read_operands(int argument, int count, const ricci_operand* operands);

} // namespace ricci::dsl
