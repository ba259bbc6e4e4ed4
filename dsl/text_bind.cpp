// text_bind: binds a parsed statement to operands, and finds what a left side that does not exist yet becomes.
#include "dsl/text.hpp"

#include "dsl/text_result.hpp"

#include "runtime/math_mode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace ricci {

namespace {

__extension__ typedef __int128 wide; // holds a product of two 64-bit sizes; what leaves 64 bits is refused

/// [begin, end)
struct interval {
    std::int64_t begin = 0, end = 0;
};

const text_operand* find(std::span<const text_operand> operands, std::string_view name) {
    const auto found = std::find_if(operands.begin(), operands.end(), [&](const auto& o) { return o.name == name; });
    return found == operands.end() ? nullptr : &*found;
}

[[noreturn]] void fail_at_access(const text_statement& s, std::size_t access, const std::string& message) {
    fail_in_text(s.source, s.number, s.access_columns[access], message);
}

const text_operand& operand_of(const text_statement& s, std::size_t access, std::span<const text_operand> operands) {
    const auto& a = s.unbound.accesses[access];
    const text_operand* operand = find(operands, a.name);
    if (!operand) {
        const auto call = s.mistaken_call(access);
        fail_at_access(s, access,
                       call.empty() ? fmt::format("there is no tensor '{}'", a.name)
                                    : fmt::format("there is no tensor '{}', and {}", a.name, call));
    }
    s.check_axes(access, operand->extents.size());
    return *operand;
}

/// Gives every index of a statement its range, the left side's extents being unknown.
class range_finder {
  public:
    range_finder(const text_statement& s, std::span<const text_operand> operands)
        : s_(s), ranges_(s.unbound.labels.size()) {
        for (std::size_t n = 1; n < s.unbound.accesses.size(); ++n) right_.push_back(&operand_of(s, n, operands));
    }

    std::vector<interval> run() {
        for (std::size_t l = 0; l < ranges_.size(); ++l)
            if (const auto& label = s_.unbound.labels[l]; label.has_range()) ranges_[l] = {label.begin, label.end};
        std::vector<place> bounded_by(ranges_.size());
        each_right_position([&](const lowering::access& a, const lowering::position& p, std::int64_t extent) {
            const auto label = static_cast<std::size_t>(terms(p)->label);
            if (!is_plain(p) || s_.unbound.labels[label].has_range()) return;
            auto& range = ranges_[label];
            if (!range)
                range = interval{0, extent}, bounded_by[label] = {&a, &p};
            else if (range->end != extent)
                fail_disagreeing(label, bounded_by[label], range->end, {&a, &p}, extent);
        });
        // In rounds: a position bounds the one index of it that is unknown; that may leave another the only one
        // elsewhere.
        for (bool found = true; found;) {
            found = false;
            auto next = ranges_;
            for (std::size_t l = 0; l < ranges_.size(); ++l)
                if (!ranges_[l] && (next[l] = affine_range(static_cast<std::int32_t>(l)))) {
                    found = true;
                    from_affine_.push_back(l);
                }
            ranges_ = next;
        }
        std::vector<interval> result;
        for (std::size_t l = 0; l < ranges_.size(); ++l) {
            if (!ranges_[l]) fail_without_range(l);
            result.push_back(*ranges_[l]);
        }
        return result;
    }

    /// The indices whose range came from affine positions: lowering would not find it.
    const std::vector<std::size_t>& from_affine() const { return from_affine_; }

    bool is_plain(const lowering::position& p) const {
        return p.term_count == 1 && p.offset == 0 && terms(p)->coefficient == 1;
    }

    /// The values that a position of the left side takes; nothing where an index of it has an empty range.
    std::optional<std::pair<std::int64_t, std::int64_t>> values(const lowering::position& p) const {
        wide lowest = p.offset, highest = p.offset;
        for (std::int32_t t = 0; t < p.term_count; ++t) {
            const auto [label, coefficient] = terms(p)[t];
            const interval range = *ranges_[static_cast<std::size_t>(label)];
            if (range.begin == range.end) return std::nullopt;
            add_term(lowest, highest, coefficient, range);
        }
        check_fits(lowest, highest);
        return std::pair(static_cast<std::int64_t>(lowest), static_cast<std::int64_t>(highest));
    }

  private:
    struct place {
        const lowering::access* access = nullptr;
        const lowering::position* position = nullptr;
    };

    const lowering::affine_term* terms(const lowering::position& p) const {
        return s_.unbound.terms.data() + p.first_term;
    }

    void add_term(wide& lowest, wide& highest, std::int64_t coefficient, interval range) const {
        const wide first = static_cast<wide>(coefficient) * range.begin;
        const wide last = static_cast<wide>(coefficient) * std::max(range.begin, range.end - 1);
        lowest += std::min(first, last);
        highest += std::max(first, last);
        check_fits(lowest, highest);
    }

    void check_fits(wide lowest, wide highest) const {
        if (lowest < std::numeric_limits<std::int64_t>::min() || highest >= std::numeric_limits<std::int64_t>::max())
            fail_at_access(s_, 0, "a position does not fit in 64 bits");
    }

    /// f(access, position, extent of its axis) for every position of the right side that holds an index.
    template <class F>
    void each_right_position(F f) const {
        for (std::size_t n = 1; n < s_.unbound.accesses.size(); ++n) {
            const auto& a = s_.unbound.accesses[n];
            for (std::int32_t i = 0; i < a.position_count; ++i) {
                const auto& p = s_.unbound.positions[static_cast<std::size_t>(a.first_position + i)];
                if (p.term_count > 0) f(a, p, right_[n - 1]->extents[static_cast<std::size_t>(i)]);
            }
        }
    }

    /// [0, n) with the largest n for which the positions where all but `label` is known stay inside; nothing if there
    /// are none.
    std::optional<interval> affine_range(std::int32_t label) const {
        std::optional<std::int64_t> count;
        each_right_position([&](const lowering::access& a, const lowering::position& p, std::int64_t extent) {
            if (a.padded || !stands_in(p, label)) return;
            std::int64_t coefficient = 0;
            wide lowest = p.offset, highest = p.offset; // of the position less the label's term
            for (std::int32_t t = 0; t < p.term_count; ++t) {
                const auto& term = terms(p)[t];
                if (term.label == label)
                    coefficient += term.coefficient;
                else if (const auto& range = ranges_[static_cast<std::size_t>(term.label)])
                    add_term(lowest, highest, term.coefficient, *range);
                else
                    return; // two unknown: it says nothing of either
            }
            if (coefficient == 0) return; // i - i says nothing of i
            // From 0 on, the position leaves its axis on the side to which the coefficient points.
            const bool up = coefficient > 0;
            if (extent > 0 && (up ? lowest < 0 : highest >= extent)) fail_outside_at_zero(a, label, up, extent);
            const wide room = up ? extent - 1 - highest : lowest;
            const wide steps = room < 0 || extent == 0 ? 0 : room / (up ? coefficient : -wide(coefficient)) + 1;
            count =
                std::min(count.value_or(std::numeric_limits<std::int64_t>::max()), static_cast<std::int64_t>(steps));
        });
        return count ? std::optional(interval{0, *count}) : std::nullopt;
    }

    bool stands_in(const lowering::position& p, std::int32_t label) const {
        return std::any_of(terms(p), terms(p) + p.term_count, [&](const auto& t) { return t.label == label; });
    }

    std::string_view name(std::int32_t label) const {
        return s_.unbound.labels[static_cast<std::size_t>(label)].name;
    }

    [[noreturn]] void fail_outside_at_zero(const lowering::access& a, std::int32_t label, bool up,
                                           std::int64_t extent) const {
        fail_in_text(s_.source, s_.number, s_.label_columns[static_cast<std::size_t>(label)],
                     fmt::format("index '{}' would run from 0, where a position of '{}' is {}; "
                                 "give it a range, {}(begin, end), or use padded({})",
                                 name(label), a.name,
                                 up ? std::string("below 0") : fmt::format("beyond its extent {}", extent),
                                 name(label), a.name));
    }

    /// Lowering would find it too, but blame the tensor that is only to be made.
    [[noreturn]] void fail_disagreeing(std::size_t l, place first, std::int64_t first_extent, place second,
                                       std::int64_t second_extent) const {
        fail_in_text(s_.source, s_.number, s_.label_columns[l],
                     fmt::format("index {} has extent {} in {} and {} in {}", name(static_cast<std::int32_t>(l)),
                                 first_extent, described(first), second_extent, described(second)));
    }

    std::string described(place at) const {
        const auto* first = s_.unbound.positions.data() + at.access->first_position;
        return fmt::format("position {} of {}", at.position - first + 1, at.access->name);
    }

    [[noreturn]] void fail_without_range(std::size_t l) const {
        const auto label = static_cast<std::int32_t>(l);
        std::string why = "nothing on the right side bounds it";
        each_right_position([&](const lowering::access& a, const lowering::position& p, std::int64_t) {
            for (std::int32_t t = 0; t < p.term_count; ++t)
                if (const auto other = terms(p)[t].label;
                    other != label && !a.padded && stands_in(p, label) && !ranges_[static_cast<std::size_t>(other)])
                    why = fmt::format("it shares a position of '{}' with '{}', which has none either", a.name,
                                      name(other));
        });
        fail_in_text(s_.source, s_.number, s_.label_columns[l],
                     fmt::format("index '{}' has no range: {}; write {}(begin, end)", name(label), why, name(label)));
    }

    const text_statement& s_;
    std::vector<const text_operand*> right_; ///< one per access of the right side
    std::vector<std::optional<interval>> ranges_;
    std::vector<std::size_t> from_affine_;
};

lowering::scalar_type promotion(const text_statement& s, std::span<const text_operand> operands) {
    std::optional<lowering::scalar_type> type;
    for (std::size_t n = 1; n < s.unbound.accesses.size(); ++n) {
        const auto t = operand_of(s, n, operands).type;
        if (lowering::is_index(t)) continue;
        type = type ? lowering::promote(*type, t) : t;
    }
    const auto& scalars = s.unbound.scalars;
    const bool complex = std::any_of(scalars.begin(), scalars.end(), [](const auto& x) { return x.complex; });
    const auto real = type.value_or(lowering::scalar_type::f64);
    return complex ? lowering::complex_of(real) : real;
}

} // namespace

text_operand create_left(text_statement& s, std::span<const text_operand> operands) {
    if (s.unbound.op != lowering::assignment::assign) {
        const auto first = s.unbound.positions.begin() + s.unbound.accesses[0].first_position;
        const bool is_gathered = std::any_of(first, first + s.unbound.accesses[0].position_count,
                                             [](const auto& p) { return p.is_gathered(); });
        fail_at_access(s, 0,
                       fmt::format("'{}' does not exist, so nothing can be added to it; {}", s.left(),
                                   is_gathered ? fmt::format("set it first, as in '{}(n(0, 100)) = 0'", s.left())
                                               : "write '='"));
    }
    range_finder finder(s, operands);
    const auto ranges = finder.run();

    text_operand created;
    created.name = s.left();
    created.type = promotion(s, operands);
    const auto& left = s.unbound.accesses[0];
    std::int64_t stride = 1, bytes = 0;
    for (std::int32_t i = 0; i < left.position_count; ++i) {
        const auto& p = s.unbound.positions[static_cast<std::size_t>(left.first_position + i)];
        if (p.is_gathered())
            fail_at_access(
                s, 0,
                fmt::format("position {} of '{}' is gathered, which does not tell its extent: '{}' must exist", i + 1,
                            s.left(), s.left()));
        const auto values = finder.values(p);
        if (values && values->first < 0 && !left.padded)
            fail_at_access(s, 0,
                           fmt::format("position {} of '{}' would be {}, below 0", i + 1, s.left(), values->first));
        std::int64_t extent = values ? std::max<std::int64_t>(values->second + 1, 0) : 0;
        if (finder.is_plain(p)) // also where the range is empty
            extent = std::max<std::int64_t>(
                ranges[static_cast<std::size_t>(s.unbound.terms[static_cast<std::size_t>(p.first_term)].label)].end,
                0);
        created.extents.push_back(extent);
        created.strides.push_back(stride);
        if (__builtin_mul_overflow(stride, std::max<std::int64_t>(extent, 1), &stride))
            fail_at_access(s, 0, fmt::format("the size of '{}' does not fit in 64 bits", s.left()));
    }
    if (__builtin_mul_overflow(stride, lowering::size_of(created.type), &bytes))
        fail_at_access(s, 0, fmt::format("the size of '{}' does not fit in 64 bits", s.left()));

    for (const std::size_t l : finder.from_affine()) {
        s.unbound.labels[l].begin = ranges[l].begin;
        s.unbound.labels[l].end = ranges[l].end;
    }
    return created;
}

text_operand create_written(text_statement& s, std::size_t n, std::span<const text_operand> operands) {
    return s.is_call() ? dsl::create_of_call(s, n, operands) : create_left(s, operands);
}

lowering::statement bind_text(const text_statement& s, std::span<const text_operand> operands) {
    lowering::statement bound = s.unbound;
    bound.math = runtime::chosen_math();
    for (std::size_t n = 0; n < bound.accesses.size(); ++n) {
        auto& a = bound.accesses[n];
        const text_operand& operand = operand_of(s, n, operands);
        a.data = operand.data;
        a.type = operand.type;
        a.device = operand.device;
        for (std::int32_t i = 0; i < a.position_count; ++i) {
            auto& p = bound.positions[static_cast<std::size_t>(a.first_position + i)];
            p.extent = operand.extents[static_cast<std::size_t>(i)];
            p.stride = operand.strides[static_cast<std::size_t>(i)];
        }
    }
    return bound;
}

} // namespace ricci
