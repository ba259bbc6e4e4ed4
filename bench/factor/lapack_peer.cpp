// lapack_peer: LAPACK as people use it on a batch: a call for each matrix, the batch spread over ricci's threads; of
// large matrices also one after the other, each on all of the library's own threads.
#include "bench/factor/factor_peer.hpp"
#include "bench/factor/lapack_library.hpp"
#include "bench/in_parallel.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <limits>
#include <memory>
#include <utility>

namespace ricci::bench::factor {

namespace {

using lowering::scalar_type;

constexpr std::int64_t smallest_for_threads = 64; ///< order: the library does not share smaller matrices' work
constexpr double seconds_of_a_call = 200e-9;      ///< the least that one takes, whatever its size

int int_of(std::int64_t size) {
    if (size > std::numeric_limits<int>::max()) throw error("LAPACK has no sizes above 2^31 - 1");
    return static_cast<int>(size);
}

/// What every call is given, but for the place; and its calls for one matrix. What is wrong shows when the results
/// are checked: info is not looked at.
struct call {
    problem p;
    lapack_functions f;
    int m = 0, n = 0, sides = 0, longest = 0, work_size = 1;
    std::int64_t matrix_bytes = 0, vector_bytes = 0, solution_bytes = 0, longest_bytes = 0;
    char conjugated = 'T';

    call(const problem& of, const lapack_library& library) : p(of), f(library.of(of.type)) {
        m = int_of(p.m), n = int_of(p.n), sides = int_of(p.sides), longest = int_of(p.longest());
        const std::int64_t element = lowering::size_of(p.type);
        const bool has_pivots = facts_of(p.what).vector == vector_kind::pivots;
        matrix_bytes = p.m * p.n * element, solution_bytes = p.n * p.columns() * element;
        longest_bytes = p.longest() * p.sides * element;
        vector_bytes = p.least() * (has_pivots ? static_cast<std::int64_t>(sizeof(int)) : element);
        if (lowering::is_complex(p.type)) conjugated = 'C';
    }

    void cholesky(void* a) const { f.potrf("L", &n, a, &n, &info, 1); }
    void lu(void* a, int* pivots) const { f.getrf(&m, &n, a, &m, pivots, &info); }
    void qr(void* a, void* tau, void* work) const { f.geqrf(&m, &n, a, &m, tau, work, &work_size, &info); }
    void solve(void* a, int* pivots, void* x) const { f.gesv(&n, &sides, a, &n, pivots, x, &n, &info); }
    void solve_positive(void* a, void* x) const { f.posv("L", &n, &sides, a, &n, x, &n, &info, 1); }
    void least_squares(void* a, void* b, void* work) const {
        f.gels("N", &m, &n, &sides, a, &m, b, &longest, work, &work_size, &info, 1);
    }
    void inverse(void* a, int* pivots, void* work) const {
        lu(a, pivots);
        f.getri(&n, a, &n, pivots, work, &work_size, &info);
    }
    void triangular_solve(const void* a, void* x) const {
        f.trtrs("L", "N", "N", &n, &sides, a, &n, x, &n, &info, 1, 1, 1);
    }
    void cholesky_solve(const void* a, void* x) const { f.potrs("L", &n, &sides, a, &n, x, &n, &info, 1); }
    void lu_solve(const void* a, const int* pivots, void* x) const {
        f.getrs("N", &n, &sides, a, &n, pivots, x, &n, &info, 1);
    }
    void qr_solve(const void* a, const void* tau, void* b, void* work) const {
        f.apply_q("L", &conjugated, &m, &sides, &n, a, &m, tau, b, &m, work, &work_size, &info, 1, 1);
        f.trtrs("U", "N", "N", &n, &sides, a, &m, b, &m, &info, 1, 1, 1);
    }

    /// Asks for the workspace that is liked best. Nothing else is read or written.
    void ask_for_work() {
        std::complex<double> first; // of any type, the real part stands first
        work_size = -1;
        if (p.what == routine::qr)
            qr(nullptr, nullptr, &first);
        else if (p.what == routine::least_squares)
            least_squares(nullptr, nullptr, &first);
        else if (p.what == routine::inverse)
            f.getri(&n, nullptr, &n, nullptr, &first, &work_size, &info);
        else if (p.what == routine::qr_solve)
            f.apply_q("L", &conjugated, &m, &sides, &n, nullptr, &m, nullptr, nullptr, &m, &first, &work_size, &info,
                      1, 1);
        const double wanted = lowering::real_of(p.type) == scalar_type::f64
                                  ? first.real()
                                  : std::bit_cast<std::array<float, 2>>(first.real())[0];
        work_size = std::max({longest, 1, static_cast<int>(wanted)});
    }

  private:
    static thread_local int info; ///< each thread has its own; nobody looks at it
};

thread_local int call::info = 0;

/// Matrices [first, last). `pivots`: of lu_solve, from 1.
void run(const call& c, const operand_addresses& at, const int* pivots, std::int64_t first, std::int64_t last) {
    const auto nth = [&](operand_number operand, std::int64_t bytes, std::int64_t e) {
        return static_cast<char*>(at[operand]) + e * bytes;
    };
    std::vector<char> space(static_cast<std::size_t>(c.work_size * lowering::size_of(c.p.type)));
    void* const work = space.data();
    for (std::int64_t e = first; e < last; ++e) {
        void* const a = nth(at_A, c.matrix_bytes, e);
        void* const v = nth(at_vector, c.vector_bytes, e);
        const auto x = [&] { return nth(at_X, c.solution_bytes, e); };
        const auto b = [&] { return nth(at_work, c.longest_bytes, e); };
        switch (c.p.what) {
        case routine::cholesky:
            c.cholesky(a);
            break;
        case routine::lu:
            c.lu(a, static_cast<int*>(v));
            break;
        case routine::qr:
            c.qr(a, v, work);
            break;
        case routine::solve:
            c.solve(a, static_cast<int*>(v), x());
            break;
        case routine::solve_positive:
            c.solve_positive(a, x());
            break;
        case routine::least_squares:
            c.least_squares(a, b(), work);
            break;
        case routine::inverse:
            c.inverse(a, static_cast<int*>(v), work);
            break;
        case routine::triangular_solve:
            c.triangular_solve(a, x());
            break;
        case routine::cholesky_solve:
            c.cholesky_solve(a, x());
            break;
        case routine::lu_solve:
            c.lu_solve(a, pivots + e * c.p.n, x());
            break;
        case routine::qr_solve:
            c.qr_solve(a, v, b(), work);
            break;
        }
    }
}

/// What its calls spoil, and where they leave what comes of them.
way as_way(const problem& p, const char* variant, std::function<void(std::size_t)> run) {
    way w{variant, std::move(run), spoiled_by(p.what), {1, at_X, 0}};
    w.spoils.matrices = !facts_of(p.what).takes_factors && p.what != routine::triangular_solve;
    if (facts_of(p.what).result != outcome::apart) return w;
    w.spoils.work = facts_of(p.what).has_sides;
    w.leaves = p.what == routine::inverse ? answer{1, at_A, p.n} : answer{1, at_work, p.longest()};
    return w;
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
        const auto made = std::make_shared<call>(p, library_);
        made->ask_for_work();
        const std::shared_ptr<const call> c = made;
        const auto pivots = std::make_shared<std::vector<std::vector<std::int32_t>>>();
        if (p.what == routine::lu_solve)
            for (const operand_addresses& set : sets) pivots->push_back(pivots_from_one(p, set, cpu()));
        const auto part = [c, pivots, sets](std::size_t set, std::int64_t first, std::int64_t last) {
            run(*c, sets[set], pivots->empty() ? nullptr : (*pivots)[set].data(), first, last);
        };
        std::vector<way> all;
        all.push_back(as_way(p, "a call a matrix", [this, p, part, seconds = seconds_of_one(p)](std::size_t set) {
            library_.set_threads(1); // ours are enough
            in_parallel_if_worth(p.batch, seconds,
                                 [&](std::int64_t first, std::int64_t last) { part(set, first, last); });
            library_.set_threads(thread_count());
        }));
        if (thread_count() > 1 && p.least() >= smallest_for_threads)
            all.push_back(as_way(p, "its own threads", [this, p, part](std::size_t set) {
                library_.set_threads(thread_count());
                part(set, 0, p.batch);
            }));
        return all;
    }

  private:
    lapack_library library_;
};

} // namespace

std::unique_ptr<factor_peer> make_lapack_peer() { return std::make_unique<lapack_peer>(); }

} // namespace ricci::bench::factor
