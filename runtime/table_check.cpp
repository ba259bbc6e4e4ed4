// table_check: whether the entries of index tables are positions of the tensors that they gather from.
#include "runtime/table_check.hpp"

#include "lowering/refuse.hpp"
#include "runtime/environment.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <type_traits>

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
template <class Entry> class checker {
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

template <class Entry> void check_one(const table_check& check, const void* entries, const statement& s) {
    if (all_entries<Entry>::takes(check) && all_entries<Entry>(check, entries).are_positions()) return;
    checker<Entry> c(check, entries);
    if (!c.finds_bad()) return;
    std::string where;
    for (std::size_t r = 0; r < check.runs.size(); ++r)
        where += fmt::format("{} {} = {}", r == 0 ? " at" : ",",
                             s.labels[static_cast<std::size_t>(check.runs[r].label)].name,
                             c.at()[check.runs.size() - 1 - r]);
    const auto names = operand_names(s);
    refuse(s, "{}{} is {}, no value for position {} of {}, whose extent is {}",
           to_string(s, s.accesses[static_cast<std::size_t>(check.table)]), where, c.value(), check.position + 1,
           names[static_cast<std::size_t>(check.access)], check.extent);
}

} // namespace

bool checks_tables(device d) {
    static const bool checking = is_checking();
    return d.is_cpu() || checking;
}

void check_tables(const std::vector<table_check>& checks, const statement& s, device d, backend& b) {
    if (checks.empty() || (!d.is_cpu() && b.capturing())) return;
    for (const auto& check : checks) {
        if (std::any_of(check.runs.begin(), check.runs.end(), [](const auto& r) { return r.count == 0; })) continue;
        const auto& table = s.accesses[static_cast<std::size_t>(check.table)];
        const auto size = size_of(table.type);
        const auto* first = static_cast<const std::byte*>(table.data) + check.offset * size;
        std::vector<std::byte> copied;
        if (!d.is_cpu()) {
            std::int64_t low = 0, high = 0;
            for (const auto& r : check.runs) (r.stride < 0 ? low : high) += r.stride * (r.count - 1);
            copied.resize(static_cast<std::size_t>((high - low + 1) * size));
            b.copy_out(copied.data(), first + low * size, copied.size());
            first = copied.data() - low * size;
        }
        if (table.type == scalar_type::i32) check_one<std::int32_t>(check, first, s);
        else check_one<std::int64_t>(check, first, s);
    }
}

} // namespace ricci::runtime
