// enlarge: see enlarge.hpp.
#include "examples/cnn/network/enlarge.hpp"

#include <algorithm>
#include <utility>

namespace cnn {
namespace {

/// In one direction: the part [begin, end) of a result, and where what it is computed from begins.
struct span {
    std::int64_t begin, end, from;
};

/// Parts for n pixels; `size` becomes how many pixels each is computed from.
std::vector<span> spans(std::int64_t n, std::int64_t tile, std::int64_t halo, std::int64_t& size) {
    size = std::min(n, tile + 2 * halo);
    std::vector<span> parts;
    for (std::int64_t begin = 0; begin < n; begin += tile)
        // Where the halo would leave the photograph it begins or ends at the border: zeros lie behind it there, as
        // they do for the whole photograph.
        parts.push_back({begin, std::min(n, begin + tile), std::clamp<std::int64_t>(begin - halo, 0, n - size)});
    return parts;
}

} // namespace

enlarged enlarge(network& run, const graph& g, const picture& photograph, std::int64_t tile, bool keep_numbers,
                 const std::function<void(std::int64_t, std::int64_t)>& progress) {
    const std::int64_t scale = g.scale(), halo = g.halo();
    std::int64_t width = 0, height = 0;
    const auto across = spans(photograph.width, tile, halo, width),
               down = spans(photograph.height, tile, halo, height);
    enlarged result{blank(photograph.width * scale, photograph.height * scale),
                    {},
                    static_cast<std::int64_t>(across.size() * down.size())};
    picture& image = result.image;
    if (keep_numbers) result.numbers.resize(image.rgb.size());
    std::int64_t done = 0;
    for (const span& y : down)
        for (const span& x : across) {
            if (progress) progress(done++, result.tiles);
            const auto part = run(to_numbers(photograph, x.from, y.from, width, height, g.range), width, height);
            for (int c = 0; c < 3; ++c)
                for (std::int64_t j = y.begin * scale; j < y.end * scale; ++j)
                    for (std::int64_t i = x.begin * scale; i < x.end * scale; ++i) {
                        const float number =
                            part[i - x.from * scale + width * scale * (j - y.from * scale + height * scale * c)];
                        image.at(i, j)[c] = to_byte(number, g.range);
                        if (keep_numbers) result.numbers[i + image.width * (j + image.height * c)] = number;
                    }
        }
    return result;
}

} // namespace cnn
