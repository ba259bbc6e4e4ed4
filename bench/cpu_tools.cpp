// cpu_tools: the bench's own loops on a CPU, in C++, on as many threads as ricci's.
#include "bench/device_tools.hpp"

#include "bench/element_walk.hpp"
#include "bench/in_parallel.hpp"
#include "bench/kernels/random_value.hpp"
#include "bench/native_code.hpp"

#include <ricci/dsl/element.hpp>
#include <ricci/lowering/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <optional>
#include <type_traits>
#include <vector>

namespace ricci::bench {

namespace {

using lowering::scalar_type;

constexpr double most_multiplications = 3e7; ///< of a check: below a second

/// f(T()) for the C++ type of `type`.
template <class F>
void with_type(scalar_type type, F f) {
    using enum scalar_type;
    switch (type) {
    case f16:
        return f(half());
    case bf16:
        return f(bfloat16());
    case f32:
        return f(float());
    case f64:
        return f(double());
    case c64:
        return f(std::complex<float>());
    default:
        return f(std::complex<double>());
    }
}

template <class T>
inline constexpr bool is_complex = dsl::is_complex_scalar<T>;

template <class To, class From>
To convert(const From& x) {
    if constexpr (is_complex<To>) {
        using real = typename To::value_type;
        if constexpr (is_complex<From>)
            return {static_cast<real>(x.real()), static_cast<real>(x.imag())};
        else
            return {static_cast<real>(x), 0};
    } else if constexpr (is_complex<From>) {
        return static_cast<To>(x.real());
    } else if constexpr (sizeof(From) == 2) {
        return static_cast<To>(static_cast<float>(x));
    } else if constexpr (sizeof(To) == 2) {
        return To(static_cast<float>(x));
    } else {
        return static_cast<To>(x);
    }
}

template <class T>
T conjugate_if(bool conjugated, const T& x) {
    if constexpr (is_complex<T>) return conjugated ? std::conj(x) : x;
    (void)conjugated;
    return x;
}

/// Element number `place` of the walk, as offsets in C, A and B.
std::array<std::int64_t, 3> offsets_of(const product& p, const element_walk& walk, std::int64_t place) {
    const std::int64_t rest = place / walk.extent[0];
    const std::array<std::int64_t, 3> x{place % walk.extent[0], rest % walk.extent[1], rest / walk.extent[1]};
    std::array<std::int64_t, 3> out{};
    for (std::size_t o = 0; o < 3; ++o) {
        auto at = x;
        auto& e = at[static_cast<std::size_t>(walk.batch)];
        if (p.places && o > 0) e = (*p.places)[static_cast<std::size_t>(e)];
        out[o] = at[0] * walk.stride[o][0] + at[1] * walk.stride[o][1] + at[2] * walk.stride[o][2];
    }
    return out;
}

/// f(first, last) on parts of [0, count), eight for each thread, or fewer where they would be too small.
template <class... F>
void spread(std::int64_t count, std::int64_t smallest_part, const F&... f) {
    in_parallel(count, std::max<std::int64_t>(smallest_part, count / (8 * thread_count())), f...);
}

template <class Compute, class In, class Out>
void plain_loop(const product& p, const element_walk& walk, const In* a, const In* b, Out* c) {
    const std::int64_t part = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, p.k));
    spread(walk.elements, part, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t place = first; place < last; ++place) {
            const auto at = offsets_of(p, walk, place);
            Compute sum{};
            for (std::int64_t q = 0; q < p.k; ++q)
                sum += conjugate_if(p.a_conjugated, convert<Compute>(a[at[1] + q * p.a.column_stride])) *
                       conjugate_if(p.b_conjugated, convert<Compute>(b[at[2] + q * p.b.row_stride]));
            if (p.accumulate) sum = convert<Compute>(c[at[0]]) + sum;
            c[at[0]] = convert<Out>(sum);
        }
    });
}

template <class In, class Out>
findings check_loop(const product& p, const In* a, const In* b, const Out* c, const random_numbers& old) {
    using exact = std::conditional_t<is_complex<In> || is_complex<Out>, std::complex<long double>, long double>;
    const element_walk walk = walk_of(p);
    const error_bound bound = bound_of(p);
    const auto affordable = static_cast<std::int64_t>(most_multiplications / static_cast<double>(p.k));
    const std::int64_t step = std::max<std::int64_t>(1, walk.elements / std::max<std::int64_t>(1, affordable)) | 1;
    const auto old_part = [&](std::int64_t place) {
        return static_cast<long double>(
            random_value(old.seed, static_cast<unsigned long long>(place), old.digits, old.scale));
    };
    findings found;
    for (std::int64_t place = 0; place < walk.elements; place += step) {
        const auto at = offsets_of(p, walk, place);
        exact sum{};
        long double squares = 0;
        for (std::int64_t q = 0; q < p.k; ++q) {
            const exact term = conjugate_if(p.a_conjugated, convert<exact>(a[at[1] + q * p.a.column_stride])) *
                               conjugate_if(p.b_conjugated, convert<exact>(b[at[2] + q * p.b.row_stride]));
            sum += term;
            squares += std::norm(term);
        }
        if (p.accumulate) {
            exact before{};
            if constexpr (is_complex<Out>)
                before = {old_part(2 * at[0]), old_part(2 * at[0] + 1)};
            else
                before = old_part(at[0]);
            sum += before;
            squares += std::norm(before);
        }
        compare(found, bound, static_cast<double>(std::abs(convert<exact>(c[at[0]]) - sum)),
                static_cast<double>(std::abs(sum)), static_cast<double>(std::sqrt(squares)), place);
    }
    return found;
}

/// f(In(), Out()) for the types of `p` that the bench has: A and B alike.
template <class F>
void with_types(const product& p, F f) {
    if (p.a.type != p.b.type) throw error("the bench's own loops need A and B of one type");
    with_type(p.a.type, [&](auto in) {
        with_type(p.c.type, [&](auto out) {
            if constexpr (is_complex<decltype(in)> && !is_complex<decltype(out)>)
                throw error("complex sums cannot be stored as real numbers");
            else
                f(in, out);
        });
    });
}

class cpu_tools : public device_tools {
  public:
    void fill(scalar_type type, void* data, std::int64_t count, const random_numbers& numbers) override {
        const std::int64_t values = count * (lowering::is_complex(type) ? 2 : 1);
        with_type(lowering::real_of(type), [&]([[maybe_unused]] auto element) {
            using T = decltype(element);
            if constexpr (!is_complex<T>)
                spread(values, 4096, [&](std::int64_t first, std::int64_t last) {
                    for (std::int64_t n = first; n < last; ++n)
                        static_cast<T*>(data)[n] = convert<T>(random_value(
                            numbers.seed, static_cast<unsigned long long>(n), numbers.digits, numbers.scale));
                });
        });
    }

    // In the machine's widest vectors where there is a compiler, else as this file was compiled.
    void triad(void* z, const void* x, const void* y, std::int64_t bytes, int) override {
        const std::int64_t count = bytes / 8;
        if (const auto& native = native_streams(); !native.empty()) {
            const std::uint64_t words[] = {word_of(z), word_of(x), word_of(y), static_cast<std::uint64_t>(count)};
            return spread((count - 1) / page + 1, 8, native[0], words);
        }
        spread(count, 4096, [=](std::int64_t first, std::int64_t last) {
            auto* const to = static_cast<double*>(z);
            const auto* const one = static_cast<const double*>(x);
            const auto* const two = static_cast<const double*>(y);
            for (std::int64_t n = first; n < last; ++n) to[n] = one[n] + 3 * two[n];
        });
    }
    int triad_kinds() const override { return 1; }

    void read(const void* x, std::int64_t bytes, int) override {
        const std::int64_t count = bytes / 8;
        if (const auto& native = native_streams(); !native.empty()) {
            const std::uint64_t words[] = {word_of(x), static_cast<std::uint64_t>(count)};
            return spread((count - 1) / page + 1, 8, native[1], words);
        }
        spread(count, 4096, [=](std::int64_t first, std::int64_t last) {
            const auto* const from = static_cast<const double*>(x);
            double sums[8] = {};
            for (std::int64_t n = first; n + 8 <= last; n += 8)
                for (int lane = 0; lane < 8; ++lane) sums[lane] += from[n + lane];
            double sum = 0;
            for (const double part : sums) sum += part;
            volatile double kept = sum; // the loads stay
            (void)kept;
        });
    }
    int read_kinds() const override { return 1; }

    void delay(double) override {}

    std::function<void()> plain(const product& p, const operand_set& operands) override {
        std::function<void()> loop;
        with_types(p, [&]<class In, class Out>(In, Out) {
            using enum scalar_type;
            const auto make = [&](auto compute) {
                using Compute = decltype(compute);
                if constexpr ((is_complex<In> || is_complex<Out>) == is_complex<Compute>)
                    loop = [p, operands, walk = walk_of(p)] {
                        plain_loop<Compute>(p, walk, static_cast<const In*>(operands.a),
                                            static_cast<const In*>(operands.b), static_cast<Out*>(operands.c));
                    };
            };
            switch (compute_type(p)) {
            case f64:
                return make(double());
            case c64:
                return make(std::complex<float>());
            case c128:
                return make(std::complex<double>());
            default:
                return make(float());
            }
        });
        return loop;
    }

    findings check(const product& p, const operand_set& operands, const random_numbers& old) override {
        findings found;
        with_types(p, [&]<class In, class Out>(In, Out) {
            found = check_loop(p, static_cast<const In*>(operands.a), static_cast<const In*>(operands.b),
                               static_cast<const Out*>(operands.c), old);
        });
        return found;
    }

  private:
    static constexpr std::int64_t page = 512; ///< as in streams_cpu.hpp

    /// The triad and reading as compiled for this machine; empty where they cannot be.
    const std::vector<runtime::cpu_kernel>& native_streams() {
        if (!native_streams_) {
            native_streams_.emplace();
            try {
                *native_streams_ = native_functions(native_source("", {"vectors_cpu.hpp", "streams_cpu.hpp"}), 2);
            } catch (const error&) { // the loops here serve too
            }
        }
        return *native_streams_;
    }

    std::optional<std::vector<runtime::cpu_kernel>> native_streams_;
};

} // namespace

std::unique_ptr<device_tools> make_cpu_tools() { return std::make_unique<cpu_tools>(); }

} // namespace ricci::bench
