// operator_peer: finds a peer by its name.
#include "bench/fem/operator_peer.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

namespace ricci::bench::fem {

const std::vector<std::string>& operator_peer_names() {
    static const std::vector<std::string> names{"unfused", "cublas", "loops", "blas"};
    return names;
}

std::unique_ptr<operator_peer> make_operator_peer(const std::string& name, device where, device_tools& tools) {
    if (name == "unfused") return make_step_peer(name, nullptr, where);
    if (name != "loops") return make_step_peer(name, make_peer(name, where, tools), where);
    if (!where.is_cpu()) throw error(fmt::format("{} is a peer on the CPU", name), blame::environment);
    return make_loops_peer();
}

} // namespace ricci::bench::fem
