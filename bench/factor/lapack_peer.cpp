// lapack_peer: LAPACK as people use it on a batch: a call for each matrix, the batch spread over ricci's threads; of
// large matrices also one after the other, each on all of the library's own threads.
#include "bench/factor/factor_peer.hpp"
#include "bench/factor/lapack_library.hpp"
#include "bench/in_parallel.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <memory>
#include <utility>

namespace ricci::bench::factor {

namespace {

using lowering::scalar_type;

constexpr std::int64_t smallest_for_threads = 64; ///< order: the library does not share smaller matrices' work
constexpr double seconds_of_a_call = 200e-9;      ///< the least that one takes, whatever its size

/// What every call is given, but for the place.
struct call {
    problem p;
    lapack_functions f;
    int m = 0, n = 0, sides = 0, work_size = 1;
    std::int64_t matrix_bytes = 0, vector_bytes = 0, side_bytes = 0;

    char* matrix(const operand_addresses& at, std::int64_t e) const {
        return static_cast<char*>(at[at_A]) + e * matrix_bytes;
    }
    char* vector(const operand_addresses& at, std::int64_t e) const {
        return static_cast<char*>(at[at_vector]) + e * vector_bytes;
    }
    char* solution(const operand_addresses& at, std::int64_t e) const {
        return static_cast<char*>(at[at_X]) + e * side_bytes;
    }
};

int int_of(std::int64_t size) {
    if (size > std::numeric_limits<int>::max()) throw error("LAPACK has no sizes above 2^31 - 1");
    return static_cast<int>(size);
}

/// The workspace that geqrf would like, in elements.
int work_of_qr(const call& c) {
    std::complex<double> first; // of any type, the real part stands first
    const int ask = -1;
    int info = 0;
    c.f.geqrf(&c.m, &c.n, nullptr, &c.m, nullptr, &first, &ask, &info);
    const bool is_double = lowering::real_of(c.p.type) == scalar_type::f64;
    const double wanted = is_double ? *reinterpret_cast<double*>(&first) : *reinterpret_cast<float*>(&first);
    return std::max({c.n, 1, static_cast<int>(wanted)});
}

call make_call(const problem& p, const lapack_library& library) {
    call c;
    c.p = p, c.f = library.of(p.type);
    c.m = int_of(p.m), c.n = int_of(p.n), c.sides = int_of(p.sides);
    const std::int64_t element = lowering::size_of(p.type);
    c.matrix_bytes = p.m * p.n * element, c.side_bytes = p.n * p.sides * element;
    c.vector_bytes = p.least() * (has_pivots(p.what) ? static_cast<std::int64_t>(sizeof(int)) : element);
    if (p.what == routine::qr) c.work_size = work_of_qr(c);
    return c;
}

/// Matrices [first, last). `pivots`: of lu_solve, from 1.
void run(const call& c, const operand_addresses& at, const int* pivots, std::int64_t first, std::int64_t last) {
    const char lower = 'L', plain = 'N';
    int info = 0; // what is wrong shows when the results are checked
    const auto solve = [&](std::int64_t e, const int* pivots_of_e) {
        c.f.getrs(&plain, &c.n, &c.sides, c.matrix(at, e), &c.n, pivots_of_e, c.solution(at, e), &c.n, &info, 1);
    };
    const auto own_pivots = [&](std::int64_t e) { return reinterpret_cast<int*>(c.vector(at, e)); };
    std::vector<char> work(static_cast<std::size_t>(c.work_size * lowering::size_of(c.p.type)));
    for (std::int64_t e = first; e < last; ++e) switch (c.p.what) {
        case routine::cholesky:
            c.f.potrf(&lower, &c.n, c.matrix(at, e), &c.n, &info, 1);
            break;
        case routine::lu:
            c.f.getrf(&c.m, &c.n, c.matrix(at, e), &c.m, own_pivots(e), &info);
            break;
        case routine::qr:
            c.f.geqrf(&c.m, &c.n, c.matrix(at, e), &c.m, c.vector(at, e), work.data(), &c.work_size, &info);
            break;
        case routine::solve:
            c.f.getrf(&c.n, &c.n, c.matrix(at, e), &c.n, own_pivots(e), &info);
            solve(e, own_pivots(e));
            break;
        case routine::cholesky_solve:
            c.f.potrs(&lower, &c.n, &c.sides, c.matrix(at, e), &c.n, c.solution(at, e), &c.n, &info, 1);
            break;
        default:
            solve(e, pivots + e * c.p.n);
        }
}

/// Of one call, as far as the machine's rates tell: whether threads are worth waking.
double seconds_of_one(const problem& p) {
    const lowering::machine& chip = runtime::backend_of(cpu()).machine();
    const bool is_double = lowering::real_of(p.type) == scalar_type::f64;
    const double all =
        std::max(p.flops() / (is_double ? chip.flops_f64 : chip.flops_f32), p.bytes() / chip.bandwidth);
    return seconds_of_a_call + all * chip.processors / static_cast<double>(std::max<std::int64_t>(p.batch, 1));
}

class lapack_peer : public factor_peer {
  public:
    std::string version() const override { return library_.version(); }

    std::vector<way> ways(const problem& p, const std::vector<operand_addresses>& sets) override {
        const auto c = std::make_shared<const call>(make_call(p, library_));
        const auto pivots = std::make_shared<std::vector<std::vector<std::int32_t>>>();
        if (p.what == routine::lu_solve)
            for (const operand_addresses& set : sets) pivots->push_back(pivots_from_one(p, set, cpu()));
        const auto part = [c, pivots, sets](std::size_t set, std::int64_t first, std::int64_t last) {
            run(*c, sets[set], pivots->empty() ? nullptr : (*pivots)[set].data(), first, last);
        };
        const bool spoils = p.what == routine::solve;
        std::vector<way> all;
        all.push_back({"a call a matrix",
                       [this, p, part, seconds = seconds_of_one(p)](std::size_t set) {
                           library_.set_threads(1); // ours are enough
                           in_parallel_if_worth(p.batch, seconds, [&](std::int64_t first, std::int64_t last) {
                               part(set, first, last);
                           });
                           library_.set_threads(thread_count());
                       },
                       spoils, 1});
        if (thread_count() > 1 && p.least() >= smallest_for_threads)
            all.push_back({"its own threads",
                           [this, p, part](std::size_t set) {
                               library_.set_threads(thread_count());
                               part(set, 0, p.batch);
                           },
                           spoils, 1});
        return all;
    }

  private:
    lapack_library library_;
};

} // namespace

std::unique_ptr<factor_peer> make_lapack_peer() { return std::make_unique<lapack_peer>(); }

} // namespace ricci::bench::factor
