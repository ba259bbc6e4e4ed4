// packed_products: whether a CPU may take several tiny products at once as lanes of its vectors.
#include "lowering/packed_products.hpp"

#include "lowering/families.hpp"
#include "lowering/gathers.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr std::int64_t most_multiplies = 160; ///< of a group: all are unrolled

/// Sizes and strides of the matrices; what is not a matrix without gaps has none.
struct packed_shape {
    std::int64_t em, en, ek, lanes;
    std::array<std::int64_t, 2> x, y; ///< strides along m and k; along k and n
    bool dense = false;

    packed_shape(const step& st, const machine& chip)
        : em(extent_of(st, m)), en(extent_of(st, n)), ek(extent_of(st, k)),
          lanes(chip.vector_bytes / size_of(st.compute)), x{single_step(st, st.x, m), single_step(st, st.x, k)},
          y{single_step(st, st.y, k), single_step(st, st.y, n)} {
        const auto has_type = [&](int o) {
            const auto type = operand_of(st, o).type;
            return loads_as_vector(type, st.compute) && (o > 0 || type == st.compute || size_of(type) == 2);
        };
        const auto fills = [](const std::array<std::int64_t, 2>& s, std::int64_t first, std::int64_t second) {
            return (s[0] == 1 && s[1] == first) || (s[1] == 1 && s[0] == second);
        };
        const auto batches = axes_of(st, batch);
        if (is_complex(st.compute) || !has_type(0) || !has_type(1) || !has_type(2) || is_gathered(st) ||
            batches.empty() || std::min({em, en, ek}) < 2)
            return;
        const auto follows = [&](int o, std::int64_t size) {
            return operand_of(st, o).stride[static_cast<std::size_t>(batches.front())] == size;
        };
        dense = single_step(st, 0, m) == 1 && single_step(st, 0, n) == em && fills(x, em, ek) && fills(y, ek, en) &&
                follows(0, em * en) && follows(1, em * ek) && follows(2, ek * en) &&
                // X's and Y's are constants of the permutations
                std::max(x[0], x[1]) < least_changing_stride(st, st.x) &&
                std::max(y[0], y[1]) < least_changing_stride(st, st.y);
    }

    /// Two at the least, also where one product is whole vectors.
    std::int64_t group() const { return std::max<std::int64_t>(2, lanes / std::gcd(lanes, em * en)); }
    std::int64_t vectors() const { return group() * em * en / lanes; }

    /// Where a lane of C's vector finds its element of X (o: 1) or Y, in the first step of the sum: the others are as
    /// far from it for every lane.
    std::int64_t source(int o, std::int64_t vector, std::int64_t lane) const {
        const auto element = vector * lanes + lane, product = element / (em * en);
        const auto i = element % em, j = element / em % en;
        return o == 1 ? product * em * ek + i * x[0] : product * ek * en + j * y[1];
    }

    /// The elements between the first and the last that a vector wants of an operand at once.
    std::int64_t reach(int o, std::int64_t vector) const {
        auto low = source(o, vector, 0), high = low;
        for (std::int64_t t = 1; t < lanes; ++t)
            low = std::min(low, source(o, vector, t)), high = std::max(high, source(o, vector, t));
        return high - low + 1;
    }

    /// Whether a load can repeat what the lanes want: 2, 4, ... neighbors again and again.
    bool repeats(int o, std::int64_t vector) const {
        for (std::int64_t period = 2; period < lanes; period *= 2) {
            bool all = true;
            for (std::int64_t t = 0; t < lanes; ++t)
                all = all && source(o, vector, t) == source(o, vector, 0) + t % period;
            if (all) return true;
        }
        return false;
    }
};

} // namespace

std::int64_t packed_group(const step& st, const machine& chip) {
    const packed_shape s(st, chip);
    if (!s.dense || s.lanes < 4 || s.vectors() * s.ek > most_multiplies) return 0;
    if (s.group() * std::min(s.em, s.en) * s.ek < s.lanes) return 0; // a load would reach beyond the group
    for (std::int64_t v = 0; v < s.vectors(); ++v)
        if (std::max(s.reach(1, v), s.reach(2, v)) > 2 * s.lanes) return 0; // two loads do not hold all
    return s.group();
}

double packed_group_cycles(const step& st, const machine& chip) {
    const packed_shape s(st, chip);
    const auto converts = [&](int o) { return operand_of(st, o).type == st.compute ? 0 : 1; };
    double cycles = 0;
    for (std::int64_t v = 0; v < s.vectors(); ++v) {
        double each = 0.5;
        for (const int o : {1, 2}) each += converts(o) + (s.repeats(o, v) ? 0.25 : s.reach(o, v) > s.lanes ? 1.8 : 1);
        cycles += static_cast<double>(s.ek) * each + 1;
    }
    return cycles;
}

} // namespace ricci::lowering
