// blas_peer: the BLAS that CMake found, called for one product of the batch after the other; where there are threads,
// also from all of them at once.
#include "bench/in_parallel.hpp"
#include "bench/peers/blas_library.hpp"
#include "bench/peers/gemm_call.hpp"
#include "bench/peers/peer.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/blas.hpp>

#include <utility>

namespace ricci::bench {

namespace {

const char* element(const void* data, std::int64_t number, lowering::scalar_type type) {
    return static_cast<const char*>(data) + number * lowering::size_of(type);
}

void run(const gemm_call& g, lowering::scalar_type type, double beta, const operand_set& set, std::int64_t first,
         std::int64_t last) {
    const void* const a = g.swapped ? set.b : set.a;
    const void* const b = g.swapped ? set.a : set.b;
    for (std::int64_t e = first; e < last; ++e)
        runtime::blas_gemm(type, g.a.operation, g.b.operation, g.m, g.n, g.k, 1,
                           element(a, g.place(e) * g.a.batch_stride, type), g.a.leading,
                           element(b, g.place(e) * g.b.batch_stride, type), g.b.leading, beta,
                           const_cast<char*>(element(set.c, e * g.c.batch_stride, type)), g.c.leading);
}

class blas_peer : public peer {
  public:
    blas_peer() { runtime::set_blas_threads(thread_count()); }
    std::string version() const override { return blas_version(); }

    std::vector<contender> contenders(const product& p, std::span<const operand_set> sets) override {
        const auto call = gemm_call_of(p);
        if (!call || p.a.type != p.c.type || lowering::size_of(p.a.type) == 2) return {};
        std::vector<contender> all;
        const auto offer = [&](const char* variant, const gemm_call& g) {
            all.push_back({"blas", variant,
                           [g, type = p.a.type, beta = p.accumulate ? 1.0 : 0.0,
                            sets = std::vector<operand_set>(sets.begin(), sets.end())](std::size_t set) {
                               run(g, type, beta, sets[set], 0, g.count);
                           }});
        };
        offer("loop", *call);
        if (thread_count() > 1 && call->count > 1)
            all.push_back({"blas", "threads",
                           [g = *call, type = p.a.type, beta = p.accumulate ? 1.0 : 0.0, seconds = seconds_of_one(p),
                            sets = std::vector<operand_set>(sets.begin(), sets.end())](std::size_t set) {
                               runtime::set_blas_threads(1); // ours are enough
                               in_parallel_if_worth(g.count, seconds, [&](std::int64_t first, std::int64_t last) {
                                   run(g, type, beta, sets[set], first, last);
                               });
                               runtime::set_blas_threads(thread_count());
                           }});
        if (const auto one = as_one_gemm(*call)) offer("one gemm", *one);
        return all;
    }
};

} // namespace

std::unique_ptr<peer> make_blas_peer() {
    if (!runtime::has_blas()) throw error("this build has no BLAS", blame::environment);
    return std::make_unique<blas_peer>();
}

} // namespace ricci::bench
