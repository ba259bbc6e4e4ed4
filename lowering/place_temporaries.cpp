// place_temporaries: where each temporary lies in the workspace.
#include "lowering/place_temporaries.hpp"

#include "lowering/error.hpp"
#include "lowering/temporaries.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

constexpr std::int64_t alignment = 256; // of a CUDA allocation

struct piece {
    std::int64_t begin = 0, end = 0; // bytes
    std::size_t first_step = 0, last_step = 0;
    bool used = false;

    bool is_alive_with(const piece& o) const { return first_step <= o.last_step && o.first_step <= last_step; }
};

std::int64_t bytes_of(const temporary& t) {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(t.elements, size_of(t.type), &bytes) ||
        __builtin_add_overflow(bytes, alignment - 1, &bytes))
        throw error("the temporaries of a statement do not fit 64 bits", blame::environment);
    return bytes / alignment * alignment;
}

/// From the step that writes it to the last that reads it.
std::vector<piece> lives(const plan& p, const std::vector<std::int32_t>& kept_by) {
    std::vector<piece> out(p.temporaries.size());
    for (std::size_t n = 0; n < p.steps.size(); ++n) {
        // All of a chain is one kernel.
        auto first = n, last = n;
        if (p.steps[n].chain >= 0) {
            while (first > 0 && p.steps[first - 1].chain == p.steps[n].chain) --first;
            while (last + 1 < p.steps.size() && p.steps[last + 1].chain == p.steps[n].chain) ++last;
        }
        const auto meet = [&](std::int32_t source) {
            if (source >= 0 || kept_by[static_cast<std::size_t>(-1 - source)] >= 0) return;
            auto& life = out[static_cast<std::size_t>(-1 - source)];
            const bool is_zeroed = p.temporaries[static_cast<std::size_t>(-1 - source)].is_zeroed;
            if (!life.used) life.first_step = is_zeroed ? 0 : first, life.used = true;
            life.last_step = last;
        };
        for (const auto& o : p.steps[n].operands) meet(o.source);
        meet(p.steps[n].workspace.source);
    }
    return out;
}

/// A temporary that only steps in groups have belongs to a slice.
void find_those_of_slices(plan& p) {
    for (auto& t : p.temporaries) t.of_slice = !p.groups.empty();
    for (const auto& st : p.steps) {
        if (st.group >= 0) continue;
        const auto meet = [&](std::int32_t source) {
            if (source < 0) p.temporaries[static_cast<std::size_t>(-1 - source)].of_slice = false;
        };
        for (const auto& o : st.operands) meet(o.source);
        meet(st.workspace.source);
    }
}

/// The bytes that those of slices, or the others, take together.
std::int64_t place(plan& p, std::vector<piece>& pieces, bool of_slices) {
    std::int64_t end = 0;
    for (std::size_t t = 0; t < pieces.size(); ++t) {
        auto& here = pieces[t];
        if (!here.used || p.temporaries[t].of_slice != of_slices) continue;
        const auto bytes = bytes_of(p.temporaries[t]);
        // First fit among those placed that live at the same time.
        std::vector<piece> neighbors;
        for (std::size_t o = 0; o < t; ++o)
            if (pieces[o].used && p.temporaries[o].of_slice == of_slices && here.is_alive_with(pieces[o]))
                neighbors.push_back(pieces[o]);
        std::sort(neighbors.begin(), neighbors.end(),
                  [](const piece& a, const piece& b) { return a.begin < b.begin; });
        for (const auto& o : neighbors) {
            if (o.begin - here.begin >= bytes) break;
            here.begin = std::max(here.begin, o.end);
        }
        if (__builtin_add_overflow(here.begin, bytes, &here.end))
            throw error("the temporaries of a statement do not fit 64 bits", blame::environment);
        p.temporaries[t].offset = here.begin;
        end = std::max(end, here.end);
    }
    return end;
}

} // namespace

std::vector<std::int32_t> chains_that_keep(const plan& p) {
    constexpr std::int32_t unmet = -2;
    std::vector<std::int32_t> out(p.temporaries.size(), unmet);
    for (const auto& st : p.steps)
        for (const auto& o : st.operands) {
            if (o.source >= 0) continue;
            auto& chain = out[static_cast<std::size_t>(-1 - o.source)];
            chain = chain == unmet || chain == st.chain ? st.chain : -1;
        }
    for (std::size_t t = 0; t < out.size(); ++t)
        if (out[t] == unmet || !fits_slots(p.temporaries[t])) out[t] = -1;
    return out;
}

plan place_temporaries(plan p) {
    find_those_of_slices(p);
    const auto kept_by = chains_that_keep(p);
    for (std::size_t t = 0; t < kept_by.size(); ++t)
        if (kept_by[t] >= 0) p.temporaries[t].is_zeroed = false; // it has no memory
    auto pieces = lives(p, kept_by);
    p.workspace_bytes = place(p, pieces, false);
    p.slice_bytes = place(p, pieces, true);
    return p;
}

} // namespace ricci::lowering
