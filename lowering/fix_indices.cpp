// fix_indices: from IR 1 to IR 2.
#include "lowering/fix_indices.hpp"

#include "lowering/refuse.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

__extension__ typedef __int128 wide; // holds a product of two 64-bit sizes; what leaves 64 bits is refused

class index_fixer {
  public:
    explicit index_fixer(const statement& s) : s_(s), names_(operand_names(s)) {}

    plan run() {
        check_form();
        check_tables();
        check_types();
        bound_labels();
        for (const auto& a : s_.accesses) check_positions(a);
        plan out;
        out.steps.push_back(make_step());
        out.checks = make_checks(out.steps.front());
        return out;
    }

  private:
    struct interval {
        std::int64_t begin, end;
    };

    void check_form() const {
        if (s_.accesses.empty() || (s_.nodes.empty() && !s_.is_call())) throw error("a statement needs a left and a right side");
        if (s_.accesses.size() > max_operands + 1)
            refuse(s_, "{} operands on the right side; at most {} are possible", s_.accesses.size() - 1,
                   max_operands);
        if (s_.labels.size() > max_labels)
            refuse(s_, "{} different indices; at most {} are possible", s_.labels.size(), max_labels);
        for (std::size_t n = 0; n < s_.accesses.size(); ++n) {
            const auto& a = s_.accesses[n];
            if (a.position_count > max_axes)
                refuse(s_, "{} has {} positions; at most {} are possible", names_[n], a.position_count, max_axes);
            if (a.device != s_.accesses[0].device)
                refuse(s_, "{} lives on {}, {} on {}; copy one of them with to()", names_[0],
                       device_name(s_.accesses[0].device), names_[n], device_name(a.device));
            bool empty = false;
            for (int p = 0; p < a.position_count; ++p) {
                const auto& position = position_of(s_, a, p);
                if (position.extent < 0)
                    refuse(s_, "position {} of {} has extent {}", p + 1, names_[n], position.extent);
                empty = empty || position.extent == 0;
            }
            wide elements = 1;
            for (int p = 0; !empty && p < a.position_count; ++p)
                elements = fit(elements * position_of(s_, a, p).extent, "the number of elements of", n);
            wide lowest = 0, highest = 0;
            for (int p = 0; !empty && p < a.position_count; ++p) {
                const auto& position = position_of(s_, a, p);
                const wide steps = fit(static_cast<wide>(position.stride) * (position.extent - 1), "the span of", n);
                const wide reach = steps * size_of(a.type);
                lowest = fit(lowest + std::min<wide>(reach, 0), "the span in bytes of", n);
                highest = fit(highest + std::max<wide>(reach, 0), "the span in bytes of", n);
            }
            if (!empty && !is_aligned(a))
                refuse(s_, "the data of {} at {} is not aligned to its elements' {} bytes", names_[n], a.data,
                       size_of(real_of(a.type)));
            if (!empty && a.data == nullptr && a.local == no_local && position_of_addresses(s_, a) == nullptr)
                refuse(s_, "{} has no memory: its data is null", names_[n]);
        }
    }

    /// What is an index table, and what it may be used for.
    void check_tables() const {
        const auto refuse_numbers = [&](std::size_t n) {
            refuse(s_,
                   "{} holds integers ({}), with which nothing computes: as an index table it stands in a position, "
                   "A(i, {}(e)); for numbers convert it",
                   names_[n], name_of(s_.accesses[n].type), names_[n]);
        };
        if (is_index(s_.accesses[0].type) && !s_.is_call()) refuse_numbers(0);
        for (const auto& n : s_.nodes)
            if (n.kind == operation::access && is_index(s_.accesses[static_cast<std::size_t>(n.a)].type))
                refuse_numbers(static_cast<std::size_t>(n.a));
        for (std::size_t n = 0; n < s_.accesses.size(); ++n)
            for (int p = 0; p < s_.accesses[n].position_count; ++p)
                if (position_of(s_, s_.accesses[n], p).is_gathered()) check_gathered(n, p);
    }

    void check_gathered(std::size_t n, int p) const {
        const auto& position = position_of(s_, s_.accesses[n], p);
        const auto t = static_cast<std::size_t>(position.table);
        const auto& table = s_.accesses[t];
        const auto place = [&] { return fmt::format("position {} of {}", p + 1, names_[n]); };
        if (!is_index(table.type))
            refuse(s_, "{} stands in {} as an index table, but its elements are {}; they must be i32 or i64",
                   names_[t], place(), name_of(table.type));
        if (s_.accesses[n].padded)
            refuse(s_, "{} is gathered by {}, and {} is padded: only one of them is possible", place(), names_[t],
                   names_[n]);
        if (is_index(s_.accesses[n].type))
            refuse(s_, "{}, an index table, is gathered itself, by {}", place(), names_[t]);
        if (table.padded) refuse(s_, "{}, the index table in {}, cannot be padded", names_[t], place());
        if (n == 0 && table.type != scalar_type::address && !position.distinct && s_.op == assignment::assign)
            refuse(s_,
                   "{}, on the left of =, takes its values from {}: where two are equal an element would be written "
                   "twice; += and -= add up what equal entries get; if all differ, write distinct({}) there",
                   place(), names_[t], names_[t]);
        if (table.type == scalar_type::address && &position != position_of_addresses(s_, s_.accesses[n]))
            refuse(s_, "{} has two positions that give the addresses of its matrices", names_[n]);
    }

    static std::string device_name(std::int32_t code) { return code == 0 ? "cpu" : fmt::format("cuda:{}", code - 1); }

    wide fit(wide value, std::string_view what, std::size_t access) const {
        if (value > INT64_MAX || value < INT64_MIN) refuse(s_, "{} {} does not fit 64 bits", what, names_[access]);
        return value;
    }

    bool is_addresses(std::int32_t table) const {
        return s_.accesses[static_cast<std::size_t>(table)].type == scalar_type::address;
    }
    const affine_term* terms_of(const position& p) const { return s_.terms.data() + p.first_term; }
    std::string_view label_name(std::int32_t l) const { return s_.labels[static_cast<std::size_t>(l)].name; }

    bool is_plain(const position& p) const {
        return p.term_count == 1 && p.offset == 0 && terms_of(p)->coefficient == 1;
    }

    /// Whether each node is complex; refuses what has no meaning for complex numbers.
    void check_types() const {
        std::vector<bool> complex;
        for (const auto& n : s_.nodes) {
            using enum operation;
            const auto child = [&](std::int32_t c) { return c >= 0 && complex[static_cast<std::size_t>(c)]; };
            switch (n.kind) {
            case access: complex.push_back(is_complex(s_.accesses[static_cast<std::size_t>(n.a)].type)); break;
            case scalar: complex.push_back(s_.scalars[static_cast<std::size_t>(n.a)].complex); break;
            case abs: complex.push_back(false); break;
            case relu:
            case min:
            case max:
                if (child(n.a) || child(n.b))
                    refuse(s_, "{} of a complex value", n.kind == relu ? "relu" : n.kind == min ? "min" : "max");
                complex.push_back(false);
                break;
            default: complex.push_back(child(n.a) || (arity(n.kind) == 2 && child(n.b)));
            }
        }
        if (!complex.empty() && complex.back() && !is_complex(s_.accesses[0].type))
            refuse(s_, "the right side is complex, {} is {}; store into a complex tensor or take abs", names_[0],
                   name_of(s_.accesses[0].type));
    }

    void bound_labels() {
        for (std::size_t l = 0; l < s_.labels.size(); ++l) {
            const auto& label = s_.labels[l];
            if (label.has_range()) {
                if (label.begin > label.end)
                    refuse(s_, "the range ({}, {}) of index {} is reversed", label.begin, label.end, label.name);
                if (static_cast<wide>(label.end) - label.begin > INT64_MAX)
                    refuse(s_, "the length of the range ({}, {}) of index {} does not fit 64 bits", label.begin,
                           label.end, label.name);
                ranges_.push_back({label.begin, label.end});
                check_plain_positions(static_cast<std::int32_t>(l));
            } else {
                ranges_.push_back({0, extent_of(static_cast<std::int32_t>(l))});
            }
        }
    }

    template <class F> void for_each_plain(std::int32_t label, F f) const {
        for (std::size_t n = 0; n < s_.accesses.size(); ++n)
            for (int p = 0; p < s_.accesses[n].position_count; ++p) {
                const auto& position = position_of(s_, s_.accesses[n], p);
                if (is_plain(position) && terms_of(position)->label == label) f(n, p, position.extent);
            }
    }

    void check_plain_positions(std::int32_t l) const {
        const auto& label = s_.labels[static_cast<std::size_t>(l)];
        for_each_plain(l, [&](std::size_t n, int p, std::int64_t extent) {
            if (!s_.accesses[n].padded && (label.begin < 0 || label.end > extent))
                refuse(s_, "the range ({}, {}) of index {} leaves position {} of {}, whose extent is {}", label.begin,
                       label.end, label.name, p + 1, names_[n], extent);
        });
    }

    std::int64_t extent_of(std::int32_t l) const {
        std::int64_t extent = -1;
        std::size_t first = 0;
        int first_position = 0;
        for_each_plain(l, [&](std::size_t n, int p, std::int64_t e) {
            if (extent < 0) extent = e, first = n, first_position = p;
            else if (e != extent && s_.call.what == routine::inverse && names_[n] == names_[first])
                refuse(s_, "inverse takes square matrices; those of {} are {} x {}", names_[n],
                       l == s_.call.row ? extent : e, l == s_.call.row ? e : extent);
            else if (e != extent)
                refuse(s_, "index {} has extent {} in position {} of {} and {} in position {} of {}", label_name(l),
                       extent, first_position + 1, names_[first], e, p + 1, names_[n]);
        });
        if (extent < 0)
            refuse(s_, "nothing bounds index {}: it stands in affine positions only; give it a range, {}(0, n)",
                   label_name(l), label_name(l));
        return extent;
    }

    /// The coefficient of term t's index in a position, all its terms taken together; 0 where an earlier term counted
    /// it.
    wide whole_coefficient(const position& p, int t) const {
        const auto label = terms_of(p)[t].label;
        wide sum = 0;
        for (int other = 0; other < p.term_count; ++other) {
            if (terms_of(p)[other].label != label) continue;
            if (other < t) return 0;
            sum += terms_of(p)[other].coefficient;
        }
        return sum;
    }

    /// Every value of every position must lie within its axis, unless padded.
    void check_positions(const access& a) const {
        const auto number = static_cast<std::size_t>(&a - s_.accesses.data());
        for (int p = 0; p < a.position_count; ++p) {
            const auto& position = position_of(s_, a, p);
            if (position.is_gathered()) continue;
            wide lowest = position.offset, highest = position.offset;
            bool empty = false;
            for (int t = 0; t < position.term_count; ++t) {
                const auto& term = terms_of(position)[t];
                const auto range = ranges_[static_cast<std::size_t>(term.label)];
                empty = empty || range.begin == range.end;
                const wide coefficient = whole_coefficient(position, t);
                const wide at_begin = coefficient * range.begin,
                           at_end = coefficient * (static_cast<wide>(range.end) - 1);
                lowest = fit(lowest + std::min(at_begin, at_end), "a position of", number);
                highest = fit(highest + std::max(at_begin, at_end), "a position of", number);
            }
            if (a.padded || empty || (lowest >= 0 && highest < position.extent)) continue;
            if (position.term_count == 0)
                refuse(s_, "position {} of {} is fixed at {}, but its extent is {}", p + 1, names_[number],
                       position.offset, position.extent);
            refuse(s_, "{} in position {} of {} runs from {} to {}, but its extent is {}", to_string(s_, position),
                   p + 1, names_[number], static_cast<std::int64_t>(lowest), static_cast<std::int64_t>(highest),
                   position.extent);
        }
    }

    step make_step() const {
        step out;
        out.op = s_.op;
        out.nodes = s_.nodes;
        auto type = accumulator(s_.accesses[0].type);
        for (const auto& a : s_.accesses)
            if (!is_index(a.type)) type = promote(type, accumulator(a.type));
        const bool complex_scalar =
            std::any_of(s_.scalars.begin(), s_.scalars.end(), [](const scalar& x) { return x.complex; });
        out.compute = complex_scalar ? complex_of(type) : type;
        if (real_of(out.compute) == scalar_type::f32) out.math = s_.math;
        for (std::size_t l = 0; l < s_.labels.size(); ++l)
            out.axes.push_back({s_.labels[l].name, ranges_[l].end - ranges_[l].begin});
        for (std::size_t n = 0; n < s_.accesses.size(); ++n) out.operands.push_back(make_operand(n));
        for (auto& o : out.operands)
            for (const auto& g : o.gathers)
                for (std::size_t l = 0; l < o.present.size(); ++l)
                    o.present[l] |= out.operands[static_cast<std::size_t>(g.table)].present[l];
        return out;
    }

    std::vector<table_check> make_checks(const step& st) const {
        std::vector<table_check> out;
        for (std::size_t n = 0; n < s_.accesses.size(); ++n)
            for (int p = 0; p < s_.accesses[n].position_count; ++p) {
                const auto& position = position_of(s_, s_.accesses[n], p);
                if (!position.is_gathered() || is_addresses(position.table)) continue;
                add_check(out, st, position.table, position.extent);
                out.back().access = static_cast<std::int32_t>(n), out.back().position = p;
            }
        if (const auto pivots = s_.call.of(matrix_role::vector); reads_pivots(s_.call)) {
            add_check(out, st, pivots, st.axes[static_cast<std::size_t>(s_.call.row)].extent);
            out.back().of_pivots = true;
        }
        return out;
    }

    /// Of all entries of a table that the statement reads.
    void add_check(std::vector<table_check>& out, const step& st, std::int32_t number, std::int64_t extent) const {
        const auto& table = st.operands[static_cast<std::size_t>(number)];
        auto& check = out.emplace_back();
        check.table = number, check.offset = table.offset, check.extent = extent;
        for (std::size_t l = 0; l < ranges_.size(); ++l)
            if (table.present[l])
                check.runs.push_back(
                    {static_cast<std::int32_t>(l), ranges_[l].begin, st.axes[l].extent, table.stride[l]});
    }

    operand make_operand(std::size_t number) const {
        const auto& a = s_.accesses[number];
        operand out;
        out.type = a.type;
        out.source = static_cast<std::int32_t>(number);
        out.source_at_word = is_at_word(a);
        out.stride.assign(s_.labels.size(), 0);
        out.present.assign(s_.labels.size(), 0);
        wide offset = 0;
        for (int p = 0; p < a.position_count; ++p) {
            const auto& position = position_of(s_, a, p);
            if (position.is_gathered()) {
                const bool may_be_equal = number == 0 && !position.distinct && !is_addresses(position.table);
                out.gathers.push_back({position.table, position.stride, position.extent,
                                       !may_be_equal     ? collision::none
                                       : position.atomic ? collision::atomic
                                                         : collision::ordered});
                continue;
            }
            bound here{position.offset, position.extent, std::vector<std::int64_t>(s_.labels.size(), 0)};
            for (int t = 0; t < position.term_count; ++t) {
                const auto& term = terms_of(position)[t];
                const auto l = static_cast<std::size_t>(term.label);
                out.present[l] = 1;
                here.coefficient[l] = checked(static_cast<wide>(here.coefficient[l]) + term.coefficient, number);
                here.offset = checked(here.offset + static_cast<wide>(term.coefficient) * ranges_[l].begin, number);
                out.stride[l] =
                    checked(out.stride[l] + static_cast<wide>(term.coefficient) * position.stride, number);
            }
            offset = checked(offset + static_cast<wide>(here.offset) * position.stride, number);
            if (a.padded && can_leave(here)) out.bounds.push_back(std::move(here));
        }
        out.offset = static_cast<std::int64_t>(offset);
        // Bytes must fit too, also where a padded access never goes.
        checked(offset * size_of(a.type), number);
        for (std::size_t l = 0; l < out.stride.size(); ++l) {
            const wide length = static_cast<wide>(ranges_[l].end) - ranges_[l].begin;
            if (length > 1)
                checked(fit(static_cast<wide>(out.stride[l]) * (length - 1), "an address of", number) *
                            size_of(a.type),
                        number);
        }
        return out;
    }

    std::int64_t checked(wide value, std::size_t access) const {
        return static_cast<std::int64_t>(fit(value, "an address of", access));
    }

    bool can_leave(const bound& b) const {
        wide lowest = b.offset, highest = b.offset;
        for (std::size_t l = 0; l < ranges_.size(); ++l) {
            const wide reach =
                static_cast<wide>(b.coefficient[l]) * (static_cast<wide>(ranges_[l].end) - ranges_[l].begin - 1);
            lowest += std::min<wide>(reach, 0);
            highest += std::max<wide>(reach, 0);
        }
        return lowest < 0 || highest >= b.extent;
    }

    const statement& s_;
    std::vector<std::string> names_;
    std::vector<interval> ranges_;
};

} // namespace

plan fix_indices(const statement& s) { return index_fixer(s).run(); }

} // namespace ricci::lowering
