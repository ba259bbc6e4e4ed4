// table_check: whether the entries of index tables are positions of the tensors that they gather from, and differ
// where the user says so; whether pivots that a call reads are rows.
#include "runtime/table_check.hpp"

#include "lowering/byte_span.hpp"
#include "lowering/refuse.hpp"
#include "runtime/environment.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace ricci::runtime {
namespace {

using namespace lowering;

/// Whether all entries are positions, looked at as they lie in memory: in the labels' order l(i,j,e) would be walked
/// through e by e.
template <class Entry>
class all_entries {
  public:
    all_entries(const table_check& check, const void* entries) : entries_(static_cast<const Entry*>(entries)) {
        for (const auto& r : check.runs) runs_[count_++] = &r;
        std::sort(runs_.begin(), runs_.begin() + count_,
                  [](const auto* a, const auto* b) { return std::abs(a->stride) > std::abs(b->stride); });
        constexpr std::int64_t most = std::numeric_limits<Entry>::max();
        extent_ = check.extent > most ? static_cast<bits>(most) + 1 : static_cast<bits>(check.extent);
    }
    static bool takes(const table_check& check) { return check.runs.size() <= most_runs; }

    bool are_positions(std::ptrdiff_t run = 0, std::int64_t offset = 0) const {
        if (run == count_) return static_cast<bits>(entries_[offset]) < extent_;
        const auto& r = *runs_[static_cast<std::size_t>(run)];
        if (run + 1 < count_) {
            for (std::int64_t i = 0; i < r.count; ++i)
                if (!are_positions(run + 1, offset + i * r.stride)) return false;
            return true;
        }
        bool inside = true; // of all, so that vectors do it
        if (r.stride == 1)
            for (std::int64_t i = 0; i < r.count; ++i) inside &= static_cast<bits>(entries_[offset + i]) < extent_;
        else
            for (std::int64_t i = 0; i < r.count; ++i)
                inside &= static_cast<bits>(entries_[offset + i * r.stride]) < extent_;
        return inside;
    }

  private:
    using bits = std::make_unsigned_t<Entry>; // what is negative is large
    static constexpr std::size_t most_runs = 16;
    const Entry* entries_;
    bits extent_ = 0;
    std::array<const table_check::run*, most_runs> runs_{};
    std::ptrdiff_t count_ = 0;
};

/// Reads a table's entries in the order of their labels.
template <class Entry>
class checker {
  public:
    checker(const table_check& check, const void* entries)
        : check_(check), entries_(static_cast<const Entry*>(entries)) {}

    /// Whether an entry is no position; then at() tells where.
    bool finds_bad(std::size_t run = 0, std::int64_t offset = 0) {
        if (run == check_.runs.size()) {
            value_ = entries_[offset];
            return value_ < 0 || value_ >= check_.extent;
        }
        const auto& r = check_.runs[run];
        for (std::int64_t i = 0; i < r.count; ++i)
            if (finds_bad(run + 1, offset + i * r.stride)) {
                at_.push_back(r.begin + i);
                return true;
            }
        return false;
    }

    std::int64_t value() const { return value_; }
    /// The labels' values, the last run's first.
    const std::vector<std::int64_t>& at() const { return at_; }

  private:
    const table_check& check_;
    const Entry* entries_;
    std::int64_t value_ = 0;
    std::vector<std::int64_t> at_;
};

/// " i = 1, e = 2", of the labels of a table's runs.
std::string label_values(const table_check& check, const std::vector<std::int64_t>& at, const statement& s) {
    std::string out;
    for (std::size_t r = 0; r < check.runs.size(); ++r)
        out += fmt::format("{} {} = {}", r == 0 ? "" : ",",
                           s.labels[static_cast<std::size_t>(check.runs[r].label)].name, at[r]);
    return out;
}

/// What distinct(p) promises.
template <class Entry>
void check_that_all_differ(const table_check& check, const void* entries, const statement& s) {
    std::int64_t count = 1;
    for (const auto& r : check.runs) count *= r.count;
    std::vector<std::pair<Entry, std::int64_t>> all; // entries and their numbers, the first run's label fastest
    all.reserve(static_cast<std::size_t>(count));
    for (std::int64_t n = 0; n < count; ++n) {
        auto rest = n, offset = std::int64_t{0};
        for (const auto& r : check.runs) offset += rest % r.count * r.stride, rest /= r.count;
        all.emplace_back(static_cast<const Entry*>(entries)[offset], n);
    }
    std::ranges::sort(all);
    const auto same = std::ranges::adjacent_find(all, {}, &std::pair<Entry, std::int64_t>::first);
    if (same == all.end()) return;
    const auto values = [&](std::int64_t n) {
        std::vector<std::int64_t> at;
        for (const auto& r : check.runs) at.push_back(r.begin + n % r.count), n /= r.count;
        return label_values(check, at, s);
    };
    const auto& table = s.accesses[static_cast<std::size_t>(check.table)];
    refuse(s, "{} is {} at{} and at{}, but distinct says that no two of its entries are equal", to_string(s, table),
           same->first, values(same->second), values(std::next(same)->second));
}

template <class Entry>
void check_one(const table_check& check, const void* entries, const statement& s) {
    if (all_entries<Entry>::takes(check) && all_entries<Entry>(check, entries).are_positions()) return;
    checker<Entry> c(check, entries);
    if (!c.finds_bad()) return;
    const std::vector<std::int64_t> at(c.at().rbegin(), c.at().rend());
    const auto shown = [&](std::int32_t access) {
        return to_string(s, s.accesses[static_cast<std::size_t>(access)]);
    };
    const auto entry = fmt::format("{}{}{} is {}", shown(check.table), at.empty() ? "" : " at",
                                   label_values(check, at, s), c.value());
    if (check.of_pivots)
        refuse(s, "{}, no row of {}: {} has its pivots from 0 to {}, where LAPACK counts from 1", entry,
               shown(check.access), name_of(s.call.what), check.extent - 1);
    refuse(s, "{}, no value for position {} of {}, whose extent is {}", entry, check.position + 1,
           operand_names(s)[static_cast<std::size_t>(check.access)], check.extent);
}

std::atomic<bool> is_always_checking = false;

/// Also what takes time.
bool checks_all() {
    static const bool checking = is_checking();
    return checking || is_always_checking;
}

template <class Entry>
void check(const table_check& one, const void* entries, const statement& s) {
    check_one<Entry>(one, entries, s);
    if (one.of_pivots) return;
    const auto& access = s.accesses[static_cast<std::size_t>(one.access)];
    if (checks_all() && one.access == 0 && position_of(s, access, one.position).distinct)
        check_that_all_differ<Entry>(one, entries, s);
}

/// Whether a call among the statements `before` writes integers where the table lies; of locals, which may not have
/// memory yet, the same one.
bool is_written(const access& table, const statement& s, std::span<const statement> before) {
    return std::ranges::any_of(before, [&](const statement& other) {
        for (std::size_t r = 0; other.is_call() && r < matrix_roles; ++r) {
            const auto role = static_cast<matrix_role>(r);
            if (other.call.of(role) < 0 || !writes_role(other.call, role)) continue;
            const auto& a = other.accesses[static_cast<std::size_t>(other.call.of(role))];
            if (!is_index(a.type)) continue;
            const bool in_memory = a.local == no_local && table.local == no_local;
            if (in_memory ? !span_of(s, table).is_apart_from(span_of(other, a)) : a.local == table.local) return true;
        }
        return false;
    });
}

} // namespace

bool adds_through_results(const statement& s, std::span<const statement> before) {
    if (s.is_call() || s.op == assignment::assign) return false;
    const auto& left = s.accesses[0];
    for (int n = 0; n < left.position_count; ++n) {
        const auto& p = position_of(s, left, n);
        if (p.is_gathered() && is_written(s.accesses[static_cast<std::size_t>(p.table)], s, before)) return true;
    }
    return false;
}

void check_all(bool always) { is_always_checking = always; }

bool is_checked(const table_check& check, device d) { return checks_all() || (d.is_cpu() && !check.of_pivots); }

void check_tables(std::span<const table_check> checks, const statement& s, std::span<const statement> before,
                  device d, backend& b) {
    if (checks.empty() || (!d.is_cpu() && b.capturing())) return;
    for (const auto& one : checks) {
        if (std::any_of(one.runs.begin(), one.runs.end(), [](const auto& r) { return r.count == 0; })) continue;
        const auto& table = s.accesses[static_cast<std::size_t>(one.table)];
        if (is_written(table, s, before)) continue;
        const auto size = size_of(table.type);
        const auto* first = static_cast<const std::byte*>(table.data) + one.offset * size;
        std::vector<std::byte> copied;
        if (!d.is_cpu()) {
            std::int64_t low = 0, high = 0;
            for (const auto& r : one.runs) (r.stride < 0 ? low : high) += r.stride * (r.count - 1);
            copied.resize(static_cast<std::size_t>((high - low + 1) * size));
            b.copy_out(copied.data(), first + low * size, copied.size());
            first = copied.data() - low * size;
        }
        if (table.type == scalar_type::i32)
            check<std::int32_t>(one, first, s);
        else
            check<std::int64_t>(one, first, s);
    }
}

} // namespace ricci::runtime
