// shared_object: loads a shared object from memory, so that the bytes that were verified are the bytes that run.
#pragma once

#include <string>

namespace ricci::runtime {

/// The function `entry` of the shared object whose file would hold `code`; it stays loaded until the program ends.
/// Throws ricci::error (environment) with the dynamic linker's message.
void* load_function(const std::string& code, const std::string& entry);

} // namespace ricci::runtime
