// c_arguments: reads what the C interface is given by codes.
#include "dsl/c_arguments.hpp"

#include "dsl/c_error.hpp"
#include "ricci.h"

#include <fmt/format.h>

#include <algorithm>

namespace ricci::dsl {

namespace {

/// The codes stand in the order of lowering::scalar_type, from 1.
static_assert(RICCI_F16 == static_cast<int>(lowering::scalar_type::f16) + 1 &&
              RICCI_BF16 == static_cast<int>(lowering::scalar_type::bf16) + 1 &&
              RICCI_F32 == static_cast<int>(lowering::scalar_type::f32) + 1 &&
              RICCI_F64 == static_cast<int>(lowering::scalar_type::f64) + 1 &&
              RICCI_C64 == static_cast<int>(lowering::scalar_type::c64) + 1 &&
              RICCI_C128 == static_cast<int>(lowering::scalar_type::c128) + 1 &&
              RICCI_I32 == static_cast<int>(lowering::scalar_type::i32) + 1 &&
              RICCI_I64 == static_cast<int>(lowering::scalar_type::i64) + 1);

std::optional<device> device_named_by(int code) {
    const int first = RICCI_CUDA(0);
    if (code == RICCI_CPU) return cpu();
    if (code >= first && code - first < runtime::max_cuda_devices) return cuda(code - first);
    return std::nullopt;
}

std::string device_refusal(int code) {
    return fmt::format("{}: expected RICCI_CPU, or RICCI_CUDA(n) with n from 0 to {}", code,
                       runtime::max_cuda_devices - 1);
}

/// One operand of the list that is an argument.
class operand_reader {
  public:
    operand_reader(int argument, int position, const ricci_operand& from)
        : argument_(argument), position_(position), from_(from) {}

    c_operand read() {
        c_operand out;
        if (from_.name == nullptr) refuse("has no name: it is NULL");
        if (!is_text_name(from_.name)) refuse("has a name that cannot name a tensor");
        out.tensor.name = from_.name;
        const auto type = type_of_code(from_.type);
        if (!type) refuse(fmt::format("has the type {}: expected RICCI_F16, ... RICCI_I64", from_.type));
        out.tensor.type = *type;
        if (from_.rank < 0 || from_.rank > lowering::max_axes)
            refuse(fmt::format("has the rank {}: expected 0 to {}", from_.rank, lowering::max_axes));
        if (from_.rank > 0 && from_.extents == nullptr) refuse("has no extents: they are NULL");
        out.tensor.data = from_.data;
        out.is_number = from_.device == RICCI_NUMBER;
        if (out.is_number) {
            if (from_.rank > 0) refuse(fmt::format("has the rank {}, but RICCI_NUMBER is of rank 0", from_.rank));
            if (lowering::is_index(*type)) refuse("is of integers, but RICCI_NUMBER is of a type of numbers");
            return out;
        }
        const auto where = device_named_by(from_.device);
        if (!where) refuse("has the device " + device_refusal(from_.device));
        out.tensor.device = where->code();
        read_shape(out.tensor);
        return out;
    }

  private:
    void read_shape(text_operand& out) const {
        std::int64_t dense = 1;
        for (int r = 0; r < from_.rank; ++r) {
            const std::int64_t extent = from_.extents[r];
            if (extent < 0) refuse(fmt::format("has the extent {} in position {}", extent, r + 1));
            out.extents.push_back(extent);
            out.strides.push_back(from_.strides == nullptr ? dense : from_.strides[r]);
            if (__builtin_mul_overflow(dense, std::max<std::int64_t>(extent, 1), &dense))
                refuse("has more elements than 64 bits can count");
        }
    }

    [[noreturn]] void refuse(const std::string& why) const {
        const auto name = from_.name == nullptr ? std::string() : fmt::format(" ('{}')", from_.name);
        throw argument_error(argument_, "operands", fmt::format("is wrong: operand {}{} {}", position_, name, why));
    }

    int argument_, position_;
    const ricci_operand& from_;
};

} // namespace

std::optional<lowering::scalar_type> type_of_code(int code) {
    if (code < RICCI_F16 || code > RICCI_I64) return std::nullopt;
    return static_cast<lowering::scalar_type>(code - 1);
}

std::string_view name_of_code(lowering::scalar_type type) {
    constexpr std::string_view names[] = {"RICCI_F16", "RICCI_BF16", "RICCI_F32", "RICCI_F64",
                                          "RICCI_C64", "RICCI_C128", "RICCI_I32", "RICCI_I64"};
    return names[static_cast<int>(type)];
}

device device_of_code(int argument, int code) {
    const auto named = device_named_by(code);
    if (!named) throw argument_error(argument, "device", "is " + device_refusal(code));
    return *named;
}

std::vector<c_operand> read_operands(int argument, int count, const ricci_operand* operands) {
    if (count < 0) throw argument_error(argument - 1, "count", fmt::format("is {}", count));
    if (count > 0 && operands == nullptr)
        throw argument_error(argument, "operands", fmt::format("is NULL, but there are {}", count));
    std::vector<c_operand> out;
    for (int n = 0; n < count; ++n) {
        out.push_back(operand_reader(argument, n + 1, operands[n]).read());
        for (int other = 0; other < n; ++other)
            if (out[static_cast<std::size_t>(other)].tensor.name == out.back().tensor.name)
                throw argument_error(argument, "operands",
                                     fmt::format("is wrong: operands {} and {} are both named '{}'", other + 1, n + 1,
                                                 out.back().tensor.name));
    }
    return out;
}

} // namespace ricci::dsl
