// conv_bench: sweeps over layers and algorithms.
#include "bench/conv/conv_bench.hpp"

#include "bench/conv/convolution_peer.hpp"
#include "bench/conv/reference.hpp"
#include "bench/read_values.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/math_mode.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>

namespace ricci::bench::conv {

namespace {

using lowering::scalar_type;

constexpr double most_numbers = 0x1p40; ///< of a tensor

/// Whether all tensors of a layer, transformed ones too, can be counted with room to spare.
bool can_be_counted(const layer& l, std::int64_t batch) {
    const auto times = [](auto... sizes) { return (static_cast<double>(sizes) * ...); };
    const std::int64_t planes = std::max(l.channels, l.filters);
    return std::max(times(l.width + 8, l.height + 8, planes, batch, 16), times(l.channels, l.filters, 64)) <=
           most_numbers;
}

row describe(const problem& p) {
    row r;
    r.kind = "conv";
    r.batch = p.batch;
    r.types = lowering::name_of(p.type);
    r.layer = convolution_layer{to_string(p.of), p.of.channels, p.of.filters, p.of.width, p.of.height, p.algorithm()};
    return r;
}

/// U, of the filters that stand in a set.
std::vector<std::byte> filters_for_tiles(const problem& p, const minimal_filtering& by, const void* filters,
                                         device where) {
    const auto F = read_values<double>(p.type, filters, 0, p.terms() * p.of.filters, where);
    return bytes_of_values(p.type, transformed(p, by, F));
}

/// A matrix as the notation has it, its rows the fastest.
std::vector<std::byte> by_columns(scalar_type type, const small_matrix& m) {
    std::vector<double> numbers;
    for (std::int64_t c = 0; c < m.columns; ++c)
        for (std::int64_t r = 0; r < m.rows; ++r) numbers.push_back(m(r, c));
    return bytes_of_values(type, numbers);
}

/// What the results of the first set should be, found when they are first wanted, once for all contenders.
class checked_results {
  public:
    checked_results(const problem& p, device where) : p_(p), where_(where) {}
    findings check(const operand_addresses& at) {
        if (!right_) right_ = std::make_unique<reference>(p_, at, where_);
        return right_->check(at[at_O], bound_of(p_, runtime::chosen_math()));
    }

  private:
    problem p_;
    device where_;
    std::unique_ptr<reference> right_;
};

using peers_by_name = std::map<std::string, std::unique_ptr<convolution_peer>>;

work work_of(const problem& p, peers_by_name& peers, device where) {
    const auto ours = std::make_shared<const text_program>(notation_of(p));
    work w;
    for (std::size_t n = 0; n < ours->operands.size(); ++n) {
        const text_operand& o = ours->operands[n];
        const double size = n == at_D || n == at_F ? operand_size(p.terms()) : 1;
        w.operands.push_back({o.type, elements_of(o), size, n == at_O, {}});
    }
    if (p.tile > 0) {
        const auto by = std::make_shared<const minimal_filtering>(make_minimal_filtering(p.tile, filter_side));
        w.operands[at_U].contents = [p, by, where](const operand_addresses& at) {
            return filters_for_tiles(p, *by, at[at_F], where);
        };
        w.operands[at_Bt].contents = [p, by](const operand_addresses&) { return by_columns(p.type, by->Bt); };
        w.operands[at_At].contents = [p, by](const operand_addresses&) { return by_columns(p.type, by->At); };
    }
    w.bind = [ours](const operand_addresses& at, device d) { return bind_program(*ours, at, {}, d); };
    w.contenders = [p, &peers](const std::string& name, const std::vector<operand_addresses>& sets) {
        return peers.at(name)->contenders(p, sets);
    };
    w.check = [right = std::make_shared<checked_results>(p, where)](const operand_addresses& at) {
        return right->check(at);
    };
    w.bytes = w.element_bytes = p.bytes(), w.flops = p.flops();
    w.at_roofline = true;
    return w;
}

} // namespace

std::vector<problem> points_of(const options& o, std::int64_t default_batch) {
    const auto layers = parse_layers(o.layers, "--layers");
    const auto algorithms = parse_choices(o.algorithms, "--algorithms", algorithm_names());
    const auto types = parse_types_among(o.types, "--types", {scalar_type::f32, scalar_type::f16}, "layers");
    const auto batches = o.batch.empty() ? std::vector{default_batch} : parse_sizes(o.batch, "--batch");
    std::vector<problem> all;
    for (const scalar_type type : types)
        for (const layer& l : layers)
            for (const std::int64_t batch : batches) {
                if (!can_be_counted(l, batch))
                    throw error(fmt::format("--layers: {} with a batch of {} is too large", to_string(l), batch));
                for (const std::string& name : algorithms) all.push_back({l, batch, type, tile_of(name)});
            }
    return all;
}

int run(const options& options_of, const session_options& session_of) {
    const device where = session_of.device.empty() ? default_device() : parse_device(session_of.device);
    const auto points = points_of(options_of, where.is_cpu() ? 1 : 32);
    peers_by_name peers;
    const peer_kinds kinds{subject::layers, convolution_peer_names(),
                           [](device d) {
                               return std::vector<std::string>{"direct", d.is_cuda() ? "cudnn" : "im2col"};
                           },
                           [&](const std::string& name, device d, device_tools&) {
                               auto& made = peers[name];
                               made = make_convolution_peer(name, d);
                               return made->version();
                           }};
    session s(session_of, &kinds);
    for (const problem& p : points)
        if (!s.run(describe(p), work_of(p, peers, where))) break;
    return s.finish();
}

} // namespace ricci::bench::conv
