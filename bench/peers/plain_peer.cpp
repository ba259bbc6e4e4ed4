// plain_peer: the product as a plain loop, which needs no library.
#include "bench/peers/peer.hpp"

#include <utility>

namespace ricci::bench {

namespace {

class plain_peer : public peer {
  public:
    explicit plain_peer(device_tools& tools) : tools_(tools) {}

    std::vector<contender> contenders(const product& p, std::span<const operand_set> sets) override {
        std::vector<std::function<void()>> loops;
        for (const operand_set& set : sets) loops.push_back(tools_.plain(p, set));
        return {{"plain", "", [loops = std::move(loops)](std::size_t set) { loops[set](); }}};
    }

  private:
    device_tools& tools_;
};

} // namespace

std::unique_ptr<peer> make_plain_peer(device_tools& tools) { return std::make_unique<plain_peer>(tools); }

} // namespace ricci::bench
