// reference: runs a step by an interpreter that was compiled with the library.
#include "runtime/reference.hpp"

#include "lowering/gathers.hpp"
#include "runtime/half.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace ricci::runtime {
namespace {

using namespace lowering;
using value = std::complex<double>;

// The plain formulas of kernels/scalar.hpp; std::complex would repair NaN as C's Annex G asks.
value multiply(value a, value b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

value divide(value a, value b) {
    if (b.imag() == 0) return {a.real() / b.real(), a.imag() / b.real()};
    if (std::abs(b.real()) >= std::abs(b.imag())) {
        const double r = b.imag() / b.real(), d = b.real() + b.imag() * r;
        return {(a.real() + a.imag() * r) / d, (a.imag() - a.real() * r) / d};
    }
    const double r = b.real() / b.imag(), d = b.real() * r + b.imag();
    return {(a.real() * r + a.imag()) / d, (a.imag() * r - a.real()) / d};
}

value exponential(value x) {
    const double r = std::exp(x.real()), c = std::cos(x.imag()), s = std::sin(x.imag());
    if (x.imag() == 0) return {r, x.imag()};
    if (std::isfinite(r)) return {r * c, r * s};
    const double half_way = std::exp(x.real() / 2);
    return {half_way * c * half_way, half_way * s * half_way};
}

value square_root(value x) {
    return x.imag() == 0 && x.real() >= 0 ? value{std::sqrt(x.real()), x.imag()} : std::sqrt(x);
}

value smaller(value x, value y) {
    if (std::isnan(x.real())) return x;
    return std::isnan(y.real()) || y.real() < x.real() ? y : x;
}
value larger(value x, value y) {
    if (std::isnan(x.real())) return x;
    return std::isnan(y.real()) || x.real() < y.real() ? y : x;
}

/// One node whose children are known.
value apply(operation kind, value p, value q, bool is_real) {
    switch (kind) {
    case operation::add: return p + q;
    case operation::subtract: return p - q;
    case operation::multiply: return is_real ? value{p.real() * q.real(), 0} : multiply(p, q);
    case operation::divide: return is_real ? value{p.real() / q.real(), 0} : divide(p, q);
    case operation::negate: return -p;
    case operation::conjugate: return is_real ? p : std::conj(p);
    case operation::relu: return p.real() < 0 ? value{} : p;
    case operation::exp: return is_real ? value{std::exp(p.real()), 0} : exponential(p);
    case operation::sqrt: return is_real ? value{std::sqrt(p.real()), 0} : square_root(p);
    case operation::abs: return is_real ? value{std::abs(p.real()), 0} : value{std::hypot(p.real(), p.imag()), 0};
    case operation::min: return smaller(p, q);
    case operation::max: return larger(p, q);
    case operation::reciprocal: return is_real ? value{1 / p.real(), 0} : divide(1, p);
    default: return {};
    }
}

value load(scalar_type type, const void* element) {
    switch (type) {
    case scalar_type::f16: return {*static_cast<const half*>(element), 0};
    case scalar_type::bf16: return {*static_cast<const bfloat16*>(element), 0};
    case scalar_type::f32: return {*static_cast<const float*>(element), 0};
    case scalar_type::f64: return {*static_cast<const double*>(element), 0};
    case scalar_type::c64: return *static_cast<const std::complex<float>*>(element);
    default: return *static_cast<const value*>(element);
    }
}

/// double -> float by rounding to odd, so that the next rounding is the only one.
float round_to_odd(double x) {
    float f = static_cast<float>(x);
    if (f == x || std::isnan(x)) return f;
    auto bits = std::bit_cast<std::uint32_t>(f);
    if (std::abs(static_cast<double>(f)) > std::abs(x)) --bits;
    return std::bit_cast<float>(bits | 1u);
}

void store(scalar_type type, void* element, value x) {
    switch (type) {
    case scalar_type::f16: *static_cast<half*>(element) = round_to_odd(x.real()); break;
    case scalar_type::bf16: *static_cast<bfloat16*>(element) = round_to_odd(x.real()); break;
    case scalar_type::f32: *static_cast<float*>(element) = static_cast<float>(x.real()); break;
    case scalar_type::f64: *static_cast<double*>(element) = x.real(); break;
    case scalar_type::c64: *static_cast<std::complex<float>*>(element) = std::complex<float>(x); break;
    default: *static_cast<value*>(element) = x; break;
    }
}

class interpreter {
  public:
    interpreter(const step& st, const std::vector<scalar>& scalars, const std::function<void*(std::int32_t)>& address)
        : st_(st), scalars_(scalars), at_(st.axes.size(), 0), real_(!is_complex(st.compute)) {
        for (const auto& o : st.operands) memory_.push_back(address(o.source));
    }

    void run() {
        over_left(0);
        for (const auto& [element, sum] : sums_) change(element, sum);
    }

  private:
    void over_left(std::size_t axis) {
        while (axis < at_.size() && !st_.operands[0].present[axis]) ++axis;
        if (axis == at_.size()) return one_element();
        for (at_[axis] = 0; at_[axis] < st_.axes[axis].extent; ++at_[axis]) over_left(axis + 1);
    }

    void one_element() {
        auto result = evaluate(static_cast<std::int32_t>(st_.nodes.size()) - 1);
        std::int64_t offset = 0;
        if (!find(0, offset)) return;
        void* const element = place(0, offset);
        if (collision_of(st_) == collision::none) return change(element, result);
        const auto [sum, is_first] = sums_.try_emplace(element, result);
        if (!is_first) sum->second += result;
    }

    void change(void* element, value result) const {
        const auto type = st_.operands[0].type;
        if (st_.op == assignment::add) result = load(type, element) + result;
        if (st_.op == assignment::subtract) result = load(type, element) - result;
        store(type, element, result);
    }

    /// The offset of operand `o` at the current axes; false outside of a padded tensor.
    bool find(std::size_t o, std::int64_t& offset) const {
        const auto& here = st_.operands[o];
        for (const auto& b : here.bounds) {
            auto position = b.offset;
            for (std::size_t a = 0; a < at_.size(); ++a) position += b.coefficient[a] * at_[a];
            if (position < 0 || position >= b.extent) return false;
        }
        offset = here.offset;
        for (std::size_t a = 0; a < at_.size(); ++a) offset += here.stride[a] * at_[a];
        return true;
    }

    /// Where the element at `offset` of operand `o` lies: moved by its tables' entries.
    void* place(std::size_t o, std::int64_t offset) const {
        auto* base = static_cast<std::byte*>(memory_[o]);
        for (const auto& g : st_.operands[o].gathers) {
            const auto table = static_cast<std::size_t>(g.table);
            std::int64_t at = 0;
            find(table, at);
            if (const auto type = st_.operands[table].type; type == scalar_type::address)
                base = static_cast<std::byte* const*>(memory_[table])[at];
            else
                offset +=
                    g.stride * (type == scalar_type::i32 ? static_cast<const std::int32_t*>(memory_[table])[at]
                                                         : static_cast<const std::int64_t*>(memory_[table])[at]);
        }
        return base + offset * size_of(st_.operands[o].type);
    }

    value evaluate(std::int32_t number) {
        const auto& n = st_.nodes[static_cast<std::size_t>(number)];
        if (n.kind == operation::access) {
            std::int64_t offset = 0;
            const auto o = static_cast<std::size_t>(n.a);
            return find(o, offset) ? load(st_.operands[o].type, place(o, offset)) : value{};
        }
        if (n.kind == operation::scalar) {
            const auto& x = scalars_[static_cast<std::size_t>(n.a)];
            return {x.real, x.imaginary};
        }
        if (n.kind == operation::sum) return sum(n, 0);
        const auto p = evaluate(n.a);
        return apply(n.kind, p, arity(n.kind) == 2 ? evaluate(n.b) : value{}, real_);
    }

    value sum(const node& n, std::size_t depth) {
        const auto& list = st_.sums[static_cast<std::size_t>(n.b)];
        if (depth == list.size()) return evaluate(n.a);
        const auto axis = static_cast<std::size_t>(list[depth]);
        value total{};
        for (at_[axis] = 0; at_[axis] < st_.axes[axis].extent; ++at_[axis]) total += sum(n, depth + 1);
        at_[axis] = 0;
        return total;
    }

    const step& st_;
    const std::vector<scalar>& scalars_;
    std::vector<void*> memory_;
    std::vector<std::int64_t> at_;
    bool real_;
    std::map<void*, value> sums_; ///< where several values of the axes add to one element
};

value evaluate_from(const std::vector<node>& nodes, const std::vector<scalar>& scalars, bool real,
                    std::int32_t number) {
    const auto& n = nodes[static_cast<std::size_t>(number)];
    if (n.kind == operation::scalar) {
        const auto& x = scalars[static_cast<std::size_t>(n.a)];
        return {x.real, x.imaginary};
    }
    const auto p = evaluate_from(nodes, scalars, real, n.a);
    return apply(n.kind, p, arity(n.kind) == 2 ? evaluate_from(nodes, scalars, real, n.b) : value{}, real);
}

} // namespace

void run_reference(const step& st, const std::vector<scalar>& scalars,
                   const std::function<void*(std::int32_t)>& address) {
    interpreter(st, scalars, address).run();
}

value evaluate_scalars(const std::vector<node>& nodes, const std::vector<scalar>& scalars, scalar_type compute) {
    return evaluate_from(nodes, scalars, !is_complex(compute), static_cast<std::int32_t>(nodes.size()) - 1);
}

} // namespace ricci::runtime
