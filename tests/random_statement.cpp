// random_statement: draws labels, then accesses, then a tree; places accesses in shared or separate buffers last.
#include "tests/random_statement.hpp"

#include "lowering/print.hpp"
#include "tests/gathered_case.hpp"
#include "tests/random_places.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace ricci::tests {
namespace {

using namespace lowering;
using op = operation;

class generator : random_places {
  public:
    explicit generator(std::uint64_t seed) : random_places(seed * 0x9e3779b97f4a7c15u + 1), seed_(seed) {}

    random_case make() {
        draw_types();
        const double kind = uniform();
        if (kind < 0.2)
            matrix_product();
        else if (kind < 0.25)
            many_axes();
        else if (kind < 0.3)
            many_operands();
        else
            general();
        const double which = uniform();
        made_.s.op = which < 0.6 ? assignment::assign : which < 0.8 ? assignment::add : assignment::subtract;
        bound_labels();
        auto made = in_memory();
        gather_some(made);
        return made;
    }

  private:
    void draw_types() {
        left_type_ = static_cast<scalar_type>(between(0, scalar_type_count - 1));
        mixed_ = chance(0.25);
    }
    scalar_type right_type(bool complex_allowed) {
        if (!mixed_ && (complex_allowed || !is_complex(left_type_))) return left_type_;
        return static_cast<scalar_type>(between(0, complex_allowed ? 5 : 3));
    }

    void add_label(std::int64_t size, bool with_range) {
        index_range r{0, size, with_range};
        if (with_range) r.begin = between(0, 3), r.end = r.begin + size;
        labels_.push_back(r);
        made_.index(std::string(1, static_cast<char>('a' + labels_.size() % 26)) + std::to_string(labels_.size()));
    }

    std::int32_t operand(scalar_type type, std::vector<place> places, bool padded, bool left, bool natural = false) {
        // The left's own tensor, read through other indices, is the overlap that a user writes.
        if (!left && type == left_type_ && chance(0.12) && !own_places_.empty()) {
            std::vector<place> same = own_places_;
            for (place& p : same) p = reread(p);
            placements_.push_back(placements_[0]);
            return made_.operand(nullptr, type, same);
        }
        placement where = lay_out(places, !left && !natural, natural);
        where.buffer = static_cast<int>(placements_.size());
        if (!left && type == left_type_ && chance(0.08))
            where.buffer = 0, where.shift = between(0, 4); // another view of it
        placements_.push_back(where);
        if (left) own_places_ = places;
        return made_.operand(nullptr, type, places, padded);
    }

    std::int32_t read(scalar_type type, const std::vector<std::int32_t>& labels, bool simple = false) {
        const bool padded = !simple && chance(0.1);
        std::vector<place> places;
        if (simple)
            for (const std::int32_t l : labels) places.push_back(plain(l));
        else
            places = right_places(labels, padded);
        return made_.s.add(op::access, operand(type, std::move(places), padded, false, simple && chance(0.5)));
    }

    void left(const std::vector<std::int32_t>& labels, bool simple = false) {
        const bool padded = !simple && chance(0.06);
        std::vector<place> places;
        if (simple)
            for (const std::int32_t l : labels) places.push_back(plain(l));
        else
            places = left_places(labels, padded);
        operand(left_type_, std::move(places), padded, true, simple && chance(0.5));
    }

    std::vector<std::int32_t> some_labels(std::size_t most) {
        std::vector<std::int32_t> all(labels_.size());
        std::iota(all.begin(), all.end(), 0);
        shuffle(all);
        all.resize(std::min(all.size(), static_cast<std::size_t>(between(0, static_cast<std::int64_t>(most)))));
        return all;
    }

    // The tree.

    std::int32_t number(bool complex_allowed) {
        constexpr double some[] = {2, -1, 0.5, 3, 1.1, -0.3, 1};
        const bool complex = complex_allowed && chance(0.4);
        const double re = pick(some), im = complex ? pick(some) : 0;
        return made_.number(re, im, complex);
    }

    std::int32_t access(bool complex_allowed) {
        --left_over_;
        const std::int32_t n = read(right_type(complex_allowed), some_labels(4));
        return complex_allowed && chance(0.25) ? made_.s.add(op::conjugate, n) : n;
    }

    std::int32_t factor(bool complex_allowed, int depth) {
        const double kind = uniform();
        if (left_over_ <= 0 || kind < 0.1) return number(complex_allowed);
        if (kind < 0.75 || depth >= 2) return access(complex_allowed);
        if (kind < 0.85) return expression(complex_allowed, depth + 1); // a sum in brackets
        return function(complex_allowed, depth + 1);
    }

    std::int32_t function(bool complex_allowed, int depth) {
        statement& s = made_.s;
        const std::int64_t which = between(0, 6);
        if (which == 0)
            return s.add(op::abs, expression(complex_allowed || (is_complex(left_type_) && mixed_), depth));
        if (which == 1) return s.add(op::sqrt, s.add(op::abs, expression(complex_allowed, depth)));
        if (which == 2) { // small arguments: the bound of exp grows with them
            const std::int32_t scale = made_.number(0.02);
            return s.add(op::exp, s.add(op::multiply, scale, expression(complex_allowed, depth)));
        }
        if (which == 3) return s.add(op::relu, expression(false, depth));
        if (which == 4) {
            const std::int32_t top = expression(complex_allowed, depth);
            return s.add(op::divide, top, factor(complex_allowed, depth));
        }
        const std::int32_t a = expression(false, depth), b = expression(false, depth);
        return s.add(which == 5 ? op::min : op::max, a, b);
    }

    std::int32_t expression(bool complex_allowed, int depth) {
        statement& s = made_.s;
        std::int32_t sum = -1;
        for (std::int64_t terms = chance(depth ? 0.5 : 0.65) ? 1 : between(2, 3); terms > 0; --terms) {
            std::int32_t product = factor(complex_allowed, depth);
            for (std::int64_t more = between(0, depth ? 1 : 2); more > 0; --more)
                product = s.add(op::multiply, product, factor(complex_allowed, depth));
            if (chance(0.1)) product = s.add(op::negate, product);
            sum = sum < 0 ? product : s.add(chance(0.6) ? op::add : op::subtract, sum, product);
        }
        return sum;
    }

    // The shapes of statement.

    void general() {
        std::int64_t work = 1;
        for (std::int64_t n = between(1, 6); n > 0; --n) {
            const std::int64_t size = chance(0.015) ? 0 : between(1, work > 500 ? 2 : 5);
            work *= std::max<std::int64_t>(1, size);
            add_label(size, chance(0.3));
        }
        left(some_labels(4));
        left_over_ = static_cast<int>(between(1, 4));
        expression(is_complex(left_type_), 0);
    }

    /// C(i, j, b) = alpha*A(i, k, b)*B(k, j, b), batches shared or absent, in every layout; or with one long axis.
    void matrix_product() {
        const bool tall = chance(0.25);
        const std::int64_t longest = tall ? between(500, 5000) : 0;
        const bool long_k = chance(0.5);
        const auto small = [&] { return tall ? between(1, 4) : chance(0.5) ? between(1, 40) : between(1, 9); };
        const std::int64_t m = tall && !long_k ? longest : small(), k = tall && long_k ? longest : small();
        const std::int64_t n = small();
        add_label(m, chance(0.1)), add_label(n, chance(0.1)), add_label(k, chance(0.1));
        const std::int64_t room = std::max<std::int64_t>(1, 60000 / (m * n * k));
        std::vector<std::int32_t> a{0, 2}, b{2, 1}, c{0, 1};
        for (std::int64_t batches = tall ? 0 : between(0, 2); batches > 0; --batches) {
            add_label(between(1, std::min<std::int64_t>(room, batches == 2 ? 3 : 40)), chance(0.1));
            const auto l = static_cast<std::int32_t>(labels_.size()) - 1;
            const std::int64_t who = between(0, 5);
            if (who != 0) a.push_back(l);
            if (who != 1) b.push_back(l);
            c.push_back(l);
        }
        for (auto* list : {&a, &b, &c})
            if (chance(0.4)) shuffle(*list);
        left(c, true);
        std::int32_t x = read(right_type(is_complex(left_type_)), a, true);
        std::int32_t y = read(right_type(is_complex(left_type_)), b, true);
        if (is_complex(left_type_) && chance(0.3)) x = made_.s.add(op::conjugate, x);
        std::int32_t product = made_.s.add(op::multiply, x, y);
        if (chance(0.3)) {
            const std::int32_t scale = number(is_complex(left_type_));
            product = made_.s.add(op::multiply, scale, product);
        }
    }

    /// Up to 32 axes, of which few are longer than 1.
    void many_axes() {
        std::int64_t twos = 0;
        for (std::int64_t n = between(7, 30); n > 0; --n) {
            const std::int64_t size = twos < 9 && chance(0.4) ? 2 : 1;
            twos += size == 2;
            add_label(size, chance(0.1));
        }
        std::vector<std::int32_t> all(labels_.size());
        std::iota(all.begin(), all.end(), 0);
        shuffle(all);
        const auto kept = between(static_cast<std::int64_t>(all.size()) / 2, static_cast<std::int64_t>(all.size()));
        left({all.begin(), all.begin() + kept}, true);
        shuffle(all);
        const bool complex = is_complex(left_type_);
        const std::int32_t x = read(right_type(complex), all, true);
        if (chance(0.5)) made_.s.add(op::multiply, x, read(right_type(complex), some_labels(12), true));
    }

    /// A product of 5 to 12 accesses, sometimes of 20, over a dozen short axes.
    void many_operands() {
        for (int n = 0; n < 10; ++n) add_label(between(1, n < 5 ? 3 : 2), false);
        left(some_labels(3), true);
        const bool complex = is_complex(left_type_);
        std::int32_t product = read(right_type(complex), some_labels(3), true);
        for (std::int64_t n = chance(0.2) ? 19 : between(4, 11); n > 0; --n) {
            const std::int32_t next = read(right_type(complex), some_labels(3), true);
            product = made_.s.add(op::multiply, product, next);
        }
    }

    /// Writes the ranges, also of indices that no plain position bounds, and drops the labels that nothing uses.
    void bound_labels() {
        statement& s = made_.s;
        std::vector<bool> used(labels_.size()), bounded(labels_.size());
        for (const position& p : s.positions)
            for (std::int32_t t = p.first_term; t < p.first_term + p.term_count; ++t) {
                const affine_term& term = s.terms[static_cast<std::size_t>(t)];
                used[static_cast<std::size_t>(term.label)] = true;
                if (p.term_count == 1 && p.offset == 0 && term.coefficient == 1)
                    bounded[static_cast<std::size_t>(term.label)] = true;
            }
        std::vector<std::int32_t> number(labels_.size(), -1);
        std::vector<label> kept;
        for (std::size_t l = 0; l < labels_.size(); ++l) {
            if (!used[l]) continue;
            number[l] = static_cast<std::int32_t>(kept.size());
            kept.push_back(s.labels[l]);
            if (labels_[l].written || !bounded[l])
                kept.back().begin = labels_[l].begin, kept.back().end = labels_[l].end;
        }
        s.labels = kept;
        for (affine_term& t : s.terms) t.label = number[static_cast<std::size_t>(t.label)];
    }

    /// Allocates the buffers, fills them and points the accesses into them.
    random_case in_memory() {
        random_case c;
        statement& s = made_.s;
        const fill kind = chance(0.5) ? fill::integers : fill::unit;
        const double special = chance(0.08) ? 0.03 : 0;
        std::vector<int> number(placements_.size(), -1);
        for (std::size_t n = 0; n < placements_.size(); ++n) {
            const auto b = static_cast<std::size_t>(placements_[n].buffer);
            if (number[b] >= 0) continue;
            const scalar_type type = s.accesses[n].type;
            std::int64_t elements = 0;
            for (const placement& p : placements_)
                if (p.buffer == placements_[n].buffer) elements = std::max(elements, p.shift + p.span);
            // Aligned to one component only, now and then.
            const auto component = static_cast<std::size_t>(size_of(real_of(type)));
            const std::size_t shift = chance(0.3) ? component * static_cast<std::size_t>(between(1, 5)) : 0;
            number[b] = static_cast<int>(c.memory.size());
            c.memory.emplace_back(static_cast<std::size_t>(elements * size_of(type)), shift);
            fill_random({c.memory.back().data(), c.memory.back().size()}, type, random_, kind, special);
        }
        for (std::size_t n = 0; n < placements_.size(); ++n) {
            const placement& p = placements_[n];
            host_buffer& buffer = c.memory[static_cast<std::size_t>(number[static_cast<std::size_t>(p.buffer)])];
            s.accesses[n].data = buffer.data() + (p.shift - p.lowest) * size_of(s.accesses[n].type);
        }
        c.seed = seed_;
        c.s = std::move(s);
        c.text =
            fmt::format("seed {} ({}): {}\n", seed_, kind == fill::integers ? "integers" : "unit", to_string(c.s));
        for (std::size_t n = 0; n < placements_.size(); ++n) {
            const auto& a = c.s.accesses[n];
            std::vector<std::int64_t> extents, strides;
            for (int q = a.first_position; q < a.first_position + a.position_count; ++q)
                extents.push_back(c.s.positions[static_cast<std::size_t>(q)].extent),
                    strides.push_back(c.s.positions[static_cast<std::size_t>(q)].stride);
            c.text += fmt::format("  {}[{}] strides [{}] in buffer {} from element {}{}\n", name_of(a.type),
                                  fmt::join(extents, ","), fmt::join(strides, ","), placements_[n].buffer,
                                  placements_[n].shift - placements_[n].lowest, a.padded ? ", padded" : "");
        }
        return c;
    }

    /// Gives some accesses a position by a table.
    void gather_some(random_case& c) {
        for (std::size_t a = 0; a < placements_.size(); ++a) {
            const auto access = c.s.accesses[a];
            if (access.padded || access.position_count == 0 || !chance(a == 0 ? 0.2 : 0.1)) continue;
            const auto p = static_cast<std::int32_t>(between(0, access.position_count - 1));
            if (c.s.positions[static_cast<std::size_t>(access.first_position + p)].extent == 0) continue;
            // Matrices at addresses are apart from the left's.
            const auto is_shared = [&](const placement& o) {
                return &o != &placements_[a] && o.buffer == placements_[a].buffer;
            };
            const bool shared = std::any_of(placements_.begin(), placements_.end(), is_shared);
            const bool adds = a == 0 && chance(0.6); // equal entries may be drawn then
            if (adds) c.s.op = chance(0.5) ? assignment::add : assignment::subtract;
            if (!adds && !shared && chance(0.4)) gather_by_address(c, a, p);
            else gather_by_table(c, a, p, chance(0.5) ? scalar_type::i32 : scalar_type::i64, random_);
        }
    }

    std::uint64_t seed_;
    scalar_type left_type_{};
    bool mixed_ = false;
    int left_over_ = 4; ///< accesses that the tree may still make
    std::vector<placement> placements_;
    std::vector<place> own_places_;
    statement_maker made_;
};

} // namespace

random_case make_random_case(std::uint64_t seed) {
    auto out = generator(seed).make();
    if (seed % 4 == 0) out.s.math = math_mode::tf32, out.text += "  in tf32\n";
    return out;
}

} // namespace ricci::tests
