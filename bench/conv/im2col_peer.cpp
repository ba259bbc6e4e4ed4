// im2col_peer: the layers as people write them on a BLAS: each picture's windows are written out as the rows of a
// matrix, and one product multiplies them by the filters; then a loop for bias and relu.
#include "bench/conv/convolution_peer.hpp"
#include "bench/in_parallel.hpp"
#include "bench/peers/blas_library.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/blas.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace ricci::bench::conv {

namespace {

constexpr std::int64_t R = filter_side;
constexpr std::int64_t smallest_part = 1 << 14; ///< numbers that a thread is woken for

/// The columns of channels [first, last): column s + 3*(r + 3*c) has D(x+s-1,y+r-1,c) in row x + W*y.
void write_windows(const layer& l, const float* D, float* windows, std::int64_t first, std::int64_t last) {
    const std::int64_t W = l.width, H = l.height;
    for (std::int64_t c = first; c < last; ++c)
        for (std::int64_t r = 0; r < R; ++r)
            for (std::int64_t s = 0; s < R; ++s) {
                float* const column = windows + l.pixels() * (s + R * (r + R * c));
                const std::int64_t begin = std::max<std::int64_t>(0, 1 - s), end = std::min(W, W + 1 - s);
                for (std::int64_t y = 0; y < H; ++y) {
                    float* const to = column + W * y;
                    const std::int64_t from_y = y + r - 1;
                    if (from_y < 0 || from_y >= H) {
                        std::fill_n(to, W, 0.0F);
                        continue;
                    }
                    const float* const from = D + W * (from_y + H * c);
                    std::fill_n(to, begin, 0.0F);
                    if (end > begin)
                        std::memcpy(to + begin, from + begin + s - 1,
                                    static_cast<std::size_t>(end - begin) * sizeof(float));
                    std::fill_n(to + std::max(begin, end), W - std::max(begin, end), 0.0F);
                }
            }
}

/// Of filters [first, last).
void add_bias_and_relu(const layer& l, const float* bias, float* O, std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k) {
        const float b = bias[k];
        float* const o = O + l.pixels() * k;
        for (std::int64_t n = 0; n < l.pixels(); ++n) o[n] = std::max(o[n] + b, 0.0F);
    }
}

void convolve(const problem& p, const operand_addresses& at, float* windows) {
    const layer& l = p.of;
    const auto* const D = static_cast<const float*>(at[at_D]);
    const auto* const bias = static_cast<const float*>(at[at_bias]);
    auto* const O = static_cast<float*>(at[at_O]);
    const auto at_least = [&](std::int64_t numbers) { return std::max<std::int64_t>(1, smallest_part / numbers); };
    for (std::int64_t b = 0; b < p.batch; ++b) {
        const float* const in = D + l.pixels() * l.channels * b;
        float* const out = O + l.pixels() * l.filters * b;
        in_parallel(l.channels, at_least(l.pixels() * R * R),
                    [&](std::int64_t first, std::int64_t last) { write_windows(l, in, windows, first, last); });
        if (!runtime::blas_gemm(lowering::scalar_type::f32, 'N', 'N', l.pixels(), l.filters, p.terms(), 1, windows,
                                l.pixels(), at[at_F], p.terms(), 0, out, l.pixels()))
            throw error(fmt::format("no BLAS multiplies matrices as large as those of {}", to_string(l)));
        in_parallel(l.filters, at_least(l.pixels()),
                    [&](std::int64_t first, std::int64_t last) { add_bias_and_relu(l, bias, out, first, last); });
    }
}

class im2col_peer : public convolution_peer {
  public:
    im2col_peer() { runtime::set_blas_threads(thread_count()); }

    std::string version() const override {
        const std::string blas = blas_version();
        return fmt::format("loops over windows, a product for each picture by {}", blas.empty() ? "BLAS" : blas);
    }

    std::vector<contender> contenders(const problem& p, const std::vector<operand_addresses>& sets) override {
        if (p.type != lowering::scalar_type::f32) return {}; // no BLAS has half
        // Zero, so that its pages are there before anything is timed.
        auto windows = std::make_shared<std::vector<float>>(static_cast<std::size_t>(p.of.pixels() * p.terms()));
        return {{"im2col", "", [p, sets, windows](std::size_t set) { convolve(p, sets[set], windows->data()); }}};
    }
};

} // namespace

std::unique_ptr<convolution_peer> make_im2col_peer() {
    if (!runtime::has_blas()) throw error("this build has no BLAS", blame::environment);
    return std::make_unique<im2col_peer>();
}

} // namespace ricci::bench::conv
