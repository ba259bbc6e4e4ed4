// matrix_chain_test: factorizations and solves between contractions, of one program: fused into one kernel, against
// the same statements one by one, whose kernels factor_test judges.
#include <ricci/ricci.hpp>

#include "lowering/lower_program.hpp"
#include "lowering/print.hpp"
#include "runtime/executable.hpp"
#include "runtime/program_cache.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/chain_cases.hpp"
#include "tests/kernels/device_under_test.hpp"

#include <cmath>
#include <complex>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace ricci::indices;
using ricci::dyn, ricci::local, ricci::tensor;

namespace {

ricci::device under_test() { return ricci::device(ricci::tests::device_under_test()); }

template <class T>
struct parts_of {
    using real = T;
    static T from(double re, double) { return static_cast<T>(re); }
};
template <class R>
struct parts_of<std::complex<R>> {
    using real = R;
    static std::complex<R> from(double re, double im) { return {static_cast<R>(re), static_cast<R>(im)}; }
};

/// Real parts in [least, 1], imaginary ones in `imaginary` times as much.
template <class Tensor>
void fill(Tensor& t, std::uint64_t seed, double least = -1, double imaginary = 0.5) {
    using element = typename Tensor::value_type;
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> part(least, 1);
    std::vector<element> values(static_cast<std::size_t>(t.size()));
    for (auto& v : values) v = parts_of<element>::from(part(random), imaginary * part(random));
    t.upload(values);
}

/// Real and positive in complex tensors too: B* D B + 2 is then positive definite, and well-conditioned.
template <class Tensor>
void fill_weights(Tensor& t, std::uint64_t seed) {
    fill(t, seed, 0.5, 0);
}

/// NaN where one alone is no number.
template <class X>
double difference(const X& x, const X& y) {
    const auto a = x.download(), b = y.download();
    double out = 0;
    for (std::size_t n = 0; n < a.size(); ++n) {
        const bool none = a[n] != a[n], none_there = b[n] != b[n];
        const double d = none && none_there ? 0 : std::abs(a[n] - b[n]);
        if (!(d <= out)) out = d;
    }
    return out;
}

struct sizes {
    std::int64_t n, r, batch;
};

template <class T>
struct operands {
    using integers = tensor<std::int32_t, dyn>;
    sizes s;
    ricci::device on;
    tensor<T, dyn, dyn> B;            ///< n + 2 points, n functions
    tensor<T, dyn, dyn> D, w, column; ///< column: of zeros for the first three elements
    tensor<T, dyn, dyn> diagonals;    ///< of Toeplitz matrices
    tensor<T, dyn, dyn, dyn> given;
    explicit operands(sizes of, ricci::device device)
        : s(of), on(device), B(s.n + 2, s.n, on), D(s.n + 2, s.batch, on), w(s.n + 2, s.batch, on),
          column(s.n, s.batch, on), diagonals(2 * s.n - 1, s.batch, on), given(s.n + 2, s.r, s.batch, on) {
        fill(B, 1), fill_weights(D, 2), fill(w, 3), fill(given, 4), fill(column, 5);
        column(0, e) += 5; // then the others are well-conditioned
        column(i, e(0, 3)) = 0;
        fill(diagonals, 6);
        diagonals(s.n - 1, e) += 3.0 * static_cast<double>(s.n);
    }
};

template <class T>
struct results {
    tensor<T, dyn, dyn, dyn> y, factors;
    tensor<std::int32_t, dyn> info, second;
    tensor<std::int32_t, dyn, dyn> pivots;
    tensor<T, dyn, dyn> tau;
    explicit results(sizes s, ricci::device on)
        : y(s.n + 2, s.r, s.batch, on), factors(s.n, s.n, s.batch, on), info(s.batch, on), second(s.batch, on),
          pivots(s.n, s.batch, on), tau(s.n, s.batch, on) {}
};

/// Temporaries of a program: tensors of their own, or locals.
template <class Tensor, class Lines, class Integers>
struct temporaries_in {
    Tensor S, Q, tall, b, c, g;
    Lines lines;
    Integers pivots;
    temporaries_in(sizes s, ricci::device on)
        : S(s.n, s.n, s.batch, on), Q(s.n, s.n, s.batch, on), tall(s.n + 2, s.n, s.batch, on),
          b(s.n, s.r, s.batch, on), c(s.n + 2, s.r, s.batch, on), g(s.n, s.r, s.batch, on),
          lines(2 * s.n - 1, s.batch, on), pivots(s.n, s.batch, on) {}
};
template <class T>
using in_memory = temporaries_in<tensor<T, dyn, dyn, dyn>, tensor<T, dyn, dyn>, tensor<std::int32_t, dyn, dyn>>;
template <class T>
using in_chip = temporaries_in<local<T, dyn, dyn, dyn>, local<T, dyn, dyn>, local<std::int32_t, dyn, dyn>>;

template <class T, class Temporaries>
void assemble(const operands<T>& a, Temporaries& t) {
    t.S(i, j, e) = conj(a.B(q, i)) * a.D(q, e) * a.B(q, j);
    t.S(i, i, e) += 2;
    t.b(i, r, e) = conj(a.B(q, i)) * a.given(q, r, e);
}

template <class T, class Temporaries>
void run_body(const std::string& what, const operands<T>& a, Temporaries& t, results<T>& out) {
    const auto apply = [&] { out.y(q, r, e) = a.B(q, i) * t.b(i, r, e); };
    if (what == "least squares") {
        t.tall(p, j, e) = a.D(p, e) * a.B(p, j);
        t.c(q, r, e) = a.w(q, e) * a.given(q, r, e);
        least_squares(t.tall(i, j, e), i, j, t.b(j, r, e), t.c(i, r, e), out.info(e));
        return apply();
    }
    const auto n = a.s.n;
    if (what == "toeplitz matrices, which overlap themselves") {
        t.lines(p, e) = 2 * a.diagonals(p, e);
        t.b(i, r, e) = conj(a.B(q, i)) * a.given(q, r, e);
        solve(t.lines(i(0, n) - j + (n - 1), e), i, j, t.b(j, r, e), out.info(e));
        return apply();
    }
    assemble(a, t);
    if (what == "other letters") {
        solve(t.S(i, j, f), i, j, t.b(j, r, f), out.info(f));
        return apply();
    }
    if (what == "solve by lu") {
        solve(t.S(i, j, e), i, j, t.b(j, r, e), out.info(e));
    } else if (what == "solve with a conjugate") {
        solve(conj(t.S(i, j, e)), i, j, t.b(j, r, e), out.info(e));
    } else if (what == "solve by cholesky, of rows") {
        solve(t.S(i, j, e), i, j, t.b(j, r, e), ricci::positive_definite, out.info(e));
    } else if (what == "singular matrices") {
        t.S(i, 0, e) = a.column(i, e);
        solve(t.S(i, j, e), i, j, t.b(j, r, e), out.info(e));
    } else if (what == "cholesky and its solve") {
        cholesky(t.S(i, j, e), i, j, out.info(e));
        cholesky_solve(t.S(i, j, e), i, j, t.b(j, r, e), out.second(e));
    } else if (what == "lu and its solve") {
        lu(t.S(i, j, e), i, j, out.pivots(k, e), out.info(e));
        lu_solve(t.S(i, j, e), i, j, out.pivots(k, e), t.b(j, r, e), out.second(e));
    } else if (what == "lu and its solve, local pivots") {
        lu(t.S(i, j, e), i, j, t.pivots(k, e), out.info(e));
        lu_solve(t.S(i, j, e), i, j, t.pivots(k, e), t.b(j, r, e), out.second(e));
    } else if (what == "lu and a solve of its adjoint") {
        if (n > 1) t.S(i(0, n - 1) + 1, i, e) += 40; // every row is exchanged, and the matrix far from its adjoint
        t.S(0, n - 1, e) += 40;
        lu(t.S(i, j, e), i, j, t.pivots(k, e), out.info(e));
        lu_solve(t.S(i, j, e), i, j, t.pivots(k, e), t.b(i, r, e), ricci::adjoint, out.second(e));
    } else if (what == "unpivoted lu and a solve of its adjoint") {
        if (n > 1) t.S(i(0, n - 1) + 1, i, e) += 1;
        lu(t.S(i, j, e), i, j, ricci::unpivoted, out.info(e));
        lu_solve(conj(t.S(i, j, e)), i, j, t.b(i, r, e), ricci::unpivoted, ricci::adjoint, out.second(e));
    } else if (what == "unpivoted lu, kept") {
        out.factors(i, j, e) = t.S(i, j, e) + 0;
        lu(out.factors(i, j, e), i, j, ricci::unpivoted, out.info(e));
        triangular_solve(out.factors(i, j, e), i, j, t.b(j, r, e), ricci::lower, ricci::unit_diagonal, out.second(e));
        triangular_solve(out.factors(i, j, e), i, j, t.b(j, r, e), ricci::upper, out.second(e));
    } else if (what == "qr and its Q") {
        qr(t.S(i, j, e), i, j, out.tau(k, e), out.info(e));
        apply_q(t.S(i, j, e), i, j, out.tau(k, e), t.b(i, r, e), ricci::adjoint);
        triangular_solve(t.S(i, j, e), i, j, t.b(j, r, e), ricci::upper, out.second(e));
    } else if (what == "qr and its solve") {
        qr(t.S(i, j, e), i, j, out.tau(k, e), out.info(e));
        qr_solve(t.S(i, j, e), i, j, out.tau(k, e), t.b(j, r, e), out.second(e));
    } else if (what == "qr of wide matrices") {
        t.tall(p, j, e) = a.D(p, e) * a.B(p, j);
        qr(t.tall(i, j, e), j, i, out.tau(k, e), out.info(e));
        apply_q(t.tall(i, j, e), j, i, out.tau(k, e), t.b(j, r, e), ricci::adjoint);
    } else if (what == "qr, its Q apart") {
        qr(t.S(i, j, e), i, j, out.tau(k, e), out.info(e));
        form_q(t.S(i, j, e), i, j, out.tau(k, e), t.Q(i, l, e));
        out.y(q, r, e) = a.B(q, i) * (t.Q(i, l, e) * t.b(l, r, e));
        return;
    } else if (what == "transposed, what is given apart") {
        t.S(i, 0, e) += a.column(i, e); // no longer Hermitian
        t.S(0, 0, e) += 4;
        t.g(i, r, e) = 2 * t.b(i, r, e);
        solve(t.S(j, i, e), i, j, t.b(j, r, e), t.g(i, r, e), out.info(e));
    } else if (what == "inverse") {
        inverse(t.S(i, j, e), i, j, out.info(e));
        out.y(q, r, e) = a.B(q, i) * (t.S(i, j, e) * t.b(j, r, e));
        return;
    }
    apply();
}

const std::vector<std::string> bodies{"solve by lu",
                                      "solve with a conjugate",
                                      "solve by cholesky, of rows",
                                      "singular matrices",
                                      "cholesky and its solve",
                                      "lu and its solve",
                                      "lu and its solve, local pivots",
                                      "lu and a solve of its adjoint",
                                      "unpivoted lu and a solve of its adjoint",
                                      "unpivoted lu, kept",
                                      "qr and its Q",
                                      "qr and its solve",
                                      "inverse",
                                      "qr of wide matrices",
                                      "qr, its Q apart",
                                      "transposed, what is given apart",
                                      "toeplitz matrices, which overlap themselves",
                                      "other letters",
                                      "least squares"};

/// Runs the statements of `body` as one program, whatever the model thinks of it; its plan, as text. Checks that all
/// matrices are factored and solved with in its one chain.
template <class Body>
std::string run_fused(ricci::device on, const Body& body) {
    ricci::runtime::placed_program program;
    REQUIRE(program.take(ricci::dsl::collected(body)));
    const auto chip = ricci::tests::eager_to_fuse(ricci::runtime::backend_of(on).machine());
    const auto plan = ricci::lowering::lower_program(program.statements, program.locals, program.shared, chip);
    ricci::runtime::executable(on, plan).launch(program.joined, program.statements);
    auto text = ricci::lowering::to_string(plan, program.joined);
    INFO(text);
    CHECK(plan.chains.size() == 1);
    for (const auto& st : plan.steps)
        CHECK((st.chain == 0 || st.matrices.task == ricci::lowering::matrix_task::none));
    return text;
}

template <class T>
void check(const std::string& what, sizes s) {
    const auto on = under_test();
    const operands<T> a(s, on);
    results<T> fused(s, on), apart(s, on);
    in_memory<T> temporaries(s, on);
    run_body(what, a, temporaries, apart);
    const auto plan = run_fused(on, [&] {
        in_chip<T> locals(s, on);
        run_body(what, a, locals, fused);
    });
    INFO(what << ", n = " << s.n << ", r = " << s.r << ", " << s.batch << " matrices of "
              << sizeof(typename parts_of<T>::real) << " bytes\n"
              << plan);
    const double epsilon = std::numeric_limits<typename parts_of<T>::real>::epsilon();
    CHECK(difference(fused.y, apart.y) < 2000 * epsilon * static_cast<double>(s.n));
    CHECK(difference(fused.factors, apart.factors) < 200 * epsilon * static_cast<double>(s.n));
    CHECK(fused.info.download() == apart.info.download());
    CHECK(fused.second.download() == apart.second.download());
    CHECK(fused.pivots.download() == apart.pivots.download());
    CHECK(difference(fused.tau, apart.tau) < 200 * epsilon * static_cast<double>(s.n));
}

} // namespace

TEST_CASE("a program's factorizations and solves are fused with its contractions") {
    const std::size_t every = ricci::tests::count_of_run(); // of the sizes: kernels compile long
    constexpr std::int64_t rows[] = {1, 3, 8, 13, 17, 34};
    for (std::size_t body = 0; body < bodies.size(); ++body)
        for (auto at = body % every; at < std::size(rows); at += every) {
            const auto& what = bodies[body];
            const auto turn = body + at; // of types and sides: the same cases whatever is left out
            const sizes s{rows[at], 1 + static_cast<std::int64_t>(turn % 3), ricci::tests::is_emulated() ? 21 : 1003};
            switch (turn % 4) {
            case 0:
                check<double>(what, s);
                break;
            case 1:
                check<std::complex<double>>(what, s);
                break;
            case 2:
                check<float>(what, s);
                break;
            default:
                check<std::complex<float>>(what, s);
            }
        }
}

TEST_CASE("an element has several matrices, and right-hand sides of several indices") {
    const auto on = under_test();
    const std::int64_t n = 6, matrices = 3, sides = 2, batch = ricci::tests::is_emulated() ? 13 : 501;
    tensor<double, dyn, dyn, dyn> D(n, matrices, batch, on);
    tensor<double, dyn, dyn, dyn, dyn> given(n, sides, matrices, batch, on), x(n, sides, matrices, batch, on),
        y = x.copy();
    tensor<double, dyn, dyn, dyn, dyn> S(n, n, matrices, batch, on), b(n, sides, matrices, batch, on);
    tensor<double, dyn, dyn, dyn> T(n, n, batch, on);
    tensor<std::int32_t, dyn, dyn> codes(matrices, batch, on), of_sides(sides, batch, on);
    fill_weights(D, 1), fill(given, 2);
    const auto check_fused = [&](const auto& body, auto& matrices_in_memory, const auto& make_local) {
        body(matrices_in_memory, b, y);
        run_fused(on, [&] {
            auto A = make_local();
            local<double, dyn, dyn, dyn, dyn> right(n, sides, matrices, batch, on);
            body(A, right, x);
        });
        CHECK(difference(x, y) < 1e-13);
    };
    const auto of_each = [&](auto& A, auto& right, auto& out) {
        A(i, j, f, e) = D(i, f, e) * D(j, f, e);
        A(i, i, f, e) += 1;
        right(i, r, f, e) = 2 * given(i, r, f, e);
        solve(A(i, j, f, e), i, j, right(j, r, f, e), ricci::positive_definite, codes(f, e));
        out(i, r, f, e) = right(i, r, f, e) + given(i, r, f, e);
    };
    check_fused(of_each, S, [&] { return local<double, dyn, dyn, dyn, dyn>(n, n, matrices, batch, on); });
    const auto of_all = [&](auto& A, auto& right, auto& out) {
        A(i, j, e) = D(i, 0, e) * D(j, 1, e);
        A(i, i, e) += 4;
        right(i, r, f, e) = 2 * given(i, r, f, e);
        solve(A(i, j, e), i, j, right(j, r, f, e), of_sides(r, e)); // the longer index counts its sides
        out(i, r, f, e) = right(i, r, f, e) - given(i, r, f, e);
    };
    check_fused(of_all, T, [&] { return local<double, dyn, dyn, dyn>(n, n, batch, on); });
    const auto rows = n + matrices - 1;
    tensor<double, dyn, dyn, dyn> high(rows, n, batch, on), H(rows, n, batch, on);
    fill(high, 3);
    for (std::int64_t row = 0; row < rows; ++row) high(row, row % n, e) += 8;
    const auto of_windows = [&](auto& A, auto& right, auto& out) { // each overlaps the next one
        A(p, j, e) = 2 * high(p, j, e);
        right(i, r, f, e) = 2 * given(i, r, f, e);
        solve(A(i(0, n) + f, j, e), i, j, right(j, r, f, e), codes(f, e));
        out(i, r, f, e) = right(i, r, f, e) - given(i, r, f, e);
    };
    check_fused(of_windows, H, [&] { return local<double, dyn, dyn, dyn>(rows, n, batch, on); });
}

TEST_CASE("a matrix of extreme numbers changes no bit of its neighbors' solutions") {
    const auto on = under_test();
    const sizes s{6, 2, ricci::tests::is_emulated() ? 13 : 501};
    for (const bool by_qr : {false, true}) {
        const auto solutions = [&](double weights) {
            operands<double> a(s, on);
            a.D(q, e(5, 6)) = weights; // of one element's
            results<double> out(s, on);
            run_fused(on, [&] {
                in_chip<double> t(s, on);
                t.S(i, j, e) = a.B(q, i) * a.D(q, e) * a.B(q, j);
                t.b(i, r, e) = a.B(q, i) * a.given(q, r, e);
                if (by_qr) {
                    qr(t.S(i, j, e), i, j, out.tau(k, e), out.info(e));
                    apply_q(t.S(i, j, e), i, j, out.tau(k, e), t.b(i, r, e), ricci::adjoint);
                    triangular_solve(t.S(i, j, e), i, j, t.b(j, r, e), ricci::upper, out.second(e));
                } else {
                    solve(t.S(i, j, e), i, j, t.b(j, r, e), out.info(e));
                }
                out.y(q, r, e) = a.B(q, i) * t.b(i, r, e);
            });
            return out.y.download();
        };
        const auto usual = solutions(0.75), beside = solutions(1e-308);
        const auto each = static_cast<std::size_t>((s.n + 2) * s.r);
        for (std::size_t n = 0; n < usual.size(); ++n)
            if (n / each != 5) CHECK(usual[n] == beside[n]);
        CHECK(usual[5 * each] != beside[5 * each]);
    }
}
