// device_tools: what the bench itself runs on a device: random operands, the triad, a plain product, the check of
// results.
#pragma once

#include "bench/product.hpp"

#include <ricci/runtime/backend.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace ricci::bench {

/// The random numbers of one tensor: see kernels/random_value.hpp.
struct random_numbers {
    std::uint64_t seed = 1;
    int digits = 53;
    double scale = 1;
};

/// Numbers below `size` in magnitude that an element of `type` holds exactly. `size` is a power of 2.
random_numbers random_numbers_of(lowering::scalar_type type, std::uint64_t seed, double size);

/// The size of A's and B's elements that keeps sums over k near 1, so that no half overflows however often C grows.
double operand_size(std::int64_t k);

/// How far results are off. An error counts in units of the root of the sum of squares of the terms of its sum.
struct findings {
    double worst = 0;
    std::int64_t wrong = 0;  ///< elements beyond the bound
    std::int64_t first = -1; ///< the lowest of them, counted in the order of C's memory
    std::int64_t looked_at = 0;
};

/// What a check allows: `sum` times the root of the sum of squares, and `last` times the result.
struct error_bound {
    double sum = 0, last = 0;
};

/// One more element of `found`: `off` from `value`, the root of the sum of squares of whose terms is `size`.
void compare(findings& found, const error_bound& bound, double off, double value, double size, std::int64_t number);

/// Rounding errors are as if random: they grow with the root of k, and the largest of many stays below 16 times that.
/// (N. Higham, T. Mary, SIAM J. Sci. Comput. 41, 2019.)
error_bound bound_of(const product& p);

/// All run on the device's current stream; those that return something wait for it.
class device_tools {
  public:
    virtual ~device_tools() = default;

    /// `count` elements of `type`.
    virtual void fill(lowering::scalar_type type, void* data, std::int64_t count, const random_numbers& numbers) = 0;

    /// z = x + 3*y over `bytes` of each, a multiple of 16. There are triad_kinds() ways to do it, the first the usual
    /// one.
    virtual void triad(void* z, const void* x, const void* y, std::int64_t bytes, int kind) = 0;
    virtual int triad_kinds() const = 0;
    /// Reads `bytes`, a multiple of 16.
    virtual void read(const void* x, std::int64_t bytes, int kind) = 0;
    virtual int read_kinds() const = 0;

    /// Keeps the device busy for about this long, while the host queues what is to be timed. Nothing on a CPU.
    virtual void delay(double seconds) = 0;

    /// The product as a plain loop, ready to be started any number of times.
    virtual std::function<void()> plain(const product& p, const operand_set& operands) = 0;

    /// Compares C with A*B (+ what C was, `old`) in a wider type: all elements on a GPU, up to some millions on a
    /// CPU.
    virtual findings check(const product& p, const operand_set& operands, const random_numbers& old) = 0;
};

std::unique_ptr<device_tools> make_device_tools(device where);

// The two kinds, for make_device_tools.
std::unique_ptr<device_tools> make_gpu_tools(device where);
std::unique_ptr<device_tools> make_cpu_tools();

} // namespace ricci::bench
