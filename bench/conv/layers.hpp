// layers: the convolutions that are measured, 3x3 with stride 1 and padding 1: of networks, or as they are given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::bench::conv {

constexpr std::int64_t filter_side = 3;

/// One layer; what comes out is as large as what goes in.
struct layer {
    std::int64_t channels = 1, filters = 1, width = 1, height = 1;

    std::int64_t pixels() const { return width * height; }
    bool operator==(const layer&) const = default;
};

/// "64x128@112", or "64x128@112x56" where a picture is no square.
std::string to_string(const layer& l);

/// "vgg16,64x128x112,3x64x320x240": networks (vgg16, resnet50; square: those of VGG-16 that have as many filters as
/// channels), and channels x filters x side, or x width x height. Each layer once, in the order in which it comes
/// first. Throws ricci::error that names `option`, the word that is wrong, and what can be written.
std::vector<layer> parse_layers(std::string_view text, std::string_view option);

} // namespace ricci::bench::conv
