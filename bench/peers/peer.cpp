// peer: finds a peer by its name.
#include "bench/peers/peer.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

namespace ricci::bench {

const std::vector<std::string>& peer_names() {
    static const std::vector<std::string> names{"cublas", "plain",   "cutensor", "blas", "libxsmm",
                                                "eigen",  "ijk", "ikj",      "triad"};
    return names;
}

std::unique_ptr<peer> make_peer(const std::string& name, device where, device_tools& tools) {
    if (name == "plain") return make_plain_peer(tools);
    if (name == "triad") return make_triad_peer(where, tools);
    if (name != "cublas" && name != "cutensor") {
        if (!where.is_cpu()) throw error(fmt::format("{} is a peer on the CPU", name), blame::environment);
        if (name == "blas") return make_blas_peer();
        if (name == "libxsmm") return make_libxsmm_peer();
        return name == "eigen" ? make_eigen_peer() : make_loop_peer(name);
    }
    if (!where.is_cuda()) throw error(fmt::format("{} is a peer on a GPU", name), blame::environment);
    return name == "cublas" ? make_cublas_peer(where) : make_cutensor_peer(where);
}

} // namespace ricci::bench
