// loaded_request: a request whose kernels are compiled and loaded.
#include "runtime/loaded_request.hpp"

#include "lowering/chain_constants.hpp"
#include "runtime/kernel_cache.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ricci::runtime {
namespace {

kernel_handle load(backend& b, kernel_launch& text) {
    const auto kernel = cached_kernel(b, text.source, text.entry);
    text.source.clear();
    text.source.shrink_to_fit();
    return kernel;
}

} // namespace

loaded_request::loaded_request(backend& b, kernel_request request) : request_(std::move(request)) {
    first_ = load(b, request_);
    for (auto& text : request_.behind) behind_.push_back(load(b, text));
}

kernel_use loaded_request::use(backend& b) const { return b.use_of(first_); }

void loaded_request::launch(backend& b, std::span<const std::uint64_t> words, std::int64_t rows) const {
    auto shape = request_.shape;
    if (request_.by_rows.a_row > 0) shape.grid = request_.by_rows.grid_of(rows);
    if (request_.constants.empty()) {
        b.launch(first_, shape, words);
    } else {
        std::array<constant_piece, lowering::most_constant_memories> pieces;
        std::transform(request_.constants.begin(), request_.constants.end(), pieces.begin(), [&](const auto& c) {
            return constant_piece{words[static_cast<std::size_t>(c.word)] + static_cast<std::uint64_t>(c.byte_offset),
                                  c.at, c.bytes};
        });
        b.launch_with_constants(first_, shape, words, {pieces.data(), request_.constants.size()});
    }
    for (std::size_t n = 0; n < behind_.size(); ++n) b.launch(behind_[n], request_.behind[n].shape, words);
}

} // namespace ricci::runtime
