// oracle: evaluates the terms by plain nested loops in long double, carrying an error bound with every value.
#include "tests/oracle.hpp"

#include "tests/host_memory.hpp"
#include "tests/number_format.hpp"
#include "tests/oracle_terms.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace ricci::tests {
namespace {

using namespace lowering;
using real = long double;
using complex = std::complex<long double>;

/// A value with a bound on its error's modulus.
template <class V>
struct bounded {
    V v{};
    real e = 0;
    bool loose = false;   ///< where v is not finite: another order may give another non-finite value
    bool unknown = false; ///< nothing is known
};

bool finite(real v) { return std::isfinite(v); }
bool finite(const complex& v) { return std::isfinite(v.real()) && std::isfinite(v.imag()); }

/// Of less than 2^62, as larger ones are never exact in sums. As a double, which nearly all are: an x87 takes ten
/// times as long to an integer and back, half of the oracle's time.
bool integer(real v) {
    const auto rounded = static_cast<double>(v);
    if (rounded != v) return std::fabs(v) < 0x1p62L && static_cast<real>(static_cast<std::int64_t>(v)) == v;
    return std::fabs(rounded) < 0x1p62 && static_cast<double>(static_cast<std::int64_t>(rounded)) == rounded;
}
bool integer(const complex& v) { return integer(v.real()) && integer(v.imag()); }

/// Squares of what doubles hold stay far from a long double's limits: without hypot's care, which takes longer.
real modulus(real v) { return std::fabs(v); }
real modulus(const complex& v) {
    const real square = v.real() * v.real() + v.imag() * v.imag();
    return square > std::numeric_limits<real>::min() && std::isfinite(square) ? std::sqrt(square) : std::abs(v);
}

/// The plain formula, not Annex G's recovery of infinities.
real times(real a, real b) { return a * b; }
complex times(const complex& a, const complex& b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class V>
class evaluator {
  public:
    using value = bounded<V>;
    static constexpr bool is_complex = std::is_same_v<V, complex>;

    evaluator(const statement& s, const element_errors& known, const std::vector<std::int64_t>& begin,
              const std::vector<std::int64_t>& end)
        : at(begin), s_(s), known_(known), begin_(begin), end_(end), format_(format_of(compute_type(s))) {}

    std::vector<std::int64_t> at; ///< the value of each label
    std::int64_t products = 0;

    /// The address an access has at `at`; null where a padded one lies outside.
    std::byte* address(std::int32_t number) const {
        const access& a = s_.accesses[static_cast<std::size_t>(number)];
        std::int64_t offset = 0;
        const std::byte* data = static_cast<std::byte*>(a.data);
        for (std::int32_t p = a.first_position; p < a.first_position + a.position_count; ++p) {
            const position& q = s_.positions[static_cast<std::size_t>(p)];
            if (q.is_gathered() && s_.accesses[static_cast<std::size_t>(q.table)].type == scalar_type::address) {
                std::memcpy(&data, address(q.table), sizeof data);
                continue;
            }
            std::int64_t i = q.is_gathered() ? entry(q.table) : q.offset;
            for (std::int32_t t = q.first_term; t < q.first_term + q.term_count; ++t) {
                const affine_term& term = s_.terms[static_cast<std::size_t>(t)];
                i += term.coefficient * at[static_cast<std::size_t>(term.label)];
            }
            if (i < 0 || i >= q.extent) {
                if (a.padded) return nullptr;
                throw std::logic_error("oracle: a position is outside its extent");
            }
            offset += i * q.stride;
        }
        return const_cast<std::byte*>(data) + offset * size_of(a.type);
    }

    /// The entry of an index table.
    std::int64_t entry(std::int32_t number) const {
        std::int32_t narrow = 0;
        std::int64_t wide = 0;
        const bool is_narrow = s_.accesses[static_cast<std::size_t>(number)].type == scalar_type::i32;
        std::memcpy(is_narrow ? static_cast<void*>(&narrow) : &wide, address(number),
                    is_narrow ? sizeof narrow : sizeof wide);
        return is_narrow ? narrow : wide;
    }

    /// sum(terms).
    value sum(const term_sum& terms) {
        total all;
        add_terms(all, terms);
        return finish(all);
    }

    /// What the left's element becomes that is the same at all of `places`, to each of which go_to goes: what the
    /// terms are there, and its old value first if `adds`. `rounded_each`: added one by one in the left's type.
    template <class GoTo>
    value element(const term_sum& terms, bool adds, bool rounded_each, const std::vector<std::int64_t>& places,
                  GoTo go_to) {
        total all;
        for (const auto place : places) {
            go_to(place);
            if (adds && place == places.front()) {
                const value old = load(0, false);
                all.grown += std::abs(old.v) + old.e;
                all.integral = old.e == 0 && integer(old.v);
                add(all, old, 1, std::abs(old.v) + old.e);
            }
            add_terms(all, terms);
        }
        value r = finish(all);
        const number_format stored = format_of(s_.accesses[0].type);
        if (!rounded_each || stored.digits == format_.digits || !finite(r.v)) return r;
        r.e += 2 * static_cast<real>(places.size()) * stored.half_ulp(all.magnitude + r.e);
        r.unknown |= all.magnitude + r.e > stored.overflow;
        return r;
    }

  private:
    struct total {
        V v{};
        real e = 0;         ///< from the inputs' errors
        real magnitude = 0; ///< sum of the products' magnitudes
        real count = 0;
        real multiplications = 0;
        real grown = 0;       ///< of products of max(1, |factor|): bounds every partial product and partial sum
        bool integral = true; ///< every factor is an integer without error
        bool positive = false, negative = false;
        bool loose = false, unknown = false;
    };

    void add_terms(total& all, const term_sum& terms) {
        for (const term& t : terms) {
            const auto factors = static_cast<std::int64_t>(t.factors.size() + t.scalars.size());
            all.multiplications = std::max(all.multiplications, real(factors - 1) * (passes(t) ? 4 : 1));
            all.loose |= t.distributed;
            for (const std::int32_t label : t.summed)
                for (const factor& f : t.factors) all.loose |= !f.labels.contains(label);
            loop(all, t, 0);
        }
    }

    /// Whether the tensor cores may make the products of a term, of f32.
    bool passes(const term& t) const { return !t.summed.empty() && t.factors.size() > 1 && format_.digits == 24; }

    /// What rounding to TF32 may make of a factor. The largest numbers stay finite, and others as they are.
    value rounded(value a) const {
        static const number_format tf32{11, -126, 128};
        if (!finite(a.v) || (a.e == 0 && holds(tf32, a.v))) return a;
        a.e += (is_complex ? 2 : 1) * tf32.half_ulp(std::abs(a.v) + a.e);
        return a;
    }

    static bool holds(const number_format& f, real v) { return f.holds(v); }
    static bool holds(const number_format& f, const complex& v) { return f.holds(v.real()) && f.holds(v.imag()); }

    value load(std::int32_t number, bool conjugated) const {
        const std::byte* p = address(number);
        if (!p) return {};
        const auto [re, im] = read_element(p, s_.accesses[static_cast<std::size_t>(number)].type);
        value r{made(re, conjugated ? -im : im)};
        if (known_.empty()) return r;
        if (const auto found = known_.find(p); found != known_.end()) {
            r.unknown = std::isinf(found->second);
            r.e = r.unknown ? 0 : found->second;
        }
        return r;
    }

    static V made(real re, real im) {
        if constexpr (is_complex)
            return {re, im};
        else
            return re;
    }

    void loop(total& all, const term& t, std::size_t depth) {
        if (depth < t.summed.size()) {
            const auto label = static_cast<std::size_t>(t.summed[depth]);
            for (at[label] = begin_[label]; at[label] < end_[label]; ++at[label]) loop(all, t, depth + 1);
            return;
        }
        ++products;
        value p{made(1, 0)};
        real magnitude = 1, exact = 1, grown = 1;
        const auto multiply = [&](const value& f) {
            p.v = times(p.v, f.v);
            p.loose |= f.loose, p.unknown |= f.unknown;
            const real size = modulus(f.v);
            exact *= size;
            magnitude *= size + f.e;
            grown *= std::max(1.0L, size + f.e);
            all.integral = all.integral && f.e == 0 && integer(f.v);
        };
        const bool rounds = s_.math == math_mode::tf32 && passes(t);
        for (const factor& f : t.factors) multiply(rounds ? rounded(evaluate_factor(f)) : evaluate_factor(f));
        // a product of others is rounded too
        for (std::size_t n = 2; rounds && n < t.factors.size(); ++n) multiply({made(1, 0), 0x1p-11L});
        for (const scalar& c : t.scalars) {
            const value rounded{made(c.real, c.imaginary)};
            const bool held = format_.holds(c.real) && format_.holds(c.imaginary);
            multiply({rounded.v, held ? 0 : format_.eps * std::abs(rounded.v) + format_.tiny});
            p.loose |= !finite(rounded.v);
        }
        all.grown += grown;
        // of three factors, the product of two may be infinite
        if (t.factors.size() + t.scalars.size() > 2) all.unknown |= finite(p.v) && grown > format_.overflow;
        p.e = magnitude - exact;
        add(all, p, static_cast<real>(t.sign), magnitude);
    }

    void add(total& all, const value& p, real sign, real magnitude) {
        const V v = sign < 0 ? -p.v : p.v;
        all.v = all.count == 0 ? v : all.v + v; // -0 stays -0
        all.e += p.e;
        all.magnitude += magnitude;
        all.count += 1;
        all.loose |= p.loose && !finite(p.v);
        all.unknown |= p.unknown;
        if constexpr (!is_complex) (v < 0 ? all.negative : all.positive) = true;
    }

    value finish(const total& all) const {
        if (all.unknown) return {{}, 0, false, true};
        if (!finite(all.v)) return {all.v, 0, all.loose || is_complex};
        value r{all.v, all.e};
        // Integers that stay below 2^digits are exact in every order.
        if (!all.integral || all.grown > std::ldexp(1.0L, format_.digits)) {
            const real ops = std::max(0.0L, all.count - 1) + all.multiplications;
            const real tiny = all.multiplications > 0 ? format_.tiny * all.grown : 0;
            r.e += (is_complex ? 3 : 1) * (format_.eps * ops * all.magnitude + tiny);
        }
        return limited(r, all.magnitude, (all.positive && all.negative) || is_complex);
    }

    /// Overflow of the compute type: certain where every order gives it, else nothing is known.
    value limited(const value& r, real magnitude, bool cancels) const {
        if (magnitude + r.e < format_.overflow) return r;
        if constexpr (!is_complex)
            if (!cancels && std::fabs(r.v) - r.e > format_.overflow)
                return {std::copysign(std::numeric_limits<real>::infinity(), r.v)};
        return {{}, 0, false, true};
    }

    value evaluate_factor(const factor& f) {
        if (f.kind == operation::access) return load(f.access, f.conjugated);
        value a = sum(f.arguments[0]);
        if (f.arguments.size() == 2) return extremum(f.kind, real_value(a), real_value(sum(f.arguments[1])));
        if (a.unknown) return a;
        const bool kept = f.kind == operation::abs || (f.kind == operation::sqrt && !is_complex);
        if (a.loose && !finite(a.v) && !kept) return {{}, 0, false, true};
        switch (f.kind) {
        case operation::relu:
            a = real_value(a);
            if (real_part(a.v) < 0) a.v = made(0, 0);
            return a;
        case operation::abs: {
            const real r = std::abs(a.v);
            const value result{made(r, 0), a.e + (is_complex ? 4 * format_.eps * r + format_.tiny : 0), a.loose};
            return finite(a.v) ? limited(result, r, false) : result;
        }
        case operation::exp:
            return exponential(a);
        case operation::sqrt:
            return root(a);
        case operation::reciprocal:
            return inverse(a);
        default:
            throw std::logic_error("oracle: not a function");
        }
    }

    static real real_part(const V& v) {
        if constexpr (is_complex)
            return v.real();
        else
            return v;
    }

    static value real_value(const value& a) {
        if constexpr (is_complex)
            if (finite(a.v) && !a.unknown && a.v.imag() != 0)
                throw std::logic_error("oracle: an order of complex values");
        return a;
    }

    static value extremum(operation kind, const value& a, const value& b) {
        const bool lost = (a.loose && !finite(a.v)) || (b.loose && !finite(b.v));
        if (a.unknown || b.unknown || lost) return {{}, 0, false, true};
        const real x = real_part(a.v), y = real_part(b.v);
        if (std::isnan(x) || std::isnan(y)) return {made(std::numeric_limits<real>::quiet_NaN(), 0)};
        return {made(kind == operation::min ? std::min(x, y) : std::max(x, y), 0), std::max(a.e, b.e)};
    }

    value exponential(const value& a) const {
        const V v = std::exp(a.v);
        const real size = std::exp(real_part(a.v));
        if (!finite(a.v)) return {v};
        value r{v, size * std::expm1(a.e) + (is_complex ? 8 : 4) * format_.eps * size * std::exp(a.e) + format_.tiny};
        return limited(r, size, false);
    }

    value root(const value& a) const {
        const V v = std::sqrt(a.v);
        const real size = std::abs(v), slack = (is_complex ? 8 : 1) * format_.eps * size;
        if (!finite(a.v)) return {v, 0, a.loose};
        if (a.e == 0 && a.v == V{}) return {v};
        if constexpr (is_complex) {
            const bool on_cut = a.e == 0 && a.v.imag() == 0 && !std::signbit(a.v.imag());
            if (a.v.real() - a.e < 0 && std::fabs(a.v.imag()) <= a.e && !on_cut) return {{}, 0, false, true};
        } else {
            if (a.v + a.e < 0) return {v};
            if (a.v - a.e < 0) return {{}, 0, false, true};
        }
        return {v, std::min(a.e / size, std::sqrt(a.e)) + slack};
    }

    value inverse(const value& a) const {
        const real size = std::abs(a.v);
        if constexpr (is_complex) {
            if (!finite(a.v)) return {{}, 0, false, true};
            if (size == 0 && a.e == 0) return {made(std::numeric_limits<real>::infinity(), 0), 0, true};
        } else if (!finite(a.v) || (size == 0 && a.e == 0)) {
            return {1 / a.v, 0, size == 0}; // the sign of a zero is not told
        }
        if (size <= a.e) return {{}, 0, false, true};
        const V v = V(1) / a.v;
        const real e = a.e / (size * (size - a.e)) + (is_complex ? 8 : 1) * format_.eps / size + format_.tiny;
        return limited({v, e}, 1 / size, true);
    }

    const statement& s_;
    const element_errors& known_;
    const std::vector<std::int64_t>&begin_, &end_;
    number_format format_;
};

template <class V>
void store(expected_element& out, const bounded<V>& r, scalar_type stored, scalar_type computed) {
    if constexpr (std::is_same_v<V, complex>) {
        out.re = r.v.real(), out.im = r.v.imag();
        if (!lowering::is_complex(stored) && finite(r.v) && out.im != 0 && !r.unknown)
            throw std::logic_error("oracle: a complex value for a real left side");
    } else {
        out.re = r.v;
    }
    if (r.unknown) return void(out.kind = verdict::unknown);
    if (!finite(r.v)) {
        out.kind = r.loose || std::is_same_v<V, complex> ? verdict::non_finite
                   : std::isnan(out.re)                  ? verdict::nan
                                                         : verdict::infinite;
        return;
    }
    const number_format f = format_of(stored);
    if (r.e == 0 && f.holds(out.re) && f.holds(out.im)) return; // stored as it is
    out.error = r.e;
    out.bound = r.e + f.half_ulp(std::max(std::fabs(out.re), std::fabs(out.im)) + r.e);
    // f64 -> f32 -> f16 rounds twice, which is off by up to 2^-13 of half a unit
    if (size_of(stored) == 2 && format_of(computed).digits == 53) out.bound *= 1 + 0x1p-12L;
}

/// The rule of += and -= through an index table: where entries are equal, what each of them stands for is added. Only
/// distinct(p) and pointers promise that there are none.
struct equal_entries {
    bool add_up = false, atomic = false;
};
equal_entries equal_entries_of(const statement& s) {
    equal_entries out;
    const access& left = s.accesses[0];
    for (std::int32_t p = left.first_position; p < left.first_position + left.position_count; ++p) {
        const position& q = s.positions[static_cast<std::size_t>(p)];
        if (!q.is_gathered() || q.distinct ||
            s.accesses[static_cast<std::size_t>(q.table)].type == scalar_type::address)
            continue;
        out.add_up = s.op != assignment::assign;
        out.atomic |= q.atomic;
    }
    return out;
}

template <class V>
void evaluate_all(const statement& s, const element_errors& known, oracle_result& result,
                  const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end,
                  const std::vector<std::int32_t>& left) {
    evaluator<V> all(s, known, begin, end);
    term_sum terms = terms_of(s, {left.begin(), left.end()});
    if (s.op == assignment::subtract)
        for (term& t : terms) t.sign = -t.sign;
    std::int64_t count = 1;
    for (const std::int32_t l : left)
        count *= std::max<std::int64_t>(0, end[static_cast<std::size_t>(l)] - begin[static_cast<std::size_t>(l)]);
    const auto go_to = [&](std::int64_t n) {
        for (const std::int32_t l : left) {
            const auto label = static_cast<std::size_t>(l);
            all.at[label] = begin[label] + n % (end[label] - begin[label]);
            n /= end[label] - begin[label];
        }
    };
    const auto [adds_up, atomic] = equal_entries_of(s);
    std::vector<std::pair<std::byte*, std::vector<std::int64_t>>> elements; // and the places where each is written
    std::map<std::byte*, std::size_t> met;
    for (std::int64_t n = 0; n < count; ++n) {
        go_to(n);
        std::byte* const address = all.address(0);
        if (!address) continue;
        const auto found = adds_up ? met.try_emplace(address, elements.size()).first->second : elements.size();
        if (found == elements.size()) elements.push_back({address, {}});
        elements[found].second.push_back(n);
    }
    for (const auto& [address, places] : elements) {
        expected_element e{address, places.front()};
        store(e, all.element(terms, s.op != assignment::assign, atomic, places, go_to), s.accesses[0].type,
              compute_type(s));
        result.unknown += e.kind == verdict::unknown;
        result.elements.push_back(e);
    }
    result.products = all.products;
}

} // namespace

scalar_type compute_type(const statement& s) {
    scalar_type t = s.accesses.at(0).type;
    for (const access& a : s.accesses)
        if (!is_index(a.type)) t = promote(t, a.type);
    return accumulator(t);
}

oracle_result evaluate(const statement& s, const element_errors& known) {
    const auto [begin, end] = ranges_of(s);
    const std::set<std::int32_t> left = labels_of(s, 0);
    const std::vector<std::int32_t> order(left.begin(), left.end());
    oracle_result result{s.accesses[0].type, {}, {}, {}, {}, 0, 0};
    for (const std::int32_t l : order) {
        const auto label = static_cast<std::size_t>(l);
        result.labels.push_back(s.labels[label].name);
        result.begin.push_back(begin[label]);
        result.extent.push_back(end[label] - begin[label]);
    }
    bool is_complex = lowering::is_complex(compute_type(s));
    for (const scalar& c : s.scalars) is_complex |= c.complex;
    if (is_complex)
        evaluate_all<complex>(s, known, result, begin, end, order);
    else
        evaluate_all<real>(s, known, result, begin, end, order);

    std::vector<std::byte*> addresses;
    for (const expected_element& e : result.elements) addresses.push_back(static_cast<std::byte*>(e.address));
    std::sort(addresses.begin(), addresses.end());
    for (std::size_t i = 1; i < addresses.size(); ++i)
        if (addresses[i] - addresses[i - 1] < size_of(result.type))
            throw std::logic_error("oracle: an element is written twice");
    return result;
}

} // namespace ricci::tests
