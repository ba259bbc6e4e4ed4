// layers: the tables of networks, and the grammar of layers.
#include "bench/conv/layers.hpp"

#include "bench/lists.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

namespace ricci::bench::conv {

namespace {

constexpr layer square_layer(std::int64_t channels, std::int64_t filters, std::int64_t side) {
    return {channels, filters, side, side};
}

// Karen Simonyan, Andrew Zisserman, 2015: configuration D.
constexpr layer vgg16[] = {square_layer(3, 64, 224),    square_layer(64, 64, 224),  square_layer(64, 128, 112),
                           square_layer(128, 128, 112), square_layer(128, 256, 56), square_layer(256, 256, 56),
                           square_layer(256, 512, 28),  square_layer(512, 512, 28), square_layer(512, 512, 14)};
// Kaiming He et al., 2016: the middle of each bottleneck.
constexpr layer resnet50[] = {square_layer(64, 64, 56), square_layer(128, 128, 28), square_layer(256, 256, 14),
                              square_layer(512, 512, 7)};
constexpr layer square[] = {square_layer(64, 64, 224), square_layer(128, 128, 112), square_layer(256, 256, 56),
                            square_layer(512, 512, 28), square_layer(512, 512, 14)};

std::span<const layer> network(std::string_view name) {
    if (name == "vgg16") return vgg16;
    if (name == "resnet50") return resnet50;
    if (name == "square") return square;
    return {};
}

/// "64x128x112"
std::optional<layer> read_layer(std::string_view word) {
    const auto sizes = read_extents(word);
    if (sizes.size() == 3) return square_layer(sizes[0], sizes[1], sizes[2]);
    if (sizes.size() == 4) return layer{sizes[0], sizes[1], sizes[2], sizes[3]};
    return std::nullopt;
}

} // namespace

std::string to_string(const layer& l) {
    const std::string name = fmt::format("{}x{}@{}", l.channels, l.filters, l.width);
    return l.width == l.height ? name : fmt::format("{}x{}", name, l.height);
}

std::vector<layer> parse_layers(std::string_view text, std::string_view option) {
    std::vector<layer> all;
    const auto add = [&](const layer& l) {
        if (std::find(all.begin(), all.end(), l) == all.end()) all.push_back(l);
    };
    for (const auto word : split(text, ',')) {
        if (const auto known = network(word); !known.empty())
            for (const layer& l : known) add(l);
        else if (const auto given = read_layer(word))
            add(*given);
        else
            throw error(
                fmt::format("{}: '{}' is no layer; there are vgg16, resnet50, square, and channels x filters x "
                            "side, or x width x height, as 64x128x112",
                            option, word));
    }
    return all;
}

} // namespace ricci::bench::conv
