// chain_layout: where a chain's slots, spans and matrices lie in a block's memory.
#include "lowering/chain_layout.hpp"

#include "lowering/chain_uses.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace ricci::lowering {
namespace {

constexpr std::int64_t barrier_room = 128, line = 128; // bytes

std::int64_t rounded_up(std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; }

struct life {
    std::int32_t first = std::numeric_limits<std::int32_t>::max(), last = -1;
    void meet(std::int32_t phase) { first = std::min(first, phase), last = std::max(last, phase); }
};

/// When each phase runs: those between which nobody waits run at the same time.
std::vector<std::int32_t> times_of(const chain& c, bool on_gpu) {
    std::vector<std::int32_t> out;
    for (const auto waits : waits_of(c)) out.push_back(out.empty() ? 0 : out.back() + (waits || !on_gpu ? 1 : 0));
    return out;
}

/// The times at which each span is in use: what is read from the start on, what is written until the end.
std::vector<life> lives_of_spans(const chain& c, const std::vector<std::int32_t>& times) {
    std::vector<life> out(c.memories.size());
    for (const auto& v : c.views)
        if (v.where == chain_view::space::memory)
            out[static_cast<std::size_t>(v.number)].meet(times[static_cast<std::size_t>(v.phase)]);
    for (std::size_t m = 0; m < out.size(); ++m) {
        if (c.memories[m].is_read) out[m].first = -1;
        if (c.memories[m].is_written) out[m].last = times.back() + 1;
    }
    return out;
}

/// Places regions that live at the same time beside each other, the largest first: the others go into what is left
/// between them.
class placer {
  public:
    explicit placer(std::int64_t begin) : begin_(begin), end_(begin) {}

    /// `at` is written by place_all.
    void add(std::int64_t& at, std::int64_t bytes, life l) { waiting_.push_back({&at, bytes, l}); }

    void place_all() {
        std::stable_sort(waiting_.begin(), waiting_.end(),
                         [](const request& a, const request& b) { return a.bytes > b.bytes; });
        for (const auto& r : waiting_) *r.at = place(r.bytes, r.l);
        waiting_.clear();
    }
    std::int64_t end() const { return end_; }

  private:
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

    struct request {
        std::int64_t* at;
        std::int64_t bytes;
        life l;
    };
    struct region {
        std::int64_t begin, end;
        life l;
    };
    std::int64_t begin_, end_;
    std::vector<request> waiting_;
    std::vector<region> regions_;
};

/// Calls f(stride, extent) for each axis of a view.
template <class F>
void for_each_axis(const chain& c, const chain_view& v, const F& f) {
    const auto& phase = c.phases[static_cast<std::size_t>(v.phase)];
    const auto all = [&](const std::vector<std::int64_t>& strides, const std::vector<std::int64_t>& extents) {
        for (std::size_t a = 0; a < strides.size(); ++a)
            if (extents[a] > 1) f(strides[a], extents[a]);
    };
    all(v.item, phase.items), all(v.stream, phase.stream), all(v.inner, v.inner_extent);
}

/// What the lay-out of a CPU's vectors depends on.
struct of_vectors {
    std::int64_t lanes = 1, few_sets = 0; ///< bytes behind which numbers meet in few sets of the L1 cache
};

/// The smallest stride whose numbers meet in few sets of the L1 cache, for a span or a slot whose views all stay
/// within its planes or go from one to another; else 0. Of eight points along an axis, as many lines of eight
/// operands each were twice as slow there (an EPYC, whose ways have 64 sets of 64 bytes, diffusion of order 6).
std::int64_t plane_of(const chain& c, chain_view::space where, std::size_t number, std::int64_t number_bytes,
                      std::int64_t lanes, std::int64_t few_sets) {
    const auto for_views = [&](const auto& f) {
        for (const auto& v : c.views)
            if (v.where == where && static_cast<std::size_t>(v.number) == number) f(v);
    };
    std::int64_t plane = 0;
    for_views([&](const chain_view& v) {
        for_each_axis(c, v, [&](std::int64_t stride, std::int64_t) {
            if (stride > 0 && stride * number_bytes % few_sets == 0 && (plane == 0 || stride < plane)) plane = stride;
        });
    });
    if (plane == 0) return 0;
    bool fits = plane % lanes == 0; // which are transposed together
    for_views([&](const chain_view& v) {
        auto within = v.offset % plane;
        fits = fits && v.offset >= 0;
        for_each_axis(c, v, [&](std::int64_t stride, std::int64_t extent) {
            fits = fits && stride >= 0;
            if (stride % plane != 0) within += stride * (extent - 1);
        });
        fits = fits && within < plane;
    });
    return fits ? plane : 0;
}

chain_layout lay_out(const chain& c, std::int64_t begin, std::int64_t number_bytes, bool on_gpu,
                     of_vectors vectors = {}) {
    chain_layout out;
    const auto compute_bytes = size_of(c.compute);
    for (const auto& m : c.matrices) {
        const auto per_line = std::max<std::int64_t>(16 / compute_bytes, 1);
        out.matrix_pitch.push_back(rounded_up(m.columns(), per_line));
        const bool is_copied = m.memory >= 0 && c.memories[static_cast<std::size_t>(m.memory)].constant < 0;
        out.matrix_region.push_back(is_copied ? begin : -1);
        if (is_copied) begin += rounded_up(m.rows() * out.matrix_pitch.back() * compute_bytes, line);
    }
    placer places(begin);
    const auto times = times_of(c, on_gpu);
    const auto spans = lives_of_spans(c, times);
    out.span_region.assign(c.memories.size(), -1);
    out.slot_region.resize(c.slots.size());
    for (std::size_t m = 0; m < c.memories.size(); ++m) {
        const auto& memory = c.memories[m];
        out.span_plane.push_back(on_gpu || !memory.is_span ? 0
                                                           : plane_of(c, chain_view::space::memory, m, number_bytes,
                                                                      vectors.lanes, vectors.few_sets));
        const auto bytes =
            on_gpu ? rounded_up(memory.element_step * c.elements_of_block * size_of(memory.type), line) + line
                   : rounded_up(in_planes(memory.reach, out.span_plane.back()) * number_bytes, line);
        if (memory.is_span) places.add(out.span_region[m], bytes, spans[m]);
    }
    for (std::size_t n = 0; n < c.slots.size(); ++n) {
        const auto& s = c.slots[n];
        out.slot_step.push_back(on_gpu ? s.step : s.length());
        out.slot_plane.push_back(on_gpu ? 0
                                        : plane_of(c, chain_view::space::slot, n, number_bytes, 1, vectors.few_sets));
        const auto numbers =
            on_gpu ? out.slot_step.back() * c.elements_of_block : in_planes(s.length(), out.slot_plane.back());
        life l;
        for (const auto phase : {s.first_phase, s.last_phase}) l.meet(times[static_cast<std::size_t>(phase)]);
        places.add(out.slot_region[n], rounded_up(numbers * number_bytes, line), l);
    }
    places.place_all();
    out.bytes = places.end();
    return out;
}

} // namespace

std::vector<char> waits_of(const chain& c) {
    using place = std::pair<bool, std::int32_t>; // whether it is a slot, and which; of memory the source
    std::set<place> read, written;
    std::vector<char> out;
    for (std::size_t p = 0; p < c.phases.size(); ++p) {
        std::set<place> reads, writes;
        for_each_use(c, p, [&](const chain_use& use) {
            const auto& v = use.view;
            const bool is_slot = v.where == chain_view::space::slot;
            const place at{is_slot, is_slot ? v.number : c.memories[static_cast<std::size_t>(v.number)].source};
            if (use.reads) reads.insert(at);
            if (use.writes) writes.insert(at);
        });
        const auto is_in = [](const std::set<place>& all) {
            return [&](const place& p) { return all.count(p) > 0; };
        };
        const bool waits = p > 0 && (std::any_of(reads.begin(), reads.end(), is_in(written)) ||
                                     std::any_of(writes.begin(), writes.end(), is_in(written)) ||
                                     std::any_of(writes.begin(), writes.end(), is_in(read)));
        if (waits) read.clear(), written.clear();
        read.merge(reads), written.merge(writes);
        out.push_back(waits ? 1 : 0);
    }
    return out;
}

chain_layout shared_layout_of(const chain& c) { return lay_out(c, barrier_room, size_of(c.compute), true); }
chain_layout vector_layout_of(const chain& c, int lanes, const machine& chip) {
    return lay_out(c, 0, size_of(c.compute) * lanes, false, {lanes, chip.l1_way_bytes / 2});
}

} // namespace ricci::lowering
