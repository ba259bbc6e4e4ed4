// emulator_compiler: the compiler that built the tests, as the emulated GPU's compiler.
#pragma once

#include "runtime/backend.hpp"

namespace ricci::tests {

class emulator_compiler : public runtime::compiler {
  public:
    std::string identity() const override;
    std::string options() const override;
    /// A shared object with the kernels of `source`, which take a pointer to their arguments, and ricci_attach.
    std::string compile(const std::string& source) override;
};

} // namespace ricci::tests
