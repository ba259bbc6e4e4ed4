// step_memory: memory of its own for the operands of one kernel's steps.
#include "runtime/step_memory.hpp"

#include "lowering/matrix_sizes.hpp"
#include "lowering/same_memory.hpp"
#include "runtime/chain_numbers.hpp"
#include "runtime/half.hpp"
#include "runtime/matrix_numbers.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

namespace ricci::runtime {
namespace {

using namespace lowering;

constexpr std::size_t alignment = 256, most_sets = 64;
constexpr std::size_t most_read = std::size_t{16} << 20; ///< bytes at each end of an output
constexpr std::size_t block_elements = 131071;           ///< a prime, so that the products of a batch differ

enum class signs : std::uint8_t { both, positive };

/// Of complex numbers both parts, of positive ones the real part.
template <class T>
void write_numbers(std::vector<std::byte>& out, std::mt19937_64& random, scalar_type type, signs of) {
    std::uniform_real_distribution<double> number(of == signs::positive ? 0.25 : -1, 1);
    bool is_imaginary = false;
    for (std::size_t at = 0; at + sizeof(T) <= out.size(); at += sizeof(T)) {
        const auto x = static_cast<T>(is_imaginary && of == signs::positive ? 0 : number(random));
        std::memcpy(out.data() + at, &x, sizeof x);
        is_imaginary = is_complex(type) && !is_imaginary;
    }
}

std::vector<std::byte> random_numbers(scalar_type type, std::size_t elements, std::uint64_t seed, signs of) {
    std::vector<std::byte> out(elements * static_cast<std::size_t>(size_of(type)));
    std::mt19937_64 random(seed);
    switch (real_of(type)) {
    case scalar_type::f16:
        write_numbers<half>(out, random, type, of);
        break;
    case scalar_type::bf16:
        write_numbers<bfloat16>(out, random, type, of);
        break;
    case scalar_type::f32:
        write_numbers<float>(out, random, type, of);
        break;
    default:
        write_numbers<double>(out, random, type, of);
        break;
    }
    return out;
}

/// The offsets of an operand's first and last element, tables left out.
std::pair<std::int64_t, std::int64_t> ends_of(const step& st, const operand& o) {
    std::int64_t first = o.offset, last = o.offset;
    for (std::size_t a = 0; a < st.axes.size(); ++a) {
        const auto reach = o.stride[a] * (st.axes[a].extent - 1);
        (reach < 0 ? first : last) += reach;
    }
    return {first, last};
}

} // namespace

void step_memory::add_region(const step& st, const operand& o, const statement& s) {
    auto [first, last] = ends_of(st, o);
    const auto matrix = last - first + 1;
    std::int64_t matrices = 1;
    for (const auto& g : o.gathers) {
        const auto& table = st.operands[static_cast<std::size_t>(g.table)];
        if (table.type == scalar_type::address) {
            const auto [first_entry, last_entry] = ends_of(st, table);
            matrices = last_entry - first_entry + 1;
        } else {
            const auto reach = g.stride * (g.extent - 1);
            (reach < 0 ? first : last) += reach;
        }
    }
    const bool shares = o.source >= 0 && o.type != scalar_type::address;
    const void* const data = shares ? s.accesses[static_cast<std::size_t>(o.source)].data : nullptr;
    const auto known = region_of_source_.find(o.source);
    const auto same = [&](const region& r) {
        return (data != nullptr && r.data == data && r.type == o.type) ||
               (known != region_of_source_.end() && &r == &regions_[known->second]);
    };
    auto found = std::find_if(regions_.begin(), regions_.end(), same);
    if (found == regions_.end()) {
        found = regions_.insert(regions_.end(), region{});
        found->type = o.type, found->data = data, found->first = first, found->last = last;
    }
    found->first = std::min(found->first, first), found->last = std::max(found->last, last + (matrices - 1) * matrix);
    region_of_source_[o.source] = static_cast<std::size_t>(found - regions_.begin());
}

step_memory::step_memory(backend& b, const step& st, const statement& s, std::size_t least_bytes) : backend_(b) {
    add_regions(st, s);
    if (st.workspace.source < 0) {
        region_of_source_[st.workspace.source] = regions_.size();
        region own;
        own.type = scalar_type::f64, own.last = st.workspace.bytes / size_of(scalar_type::f64) - 1;
        regions_.push_back(own);
    }
    for (std::size_t o = 0; o < st.operands.size(); ++o)
        if (writes_operand(st, o)) add_output(st.operands[o].source);
    const bool of_matrices = st.matrices.task != matrix_task::none;
    const auto is_overwritten = [&](matrix_role role) {
        const auto* const o = operand_in(st, role);
        return o != nullptr && is_output(o->source);
    };
    used_up_ = of_matrices && (is_overwritten(matrix_role::matrix) || is_overwritten(matrix_role::given));
    make_sets(least_bytes);
    if (of_matrices) write_matrices({&st, 1}), keep_outputs();
}

step_memory::step_memory(backend& b, const plan& p, std::int32_t chain, const statement& s, std::size_t least_bytes)
    : backend_(b), order_(table_order::rising) {
    const auto& c = p.chains[static_cast<std::size_t>(chain)];
    std::set<std::int32_t> outside;
    for (const auto& m : c.memories) outside.insert(m.source);
    std::vector<step> steps;
    for (const auto& st : p.steps) {
        if (st.chain != chain) continue;
        for (auto& o : steps.emplace_back(st).operands) o.source = same_tensor(p, o.source); // as memories have it
        add_regions(steps.back(), s, &outside);
    }
    for (const auto& m : c.memories)
        if (m.is_written) add_output(m.source);
    const bool of_matrices = std::ranges::any_of(c.phases, [](const chain_phase& ph) { return ph.call.has_value(); });
    chain_numbers numbers;
    if (of_matrices) numbers = chain_numbers_of(c, steps);
    for (const auto source : numbers.weights) regions_[region_of(source)].is_positive = true;
    for (const auto source : numbers.factors) regions_[region_of(source)].is_positive = false;
    used_up_ = of_matrices && std::ranges::any_of(c.memories, [&](const chain_memory& m) {
                   return m.is_read && is_output(m.source);
               });
    make_sets(least_bytes);
    if (of_matrices) write_matrices(numbers.matrices), keep_outputs();
}

void step_memory::add_output(std::int32_t source) {
    if (!is_output(source)) outputs_.push_back(region_of(source));
}

bool step_memory::is_output(std::int32_t source) const {
    return std::find(outputs_.begin(), outputs_.end(), region_of(source)) != outputs_.end();
}

void step_memory::add_regions(const step& st, const statement& s, const std::set<std::int32_t>* outside) {
    for (const auto& o : st.operands)
        if (outside == nullptr || outside->contains(o.source)) add_region(st, o, s);
    for (const auto& o : st.operands)
        for (const auto& g : o.gathers) {
            const auto& table = st.operands[static_cast<std::size_t>(g.table)];
            auto& r = regions_[region_of(table.source)];
            if (table.type == scalar_type::address) {
                const auto [first, last] = ends_of(st, o);
                r.target = region_of(o.source), r.matrix_bytes = (last - first + 1) * size_of(o.type);
                r.entries_below = r.last - r.first + 1;
                by_address_.insert(o.source);
            } else {
                r.entries_below = r.entries_below == 0 ? g.extent : std::min(r.entries_below, g.extent);
            }
        }
}

void step_memory::make_sets(std::size_t least_bytes) {
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
    if (by_address_.contains(source)) return nullptr; // the table has the addresses
    const auto r = region_of(source);
    return begin(sets_[static_cast<std::size_t>(n)], r) - regions_[r].first * size_of(regions_[r].type);
}

std::vector<std::byte> step_memory::table_of(const set& of, std::size_t which) const {
    const auto& r = regions_[which];
    const auto elements = static_cast<std::size_t>(r.last - r.first + 1);
    const auto count = std::max<std::int64_t>(r.entries_below, 1);
    const auto rising = [&](std::size_t e) {
        return static_cast<std::int64_t>(static_cast<double>(e) / static_cast<double>(elements) *
                                         static_cast<double>(count));
    };
    // Steps of a number without a common divisor reach every entry before any comes again.
    std::int64_t step = static_cast<std::int64_t>(0.618 * static_cast<double>(count)) + 1, spread = 0;
    while (std::gcd(step, count) != 1) ++step;
    std::vector<std::byte> out(elements * static_cast<std::size_t>(size_of(r.type)));
    for (std::size_t e = 0; e < elements; ++e, spread = (spread + step) % count) {
        const std::int64_t entry = order_ == table_order::rising ? rising(e) : spread;
        const auto narrow = static_cast<std::int32_t>(entry);
        // The operand's offset comes on top.
        const auto address = r.type == scalar_type::address
                                 ? begin(of, r.target) - regions_[r.target].first * size_of(regions_[r.target].type) +
                                       entry * r.matrix_bytes
                                 : nullptr;
        const void* const from = r.type == scalar_type::address ? static_cast<const void*>(&address)
                                 : r.type == scalar_type::i32   ? static_cast<const void*>(&narrow)
                                                                : &entry;
        std::memcpy(out.data() + e * static_cast<std::size_t>(size_of(r.type)), from,
                    static_cast<std::size_t>(size_of(r.type)));
    }
    return out;
}

/// All of a table, or a block of numbers, then ever longer copies of what is there.
void step_memory::fill(const set& of, std::size_t which) {
    const auto& r = regions_[which];
    auto* const target = begin(of, which);
    auto& block = blocks_[which]; // numbers are made once: they took most of a short tuning's time
    if (is_index(r.type))
        block = table_of(of, which);
    else if (block.empty())
        block = random_numbers(r.type, std::min(block_elements, static_cast<std::size_t>(r.last - r.first + 1)),
                               which + 1, r.is_positive ? signs::positive : signs::both);
    backend_.copy_in(target, block.data(), block.size());
    for (std::size_t done = block.size(); done < r.bytes();) {
        const auto size = std::min(done, r.bytes() - done);
        backend_.copy_within(target + done, target, size);
        done += size;
    }
}

void step_memory::write_matrices(std::span<const step> steps) {
    std::map<std::size_t, std::vector<std::byte>> images;
    for (auto st = steps.rbegin(); st != steps.rend(); ++st) // so that the first one's numbers are on top
        for (const auto role : {matrix_role::matrix, matrix_role::vector}) {
            const auto* const o = operand_in(*st, role);
            if (o == nullptr) continue;
            const auto r = region_of(o->source);
            const auto [found, is_new] = images.try_emplace(r, regions_[r].bytes());
            auto& image = found->second;
            if (is_new) backend_.copy_out(image.data(), begin(sets_.front(), r), image.size());
            write_matrix_numbers(*st, role, regions_[r].first, image);
        }
    for (const auto& [r, image] : images) {
        auto* const first = begin(sets_.front(), r);
        backend_.copy_in(first, image.data(), image.size());
        for (std::size_t n = 1; n < sets_.size(); ++n) backend_.copy_within(begin(sets_[n], r), first, image.size());
    }
}

void step_memory::keep_outputs() {
    for (const auto r : outputs_) {
        const auto bytes = regions_[r].bytes();
        const auto& own = fresh_.emplace(r, memory(backend_.allocate(bytes), {&backend_})).first->second;
        backend_.copy_within(own.get(), begin(sets_.front(), r), bytes);
    }
}

void step_memory::refill_outputs(int n) {
    const auto& of = sets_[static_cast<std::size_t>(n)];
    for (const auto r : outputs_) {
        if (const auto own = fresh_.find(r); own != fresh_.end())
            backend_.copy_within(begin(of, r), own->second.get(), regions_[r].bytes());
        else
            fill(of, r);
    }
}

std::vector<step_output> step_memory::outputs(int n) const {
    std::vector<step_output> all;
    for (const auto r : outputs_) {
        const auto bytes = regions_[r].bytes();
        const auto* const from = begin(sets_[static_cast<std::size_t>(n)], r);
        const auto head = std::min(bytes, most_read), tail = std::min(bytes - head, most_read);
        auto& out = all.emplace_back(step_output{regions_[r].type, std::vector<std::byte>(head + tail)}).bytes;
        backend_.copy_out(out.data(), from, head);
        if (tail > 0) backend_.copy_out(out.data() + head, from + (bytes - tail), tail);
    }
    return all;
}

} // namespace ricci::runtime
