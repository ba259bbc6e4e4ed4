// c_api: the C interface: texts, devices, memory and choices; the products of matrices are in c_gemm.
#include "dsl/c_arguments.hpp"
#include "dsl/c_error.hpp"
#include "dsl/c_program.hpp"
#include "dsl/tuning.hpp"
#include "ricci.h"
#include "runtime/device.hpp"
#include "runtime/math_mode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

using ricci::dsl::argument_error, ricci::dsl::c_call, ricci::dsl::c_program, ricci::dsl::device_of_code;

struct ricci_program {
    c_program program;
};

namespace {

c_program make_program(const char* text, int count, const ricci_operand* operands) {
    if (text == nullptr) throw argument_error(1, "text", "is NULL");
    auto given = ricci::dsl::read_operands(3, count, operands);
    return c_program(text, std::move(given));
}

/// `name`: of the third argument, which has the pointers.
void run(const c_program& program, void* const* data, const char* name) {
    if (const auto* number = program.number_without_data(data))
        throw argument_error(3, name, fmt::format("is wrong: the number '{}' is NULL", number->tensor.name));
    program.run(data);
}

template <class T>
void want(int argument, const char* name, T* pointer) {
    if (pointer == nullptr) throw argument_error(argument, name, "is NULL");
}

} // namespace

const char* ricci_last_error(void) { return ricci::dsl::c_message(); }

const char* ricci_version(void) { return RICCI_VERSION; }

ricci_status ricci_contract(const char* text, int count, const ricci_operand* operands) {
    return c_call("ricci_contract", [&] { run(make_program(text, count, operands), nullptr, "operands"); });
}

ricci_status ricci_prepare(const char* text, int count, const ricci_operand* operands, ricci_program** program) {
    if (program != nullptr) *program = nullptr;
    return c_call("ricci_prepare", [&] {
        auto made = std::make_unique<ricci_program>(ricci_program{make_program(text, count, operands)});
        want(4, "program", program);
        made->program.prepare();
        *program = made.release();
    });
}

ricci_status ricci_run(const ricci_program* program, int count, void* const* data) {
    return c_call("ricci_run", [&] {
        want(1, "program", program);
        const auto expected = program->program.operand_count();
        if (data != nullptr && (count < 0 || static_cast<std::size_t>(count) != expected))
            throw argument_error(2, "count", fmt::format("is {}, but the program has {} operands", count, expected));
        run(program->program, data, "data");
    });
}

void ricci_release(ricci_program* program) { delete program; }

ricci_status ricci_explain(const char* text, int count, const ricci_operand* operands, char* text_out, size_t size,
                           size_t* length) {
    return c_call("ricci_explain", [&] {
        const auto program = make_program(text, count, operands);
        if (size > 0) want(4, "text_out", text_out);
        const std::string explained = program.explain();
        if (length != nullptr) *length = explained.size();
        if (size == 0) return;
        const std::size_t fits = std::min(explained.size(), size - 1);
        std::memcpy(text_out, explained.data(), fits);
        text_out[fits] = '\0';
    });
}

ricci_status ricci_default_device(ricci_device* device) {
    return c_call("ricci_default_device", [&] {
        want(1, "device", device);
        const auto chosen = ricci::default_device();
        *device = chosen.is_cpu() ? RICCI_CPU : RICCI_CUDA(chosen.code() - ricci::cuda(0).code());
    });
}

ricci_status ricci_set_stream(ricci_device device, void* stream) {
    return c_call("ricci_set_stream", [&] { ricci::set_stream(device_of_code(1, device), stream); });
}

ricci_status ricci_synchronize(ricci_device device) {
    return c_call("ricci_synchronize", [&] { ricci::synchronize(device_of_code(1, device)); });
}

ricci_status ricci_allocate(ricci_device device, size_t bytes, void** memory) {
    if (memory != nullptr) *memory = nullptr;
    return c_call("ricci_allocate", [&] {
        const auto where = device_of_code(1, device);
        want(3, "memory", memory);
        *memory = ricci::runtime::allocate(where, bytes, false);
    });
}

ricci_status ricci_free(ricci_device device, void* memory) {
    return c_call("ricci_free", [&] {
        const auto where = device_of_code(1, device);
        if (memory == nullptr) return;
        static_cast<void>(ricci::current_stream(where)); // throws where there is no such device; release cannot
        ricci::runtime::release(where, memory);
    });
}

ricci_status ricci_copy(ricci_device to, void* target, ricci_device from, const void* source, size_t bytes) {
    return c_call("ricci_copy", [&] {
        const auto target_device = device_of_code(1, to), source_device = device_of_code(3, from);
        if (bytes == 0) return;
        want(2, "target", target);
        want(4, "source", source);
        ricci::runtime::copy(target_device, target, source_device, source, bytes);
    });
}

ricci_status ricci_set_math(int math) {
    return c_call("ricci_set_math", [&] {
        if (math != RICCI_MATH_FULL && math != RICCI_MATH_TF32)
            throw argument_error(1, "math",
                                 fmt::format("is {}: expected RICCI_MATH_FULL or RICCI_MATH_TF32", math));
        ricci::runtime::choose_math(math == RICCI_MATH_TF32 ? ricci::math::tf32 : ricci::math::full);
    });
}

ricci_status ricci_set_tuning(int tuning) {
    return c_call("ricci_set_tuning", [&] {
        if (tuning < RICCI_TUNING_OFF || tuning > RICCI_TUNING_ON_FIRST_USE)
            throw argument_error(
                1, "tuning",
                fmt::format("is {}: expected RICCI_TUNING_OFF, _CACHED or RICCI_TUNING_ON_FIRST_USE", tuning));
        ricci::set_tuning(tuning == RICCI_TUNING_OFF      ? ricci::tuning::off
                          : tuning == RICCI_TUNING_CACHED ? ricci::tuning::cached
                                                          : ricci::tuning::on_first_use);
    });
}
