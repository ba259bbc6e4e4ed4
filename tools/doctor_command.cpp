// doctor_command: what was found on this machine, and what to do about each thing missing.
#include "tools/commands.hpp"

#include <ricci/runtime/doctor.hpp>

#include <fmt/format.h>

namespace ricci::tools {

int doctor_command() {
    bool usable = true;
    for (const auto& found : runtime::examine()) {
        fmt::print("{:7}  {}: {}\n",
                   found.good     ? "ok"
                   : found.needed ? "WRONG"
                                  : "missing",
                   found.what, found.detail);
        if (!found.advice.empty()) fmt::print("         to do: {}\n", found.advice);
        if (found.needed && !found.good) usable = false;
    }
    return usable ? 0 : 2;
}

} // namespace ricci::tools
