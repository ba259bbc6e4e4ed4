// chain_locals: a temporary that stays within a chain.
#include "lowering/chain_locals.hpp"

#include "lowering/slot_views.hpp"

#include <algorithm>
#include <numeric>

namespace ricci::lowering {

std::int32_t local_tensor::way::dimension_of(std::size_t axis) const {
    std::int32_t found = -1;
    const auto& steps = step[axis];
    for (std::size_t d = 0; d < steps.size(); ++d) {
        if (steps[d] == 0) continue;
        if (steps[d] != 1 || found >= 0) return -1;
        found = static_cast<std::int32_t>(d);
    }
    return found;
}

std::optional<std::int64_t> local_tensor::slice_length(const temporary& t, std::int64_t element_stride) {
    constexpr std::int64_t too_many = std::int64_t{1} << 62;
    std::int64_t stride = 1, length = 1;
    bool found = false;
    for (const auto extent : t.extents) {
        if (stride == element_stride && extent > 1 && !found)
            found = true;
        else if (__builtin_mul_overflow(length, extent, &length))
            length = too_many;
        if (__builtin_mul_overflow(stride, extent, &stride)) return too_many;
    }
    if (!found) return {};
    return length;
}

local_tensor::local_tensor(const temporary& t, std::int64_t element_stride) : element_stride_(element_stride) {
    std::int64_t stride = 1;
    bool skipped = false;
    for (const auto extent : t.extents) {
        // Of dimensions of one value the element's stride may be another's, too.
        if (stride == element_stride && extent > 1 && !skipped)
            skipped = true;
        else
            strides_.push_back(stride), extents_.push_back(extent);
        stride *= extent;
    }
    slot_strides_ = dense_strides(extents_);
    covered_.assign(static_cast<std::size_t>(product_of(extents_)), 0);
}

std::optional<local_tensor::way> local_tensor::read(const step& st, const operand& o, std::size_t element) const {
    if (!o.present[element] || o.stride[element] != element_stride_ || !o.gathers.empty()) return {};
    way out;
    // Whole elements come first: a slice lies within the element's stride, or around it where that is not the
    // outermost.
    auto strides = strides_, extents = extents_;
    strides.push_back(element_stride_), extents.push_back(st.axes[element].extent);
    const auto begin = coordinates(o.offset, strides, extents);
    if (!begin || begin->back() != 0) return {};
    out.offset.assign(begin->begin(), begin->end() - 1);
    auto low = out.offset, high = out.offset;
    for (std::size_t a = 0; a < st.axes.size(); ++a) {
        auto& steps = out.step.emplace_back();
        // The stride of an axis of one value may be the elements'.
        if (a == element || !o.present[a] || st.axes[a].extent == 1) continue;
        const auto along = coordinates(o.stride[a], strides, extents);
        if (!along || along->back() != 0) return {};
        steps.assign(along->begin(), along->end() - 1);
        for (std::size_t d = 0; d < steps.size(); ++d)
            (steps[d] < 0 ? low : high)[d] += steps[d] * (st.axes[a].extent - 1);
    }
    for (std::size_t d = 0; d < low.size(); ++d)
        if (low[d] < 0 || high[d] >= extents_[d]) return {};
    return out;
}

std::vector<std::int64_t> local_tensor::slot_strides(const way& w) const {
    std::vector<std::int64_t> out;
    for (const auto& steps : w.step)
        out.push_back(std::inner_product(steps.begin(), steps.end(), slot_strides_.begin(), std::int64_t{0}));
    return out;
}

std::int64_t local_tensor::slot_offset(const way& w) const {
    return std::inner_product(w.offset.begin(), w.offset.end(), slot_strides_.begin(), std::int64_t{0});
}

bool local_tensor::is_whole(const step& st, const way& w, std::size_t element) const {
    std::vector<char> met(extents_.size(), 0);
    for (std::size_t a = 0; a < st.axes.size(); ++a) {
        if (a == element || w.step[a].empty() || st.axes[a].extent == 1) continue;
        const auto d = w.dimension_of(a);
        if (d < 0 || st.axes[a].extent != extents_[static_cast<std::size_t>(d)]) return false;
        met[static_cast<std::size_t>(d)] = 1;
    }
    for (std::size_t d = 0; d < met.size(); ++d)
        if (extents_[d] > 1 && !met[d]) return false;
    return true;
}

void local_tensor::cover(const step& st, const way& w, std::size_t element) {
    std::vector<std::size_t> axes;
    std::int64_t count = 1;
    for (std::size_t a = 0; a < st.axes.size(); ++a)
        if (a != element && !w.step[a].empty()) axes.push_back(a), count *= st.axes[a].extent;
    for (std::int64_t n = 0; n < count; ++n) {
        auto rest = n;
        auto place = w.offset;
        for (const auto a : axes) {
            for (std::size_t d = 0; d < place.size(); ++d) place[d] += rest % st.axes[a].extent * w.step[a][d];
            rest /= st.axes[a].extent;
        }
        const auto at = std::inner_product(place.begin(), place.end(), slot_strides_.begin(), std::int64_t{0});
        covered_[static_cast<std::size_t>(at)] = 1;
    }
}

bool local_tensor::is_covered() const { return std::find(covered_.begin(), covered_.end(), 0) == covered_.end(); }

void local_tensor::forget() {
    std::fill(covered_.begin(), covered_.end(), 0);
    place = kept::nowhere;
    number = phase = slot = -1;
    dimension_places.clear();
    is_stored = false;
}

} // namespace ricci::lowering
