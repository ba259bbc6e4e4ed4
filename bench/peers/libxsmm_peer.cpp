// libxsmm_peer: libxsmm's generated kernels, one call for each product of the batch.
#include "bench/in_parallel.hpp"
#include "bench/peers/gemm_call.hpp"
#include "bench/peers/peer.hpp"

#include <ricci/lowering/error.hpp>

#ifdef RICCI_HAS_LIBXSMM

#include <libxsmm.h>

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace ricci::bench {

namespace {

constexpr std::int64_t largest_size = 128; ///< kernels are straight code

/// libxsmm's kernel, or null where it has none.
template <class Element>
auto dispatch(const gemm_call& g, Element beta, int prefetch) {
    const auto size = [](std::int64_t n) { return static_cast<libxsmm_blasint>(n); };
    const libxsmm_blasint lda = size(g.a.leading), ldb = size(g.b.leading), ldc = size(g.c.leading);
    const int flags = (g.a.operation == 'N' ? 0 : LIBXSMM_GEMM_FLAG_TRANS_A) |
                      (g.b.operation == 'N' ? 0 : LIBXSMM_GEMM_FLAG_TRANS_B);
    const Element alpha = 1;
    const auto ask = [&](auto function) {
        return function(size(g.m), size(g.n), size(g.k), &lda, &ldb, &ldc, &alpha, &beta, &flags, &prefetch);
    };
    if constexpr (std::is_same_v<Element, double>)
        return ask(libxsmm_dmmdispatch);
    else
        return ask(libxsmm_smmdispatch);
}

/// Products [first, last) of a set. `Fetches`: the kernel is told where the next product's A, B and C are, to fetch
/// them ahead.
template <bool Fetches, class Element, class Kernel>
void run(const gemm_call& g, Kernel kernel, const operand_set& set, std::int64_t first, std::int64_t last) {
    const auto* const a = static_cast<const Element*>(g.swapped ? set.b : set.a);
    const auto* const b = static_cast<const Element*>(g.swapped ? set.a : set.b);
    auto* const c = static_cast<Element*>(set.c);
    const auto call = [&](std::int64_t e, std::int64_t place, std::int64_t next) {
        if constexpr (Fetches)
            kernel(a + place * g.a.batch_stride, b + place * g.b.batch_stride, c + e * g.c.batch_stride,
                   a + next * g.a.batch_stride, b + next * g.b.batch_stride, c + (e + 1) * g.c.batch_stride);
        else
            kernel(a + place * g.a.batch_stride, b + place * g.b.batch_stride, c + e * g.c.batch_stride);
    };
    if (g.places)
        for (std::int64_t e = first; e < last; ++e) call(e, g.place(e), g.place(std::min(e + 1, last - 1)));
    else
        for (std::int64_t e = first; e < last; ++e) call(e, e, e + 1);
}

class libxsmm_peer : public peer {
  public:
    std::string version() const override {
        return fmt::format("libxsmm {}, generating for {}", LIBXSMM_VERSION, libxsmm_get_target_arch());
    }

    std::vector<contender> contenders(const product& p, std::span<const operand_set> sets) override {
        const auto call = gemm_call_of(p);
        if (!call || p.a.type != p.c.type || std::max({p.m, p.n, p.k}) > largest_size) return {};
        switch (p.a.type) {
        case lowering::scalar_type::f64:
            return offer<double>(*call, p, sets);
        case lowering::scalar_type::f32:
            return offer<float>(*call, p, sets);
        default:
            return {};
        }
    }

  private:
    /// Those that libxsmm has a kernel for: 1.17 transposes no A.
    template <class Element>
    static std::vector<contender> offer(const gemm_call& g, const product& p, std::span<const operand_set> sets) {
        std::vector<contender> all;
        const auto add = [&](const char* variant, auto kernel, auto run_all) {
            if (kernel)
                all.push_back({"libxsmm", variant,
                               [g, kernel, run_all, seconds = seconds_of_one(p),
                                sets = std::vector<operand_set>(sets.begin(), sets.end())](std::size_t set) {
                                   in_parallel_if_worth(g.count, seconds, [&](std::int64_t first, std::int64_t last) {
                                       run_all(g, kernel, sets[set], first, last);
                                   });
                               }});
        };
        const Element beta = p.accumulate ? 1 : 0;
        const auto kernel = dispatch(g, beta, LIBXSMM_GEMM_PREFETCH_NONE);
        add("kernel", kernel, run<false, Element, decltype(kernel)>);
        add("prefetch", dispatch(g, beta, LIBXSMM_GEMM_PREFETCH_AL2BL2_VIA_C), run<true, Element, decltype(kernel)>);
        return all;
    }
};

} // namespace

std::unique_ptr<peer> make_libxsmm_peer() { return std::make_unique<libxsmm_peer>(); }

} // namespace ricci::bench

#else

namespace ricci::bench {

std::unique_ptr<peer> make_libxsmm_peer() {
    throw error("this build has no libxsmm: CMake found none, or no BLAS beside it (Debian: libxsmm-dev)",
                blame::environment);
}

} // namespace ricci::bench

#endif
