// direct_peer: ricci's direct statement, beside its tiles.
#include "bench/conv/convolution_peer.hpp"

#include <ricci/runtime/run.hpp>

#include <memory>
#include <utility>

namespace ricci::bench::conv {

namespace {

class direct_peer : public convolution_peer {
  public:
    explicit direct_peer(device where) : where_(where) {}

    std::string version() const override { return "ricci's direct statement"; }

    std::vector<contender> contenders(const problem& p, const std::vector<operand_addresses>& sets) override {
        if (p.tile == 0) return {}; // it is what is measured
        problem direct = p;
        direct.tile = 0;
        const text_program notation = notation_of(direct);
        std::vector<lowering::statement> all;
        for (const operand_addresses& set : sets) all.push_back(bind_program(notation, set, {}, where_).front());
        return {{"direct", "", [all = std::move(all)](std::size_t set) { runtime::run(all[set]); }}};
    }

  private:
    device where_;
};

} // namespace

std::unique_ptr<convolution_peer> make_direct_peer(device where) { return std::make_unique<direct_peer>(where); }

} // namespace ricci::bench::conv
