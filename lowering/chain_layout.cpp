// chain_layout: where a chain's slots, spans and matrices lie in a block's memory.
#include "lowering/chain_layout.hpp"

#include <algorithm>
#include <limits>

namespace ricci::lowering {
namespace {

/// What part of a slice must be used for it to be moved as a whole.
constexpr double least_use = 0.6;
constexpr std::int64_t barrier_room = 128, line = 128; // bytes

std::int64_t rounded_up(std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; }

/// f(element's place in the slice) for every element of a view.
template <class F>
void for_each_element(const chain& c, const chain_view& v, const F& f) {
    const auto& ph = c.phases[static_cast<std::size_t>(v.phase)];
    std::vector<std::int64_t> strides, extents;
    const auto add = [&](const std::vector<std::int64_t>& s, const std::vector<std::int64_t>& e) {
        strides.insert(strides.end(), s.begin(), s.end());
        extents.insert(extents.end(), e.begin(), e.end());
    };
    add(v.item, ph.items), add(v.stream, ph.stream), add(v.inner, v.inner_extent);
    const auto count = chain_phase::product_of(extents);
    for (std::int64_t n = 0; n < count; ++n) {
        auto rest = n, at = v.offset;
        for (std::size_t a = 0; a < extents.size(); ++a) at += rest % extents[a] * strides[a], rest /= extents[a];
        f(at);
    }
}

struct life {
    std::int32_t first = std::numeric_limits<std::int32_t>::max(), last = -1;
    void meet(std::int32_t phase) { first = std::min(first, phase), last = std::max(last, phase); }
};

/// The phases in which each span is in use: what is read from the start on, what is written until the end.
std::vector<life> lives_of_spans(const chain& c) {
    std::vector<life> out(c.memories.size());
    for (const auto& v : c.views)
        if (v.where == chain_view::space::memory) out[static_cast<std::size_t>(v.number)].meet(v.phase);
    for (std::size_t m = 0; m < out.size(); ++m) {
        if (c.memories[m].is_read) out[m].first = -1;
        if (c.memories[m].is_written) out[m].last = static_cast<std::int32_t>(c.phases.size());
    }
    return out;
}

/// Places regions that live at the same time beside each other.
class placer {
  public:
    explicit placer(std::int64_t begin) : begin_(begin), end_(begin) {}
    std::int64_t place(std::int64_t bytes, life l) {
        std::vector<region> others;
        for (const auto& r : regions_)
            if (r.l.first <= l.last && l.first <= r.l.last) others.push_back(r);
        std::sort(others.begin(), others.end(), [](const region& a, const region& b) { return a.begin < b.begin; });
        auto at = begin_;
        for (const auto& o : others) {
            if (o.begin - at >= bytes) break;
            at = std::max(at, o.end);
        }
        regions_.push_back({at, at + bytes, l});
        end_ = std::max(end_, at + bytes);
        return at;
    }
    std::int64_t end() const { return end_; }

  private:
    struct region {
        std::int64_t begin, end;
        life l;
    };
    std::int64_t begin_, end_;
    std::vector<region> regions_;
};

std::int64_t product(const std::vector<std::int64_t>& extents) { return chain_phase::product_of(extents); }

chain_layout lay_out(const chain& c, std::int64_t begin, std::int64_t number_bytes, bool on_gpu) {
    chain_layout out;
    const auto compute_bytes = size_of(c.compute);
    for (const auto& m : c.matrices) {
        const auto per_line = std::max<std::int64_t>(16 / compute_bytes, 1);
        out.matrix_pitch.push_back(rounded_up(product(m.inner_extent), per_line));
        out.matrix_region.push_back(m.memory < 0 ? -1 : begin);
        if (m.memory >= 0)
            begin += rounded_up(product(m.stream_extent) * out.matrix_pitch.back() * compute_bytes, line);
    }
    placer places(begin);
    const auto spans = lives_of_spans(c);
    for (std::size_t m = 0; m < c.memories.size(); ++m) {
        const auto& memory = c.memories[m];
        const auto bytes =
            on_gpu ? rounded_up(memory.element_step * c.elements_of_block * size_of(memory.type), line) + line
                   : rounded_up(memory.reach * number_bytes, line);
        out.span_region.push_back(memory.is_span ? places.place(bytes, spans[m]) : -1);
    }
    for (const auto& s : c.slots) {
        // Elements on different banks, too.
        out.slot_step.push_back(on_gpu ? s.length | 1 : s.length);
        const auto numbers = on_gpu ? out.slot_step.back() * c.elements_of_block : s.length;
        life l;
        l.meet(s.first_phase), l.meet(s.last_phase);
        out.slot_region.push_back(places.place(rounded_up(numbers * number_bytes, line), l));
    }
    out.bytes = places.end();
    return out;
}

} // namespace

chain_reach reach_of(const chain& c, const chain_view& v) {
    chain_reach out{v.offset, v.offset};
    const auto& ph = c.phases[static_cast<std::size_t>(v.phase)];
    const auto add = [&](const std::vector<std::int64_t>& strides, const std::vector<std::int64_t>& extents) {
        for (std::size_t a = 0; a < strides.size(); ++a)
            (strides[a] < 0 ? out.first : out.last) += strides[a] * (extents[a] - 1);
    };
    add(v.item, ph.items), add(v.stream, ph.stream), add(v.inner, v.inner_extent);
    return out;
}

namespace {

/// What all operands of a memory have behind its first element becomes the memory's: it may belong to a range, which
/// is no constant of the kernel.
void take_offsets(chain& c) {
    for (std::size_t m = 0; m < c.memories.size(); ++m) {
        const auto number = static_cast<std::int32_t>(m);
        std::vector<std::int64_t*> offsets;
        for (auto& v : c.views)
            if (v.where == chain_view::space::memory && v.number == number) offsets.push_back(&v.offset);
        for (auto& matrix : c.matrices)
            if (matrix.memory == number) offsets.push_back(&matrix.offset);
        if (offsets.empty()) continue;
        const auto least =
            **std::min_element(offsets.begin(), offsets.end(), [](auto* a, auto* b) { return *a < *b; });
        for (auto* offset : offsets) *offset -= least;
        c.memories[m].offset += least;
    }
}

} // namespace

void find_spans(chain& c) {
    take_offsets(c);
    for (std::size_t m = 0; m < c.memories.size(); ++m) {
        auto& memory = c.memories[m];
        const auto step = memory.element_step;
        bool is_span = step > 0;
        chain_reach all{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
        std::vector<chain_view*> views;
        for (auto& v : c.views) {
            if (v.where != chain_view::space::memory || v.number != static_cast<std::int32_t>(m)) continue;
            const auto own = reach_of(c, v);
            all.first = std::min(all.first, own.first), all.last = std::max(all.last, own.last);
            is_span = is_span && v.tables.empty();
            views.push_back(&v);
        }
        constexpr std::int64_t longest = 1 << 16;
        if (views.empty() || is_index(memory.type) || all.last - all.first >= step || step > longest) is_span = false;
        if (!is_span) continue;
        std::vector<char> used(static_cast<std::size_t>(step), 0);
        for (const auto* v : views)
            for_each_element(c, *v, [&](std::int64_t at) { used[static_cast<std::size_t>(at - all.first)] = 1; });
        const auto count = static_cast<double>(std::count(used.begin(), used.end(), 1));
        // What is stored as a whole must be the chain's as a whole: gaps may be written by others meanwhile.
        if (count < (memory.is_written ? 1 : least_use) * static_cast<double>(step)) continue;
        memory.is_span = true;
        memory.offset += all.first, memory.reach = all.last - all.first + 1;
        for (auto* v : views) v->offset -= all.first;
    }
}

chain_layout shared_layout_of(const chain& c) { return lay_out(c, barrier_room, size_of(c.compute), true); }
chain_layout vector_layout_of(const chain& c, int lanes) { return lay_out(c, 0, size_of(c.compute) * lanes, false); }

} // namespace ricci::lowering
