// convolution_peer: finds a peer by its name.
#include "bench/conv/convolution_peer.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

namespace ricci::bench::conv {

const std::vector<std::string>& convolution_peer_names() {
    static const std::vector<std::string> names{"direct", "im2col", "cudnn", "cudnn-gemm"};
    return names;
}

std::unique_ptr<convolution_peer> make_convolution_peer(const std::string& name, device where) {
    if (name == "direct") return make_direct_peer(where);
    if (name == "im2col") {
        if (!where.is_cpu()) throw error(fmt::format("{} is a peer on the CPU", name), blame::environment);
        return make_im2col_peer();
    }
    if (!where.is_cuda()) throw error(fmt::format("{} is a peer on a GPU", name), blame::environment);
    return make_cudnn_peer(name, where, name == "cudnn" ? cudnn_choice::all : cudnn_choice::implicit_gemms);
}

} // namespace ricci::bench::conv
