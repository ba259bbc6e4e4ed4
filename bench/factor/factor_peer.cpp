// factor_peer: finds a peer by its name.
#include "bench/factor/factor_peer.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

namespace ricci::bench::factor {

const std::vector<std::string>& factor_peer_names() {
    static const std::vector<std::string> names{"lapack", "cusolver"};
    return names;
}

std::unique_ptr<factor_peer> make_factor_peer(const std::string& name, device where) {
    if (name == "lapack") {
        if (!where.is_cpu()) throw error(fmt::format("{} is a peer on the CPU", name), blame::environment);
        return make_lapack_peer();
    }
    if (!where.is_cuda()) throw error(fmt::format("{} is a peer on a GPU", name), blame::environment);
    return make_cusolver_peer(where);
}

std::vector<std::int32_t> pivots_from_one(const problem& p, const operand_addresses& set, device where) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(p.least() * p.batch));
    runtime::copy(cpu(), all.data(), where, set[at_vector], all.size() * sizeof(std::int32_t));
    for (std::int32_t& each : all) ++each;
    return all;
}

} // namespace ricci::bench::factor
