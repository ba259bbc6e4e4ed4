// program_run: see the header. What a statement hands on is known to within the oracle's bound, which the bounds of
// what reads it then hold.
#include "tests/kernels/program_run.hpp"

#include "lowering/error.hpp"
#include "lowering/find_winograd.hpp"
#include "lowering/lower_program.hpp"
#include "runtime/executable.hpp"
#include "runtime/program_cache.hpp"
#include "runtime/run.hpp"
#include "tests/bound_text.hpp"
#include "tests/host_memory.hpp"
#include "tests/number_format.hpp"
#include "tests/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <random>
#include <set>

namespace ricci::tests {
namespace {

using bytes = std::vector<std::byte>;
using entries = std::map<std::string, std::int64_t, std::less<>>;

std::int64_t size_of(const text_operand& o) {
    std::int64_t count = 1;
    for (const auto e : o.extents) count *= e;
    return count;
}

std::vector<lowering::statement> bound(const random_program& p, const std::vector<text_operand>& operands) {
    std::vector<lowering::statement> out;
    for (const auto& s : p.statements) out.push_back(bind_text(parse_text(s).at(0), operands));
    return out;
}

/// How many values each index table may have.
entries extents_of_tables(const std::vector<lowering::statement>& program) {
    entries out;
    for (const auto& s : program)
        for (const auto& p : s.positions) {
            if (!p.is_gathered()) continue;
            const std::string name(s.accesses[static_cast<std::size_t>(p.table)].name);
            const auto [found, is_new] = out.try_emplace(name, p.extent);
            if (!is_new) found->second = std::min(found->second, p.extent);
        }
    return out;
}

void fill_table(bytes& memory, std::size_t size, std::int64_t extent, std::mt19937_64& random) {
    for (std::size_t at = 0; at < memory.size(); at += size) {
        const auto wide = std::uniform_int_distribution<std::int64_t>(0, extent - 1)(random);
        const auto narrow = static_cast<std::int32_t>(wide);
        std::memcpy(memory.data() + at, size == 4 ? static_cast<const void*>(&narrow) : &wide, size);
    }
}

void fill_with(bytes& memory, lowering::scalar_type type, program_data fill, std::mt19937_64& random) {
    if (fill == program_data::unit) return fill_random(memory, type, random);
    const auto number = [&] { return std::uniform_int_distribution<int>(-1, 1)(random); };
    const auto size = static_cast<std::size_t>(lowering::size_of(type));
    for (std::size_t at = 0; at < memory.size(); at += size) {
        const auto re = number(), im = number();
        write_element(memory.data() + at, type, re, im);
    }
}

/// Writes what the oracle expects of an element to its memory, and how far that may be from what a right program has
/// there, for the statements that read it.
void settle(const expected_element& e, lowering::scalar_type type, element_errors& known) {
    constexpr auto infinity = std::numeric_limits<long double>::infinity();
    write_element(e.address, type, static_cast<double>(e.re), static_cast<double>(e.im));
    long double& error = known[e.address];
    error = e.kind == verdict::nan || e.kind == verdict::infinite ? 0 : infinity;
    if (e.kind != verdict::within) return;
    // What is exact is rounded in one way, to nearest; if twice, to f32 first, that makes no difference.
    const number_format f = format_of(type), f32 = format_of(lowering::scalar_type::f32);
    if (e.error == 0 && (e.bound == 0 || (f.digits < f32.digits && f32.holds(e.re) && f32.holds(e.im)))) {
        error = 0;
        return;
    }
    if (std::max(std::fabs(e.re), std::fabs(e.im)) + e.bound >= f.overflow) return;
    const auto [re, im] = read_element(e.address, type);
    const long double off = e.bound + std::max(std::fabs(re - e.re), std::fabs(im - e.im));
    error = lowering::is_complex(type) ? std::sqrt(2.0L) * off : off;
}

int kernels_of(const lowering::plan& p) {
    std::set<std::int32_t> filled;
    for (const auto& st : p.steps)
        if (st.fill >= 0) filled.insert(st.fill);
    const bool convolves = std::ranges::any_of(p.steps, lowering::is_of_convolution);
    if (p.chains.empty() && filled.empty() && !convolves) return 0;
    const auto outside = std::ranges::count_if(p.steps, [](const auto& st) { return st.chain < 0; });
    return static_cast<int>(p.chains.size()) + static_cast<int>(outside) - static_cast<int>(filled.size());
}

/// Copies of a program's tensors on a device, but its locals have no memory that it may use.
class copies {
  public:
    copies(const random_program& p, const std::vector<text_operand>& operands, std::int32_t code)
        : where_(code), there_(operands) {
        for (auto& o : there_) {
            const auto size = static_cast<std::size_t>(size_of(o) * lowering::size_of(o.type));
            void* const here = o.data;
            o.device = code, o.data = runtime::allocate(where_, size + 1, false);
            runtime::copy(where_, o.data, cpu(), here, size);
        }
        program_ = bound(p, there_);
        for (auto& s : program_)
            for (auto& a : s.accesses)
                if (const auto local = std::ranges::find(p.locals, a.name); local != p.locals.end())
                    a.local = static_cast<std::int32_t>(local - p.locals.begin()), a.data = nullptr;
    }
    ~copies() {
        for (const auto& o : there_) runtime::release(where_, o.data);
    }
    copies(const copies&) = delete;
    copies& operator=(const copies&) = delete;

    void run(program_outcome& out) {
        runtime::run_program(program_);
        runtime::placed_program placed;
        if (placed.take(program_) && runtime::find_fused(placed))
            out.kernels = kernels_of(runtime::plan_of(placed, nullptr));
    }
    void run_as_planned(const lowering::machine& chip, program_outcome& out) {
        runtime::placed_program placed;
        if (!placed.take(program_)) throw error("this is no program of several statements");
        const auto plan = lowering::lower_program(placed.statements, placed.locals, placed.shared, chip);
        out.kernels = static_cast<int>(plan.steps.size());
        for (const auto& st : plan.steps) out.families.push_back(st.kernel);
        runtime::executable(where_, plan).launch(placed.joined, placed.statements);
    }
    void fetch(std::size_t operand, bytes& to) const {
        runtime::copy(cpu(), to.data(), where_, there_[operand].data, to.size());
    }

  private:
    device where_;
    std::vector<text_operand> there_;
    std::vector<lowering::statement> program_;
};

} // namespace

program_outcome run_program(const random_program& p, std::uint64_t seed, std::int32_t device_code, program_data fill,
                            const lowering::machine* plan_for) {
    std::mt19937_64 random(seed);
    std::vector<bytes> memory;
    auto operands = p.operands;
    const auto tables = extents_of_tables(bound(p, operands));
    const auto is_local = [&](const text_operand& o) {
        return std::ranges::find(p.locals, o.name) != p.locals.end();
    };
    for (auto& o : operands) {
        const auto size = static_cast<std::size_t>(lowering::size_of(o.type));
        auto& m = memory.emplace_back(static_cast<std::size_t>(size_of(o)) * size);
        if (const auto table = tables.find(o.name); table != tables.end())
            fill_table(m, size, table->second, random);
        else if (!is_local(o))
            fill_with(m, o.type, fill, random);
        o.data = m.data();
    }
    program_outcome out;
    copies there(p, operands, device_code);
    plan_for ? there.run_as_planned(*plan_for, out) : there.run(out);

    std::vector<snapshot> before;
    for (auto& m : memory) before.emplace_back(std::vector<std::span<std::byte>>{m});
    element_errors errors;
    std::map<void*, expected_element> last; // what was written to each element
    for (const auto& s : bound(p, operands))
        for (const auto expected = evaluate(s, errors); const auto& e : expected.elements)
            settle(e, s.accesses[0].type, errors), last[e.address] = e;
    for (std::size_t n = 0; n < operands.size(); ++n) {
        if (is_local(operands[n])) continue;
        oracle_result expected{operands[n].type, {"element"}, {0}, {size_of(operands[n])}, {}, 0, 0};
        const auto size = lowering::size_of(operands[n].type);
        for (auto e = last.lower_bound(memory[n].data()); e != last.end(); ++e) {
            e->second.ordinal = (static_cast<std::byte*>(e->first) - memory[n].data()) / size;
            if (e->second.ordinal >= size_of(operands[n])) break;
            expected.elements.push_back(e->second);
        }
        there.fetch(n, memory[n]);
        if (const auto wrong = compare(expected, before[n]); !wrong.empty())
            out.report += fmt::format("seed {}: {} differs\n{}\n{}", seed, operands[n].name, p.text(), wrong);
    }
    return out;
}

} // namespace ricci::tests
