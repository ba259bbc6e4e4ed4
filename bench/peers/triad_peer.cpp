// triad_peer: no product, but a triad over as many bytes: what the memory takes for a point of this size.
#include "bench/device_memory.hpp"
#include "bench/peers/peer.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace ricci::bench {

namespace {

constexpr std::int64_t whole = 16; ///< bytes that a triad moves at least

class triad_peer : public peer {
  public:
    triad_peer(device where, device_tools& tools) : where_(where), tools_(tools) {}

    std::vector<contender> contenders(const product& p, std::span<const operand_set> sets) override {
        const auto bytes = static_cast<std::int64_t>(touched_bytes_of(p));
        const std::int64_t each = std::max(whole, bytes / 3 / whole * whole);
        const auto count = static_cast<std::int64_t>(sets.size());
        auto memory = std::make_shared<device_memory>(where_, static_cast<std::size_t>(3 * each * count));
        tools_.fill(lowering::scalar_type::f64, memory->data(), 3 * each * count / 8,
                    random_numbers_of(lowering::scalar_type::f64, 7, 1));
        std::vector<contender> all;
        for (int kind = 0; kind < tools_.triad_kinds(); ++kind)
            all.push_back({"triad", std::to_string(kind),
                           [this, memory, each, kind](std::size_t set) {
                               char* const z = memory->data() + static_cast<std::int64_t>(set) * 3 * each;
                               tools_.triad(z, z + each, z + 2 * each, each, kind);
                           },
                           false});
        return all;
    }

  private:
    device where_;
    device_tools& tools_;
};

} // namespace

std::unique_ptr<peer> make_triad_peer(device where, device_tools& tools) {
    return std::make_unique<triad_peer>(where, tools);
}

} // namespace ricci::bench
