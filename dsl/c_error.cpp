// c_error: how what is thrown leaves the C interface.
#include "dsl/c_error.hpp"

#include "ricci.h"

#include <exception>
#include <new>
#include <stdexcept>

namespace ricci::dsl {

namespace {

thread_local std::string message;
/// What stands for the message where there was no memory for it.
thread_local const char* without_memory = nullptr;

int keep(const char* function, const char* what, int status) noexcept {
    without_memory = nullptr;
    try {
        message = function;
        message += ": ";
        message += what;
    } catch (...) {
        without_memory = "not enough memory, not even for a message";
    }
    return status;
}

} // namespace

int c_status(const char* function) noexcept {
    try {
        throw;
    } catch (const argument_error& e) {
        return keep(function, e.what(), -e.number());
    } catch (const memory_error& e) {
        return keep(function, e.what(), RICCI_OUT_OF_MEMORY);
    } catch (const error& e) {
        return keep(function, e.what(), e.blame() == blame::statement ? RICCI_REFUSED : RICCI_ENVIRONMENT);
    } catch (const std::bad_alloc&) {
        return keep(function, "not enough memory", RICCI_OUT_OF_MEMORY);
    } catch (const std::length_error&) { // a container of more elements than there can be
        return keep(function, "not enough memory", RICCI_OUT_OF_MEMORY);
    } catch (const std::exception& e) {
        return keep(function, e.what(), RICCI_INTERNAL);
    } catch (...) {
        return keep(function, "an unknown failure", RICCI_INTERNAL);
    }
}

const char* c_message() noexcept { return without_memory != nullptr ? without_memory : message.c_str(); }

} // namespace ricci::dsl
