// step_memory: memory of its own for the operands of one step.
#include "runtime/step_memory.hpp"

#include "runtime/half.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

namespace ricci::runtime {
namespace {

using namespace lowering;

constexpr std::size_t alignment = 256, most_sets = 64;
constexpr std::size_t most_read = std::size_t{16} << 20; ///< bytes at each end of an output
constexpr std::size_t block_elements = 131071;           ///< a prime, so that the products of a batch differ

template <class T>
void write_numbers(std::vector<std::byte>& out, std::mt19937_64& random) {
    std::uniform_real_distribution<double> number(-1, 1);
    for (std::size_t at = 0; at + sizeof(T) <= out.size(); at += sizeof(T)) {
        const auto x = static_cast<T>(number(random));
        std::memcpy(out.data() + at, &x, sizeof x);
    }
}

std::vector<std::byte> random_numbers(scalar_type type, std::size_t elements, std::uint64_t seed) {
    std::vector<std::byte> out(elements * static_cast<std::size_t>(size_of(type)));
    std::mt19937_64 random(seed);
    switch (real_of(type)) {
    case scalar_type::f16:
        write_numbers<half>(out, random);
        break;
    case scalar_type::bf16:
        write_numbers<bfloat16>(out, random);
        break;
    case scalar_type::f32:
        write_numbers<float>(out, random);
        break;
    default:
        write_numbers<double>(out, random);
        break;
    }
    return out;
}

} // namespace

step_memory::step_memory(backend& b, const step& st, const statement& s, std::size_t least_bytes) : backend_(b) {
    for (const auto& o : st.operands) {
        std::int64_t first = o.offset, last = o.offset;
        for (std::size_t a = 0; a < st.axes.size(); ++a) {
            const auto reach = o.stride[a] * (st.axes[a].extent - 1);
            (reach < 0 ? first : last) += reach;
        }
        const void* const data = o.source < 0 ? nullptr : s.accesses[static_cast<std::size_t>(o.source)].data;
        const auto same = [&](const region& r) { return data != nullptr && r.data == data && r.type == o.type; };
        auto found = std::find_if(regions_.begin(), regions_.end(), same);
        if (found == regions_.end()) found = regions_.insert(regions_.end(), {o.type, data, first, last, 0});
        found->first = std::min(found->first, first), found->last = std::max(found->last, last);
        region_of_source_[o.source] = static_cast<std::size_t>(found - regions_.begin());
    }
    output_ = region_of(st.operands[0].source);
    std::size_t of_a_set = 0;
    for (auto& r : regions_) {
        of_a_set += r.bytes();
        if (r.data != nullptr)
            r.misalignment =
                (reinterpret_cast<std::uintptr_t>(r.data) + static_cast<std::uintptr_t>(r.first * size_of(r.type))) %
                alignment;
    }
    const auto count = std::clamp<std::size_t>((least_bytes + of_a_set - 1) / of_a_set, 1, most_sets);
    bytes_ = count * of_a_set;
    for (std::size_t n = 0; n < count; ++n) {
        auto& one = sets_.emplace_back();
        for (const auto& r : regions_)
            one.push_back(memory(backend_.allocate(r.bytes() + 2 * alignment), {&backend_}));
        for (std::size_t r = 0; r < regions_.size(); ++r) fill(one, r);
    }
}

std::byte* step_memory::begin(const set& of, std::size_t r) const {
    const auto start = reinterpret_cast<std::uintptr_t>(of[r].get());
    return reinterpret_cast<std::byte*>((start + alignment - 1) / alignment * alignment + regions_[r].misalignment);
}

void* step_memory::address(int n, std::int32_t source) const {
    const auto r = region_of(source);
    return begin(sets_[static_cast<std::size_t>(n)], r) - regions_[r].first * size_of(regions_[r].type);
}

/// A block from the host, then ever longer copies of what is there.
void step_memory::fill(const set& of, std::size_t which) const {
    const auto& r = regions_[which];
    auto* const target = begin(of, which);
    const auto block =
        random_numbers(r.type, std::min(block_elements, static_cast<std::size_t>(r.last - r.first + 1)), which + 1);
    backend_.copy_in(target, block.data(), block.size());
    for (std::size_t done = block.size(); done < r.bytes();) {
        const auto size = std::min(done, r.bytes() - done);
        backend_.copy_within(target + done, target, size);
        done += size;
    }
}

void step_memory::refill_output(int n) { fill(sets_[static_cast<std::size_t>(n)], output_); }

std::vector<std::byte> step_memory::output(int n) const {
    const auto all = regions_[output_].bytes();
    const auto* const from = begin(sets_[static_cast<std::size_t>(n)], output_);
    const auto head = std::min(all, most_read), tail = std::min(all - head, most_read);
    std::vector<std::byte> out(head + tail);
    backend_.copy_out(out.data(), from, head);
    if (tail > 0) backend_.copy_out(out.data() + head, from + (all - tail), tail);
    return out;
}

} // namespace ricci::runtime
