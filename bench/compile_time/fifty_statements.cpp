// fifty_statements: fifty different statements in one file, to be compiled only. Budget: 20 s at -O2 and 1.5 GB,
// g++ 12.
#include <ricci/ricci.hpp>

using namespace ricci::indices;
using ricci::dyn, ricci::tensor, ricci::view;
using complex = std::complex<double>;

namespace {

ricci::index<"el"> el;
ricci::index<"qx"> qx;
ricci::index<"row"> row;

void linear_algebra(tensor<double, 64, 64>& A, tensor<double, 64, 64>& B, tensor<double, 64, 64>& C,
                    tensor<double, 64>& v, tensor<double, 64>& w) {
    C(i, j) = A(i, k) * B(k, j);
    C(i, j) += 2.0 * A(k, i) * B(k, j);
    C(i, j) -= A(i, k) * B(j, k) * v(k);
    C(j, i) = A(i, j);
    C(i, i) = v(i) / (1 + w(i));
    w(i) = A(i, j) * v(j);
    w(row) = C(row, row) + 3;
    C(i, j) = v(i) * w(j);
    A(i, j) = 0.5 * (A(i, j) + A(j, i));
    v(i) = sqrt(abs(A(i, k) * A(i, k)));
    C(i, j) = A(i, k) * B(k, l) * C(l, j);
    double trace = A(i, i);
    double dot = v(i) * w(i);
    v(i) = trace * w(i) - dot;
}

void blocks(tensor<double, 64, 64, 9, 8>& A, tensor<float, 64, 64, dyn>& S) {
    A(i, j, m(1, 9), n(1, 8)) -= A(i, k, m, 0) * A(k, j, 0, n);
    A(i, j, m, n) = A(j, i, m, n) + A(i, j, m, 0);
    A(i, j, m, 3) = exp(-A(i, j, m, 4));
    A(i, j, 0, n(0, 4)) = A(i, j, 1, 2 * n) - A(i, j, 1, 2 * n + 1);
    S(i, j, b) += S(i, k, b) * S(k, j, b);
    S(i, j, b(0, 10)) = S(i, j, b + 10);
    S(i, j, b) = max(S(i, j, b), 0) / S(i, i, b);
    double one = A(3, 4, 0, 1);
    S(0, 0, 0) = one;
}

void finite_elements(tensor<double, dyn, 8, dyn>& M, tensor<double, dyn, 8>& B, tensor<double, dyn, dyn>& W,
                     tensor<double, 6, 5>& D, tensor<double, 5, 5, 5, dyn>& u, tensor<double, 5, 5, 5, dyn>& y5,
                     tensor<double, 6, 6, 6, dyn>& q6) {
    M(i, j, el) = B(q, i) * W(q, el) * B(q, j);
    M(i, j, el) += B(q, i) * W(q, el);
    q6(q, r, s, el) = D(q, i) * D(r, j) * D(s, k) * u(i, j, k, el);
    y5(a, b, c, el) = D(q, a) * D(r, b) * D(s, c) * q6(q, r, s, el);
    y5(a, b, c, el) += 2 * u(a, b, c, el) - 0.5f * y5(a, b, c, el);
    q6(qx, r, s, el) -= D(qx, i) * D(r, j) * u(i, j, 2, el);
    u(i, j, k, el) = y5(k, j, i, el);
    W(q, el) = W(q, el) * W(q, el);
    double energy = u(i, j, k, el) * y5(i, j, k, el);
    u(i, j, k, el(0, 12)) = energy;
}

void convolutions(view<float, 4> O, view<const float, 4> D, view<const float, 4> F, view<const float, 1> bias) {
    O(b, k, y, x) = relu(D(b, c, y + r, x + s) * F(k, c, r, s) + bias(k));
    O(b, k, y, x) = padded(D)(b, c, y + r - 1, x + s - 1) * F(k, c, r, s);
    O(b, k, y, x) += D(b, c, 2 * y + r, 2 * x + s) * F(k, c, r, s);
    O(b, k, y + 1, x + 1) = D(b, k, y(0, 6), x(0, 6));
    O(b, k, 4 * t + u, v) = D(b, k, t(0, 3), v) * bias(u(0, 4));
    O(b, k, y, x) = max(D(b, k, y, x), 0.1f * D(b, k, y, x));
    O(b, k, -y + 5, x) = D(b, k, y(0, 6), x);
    O(b, k, y, x) = min(max(O(b, k, y, x) / 6 + 0.5f, 0), 1);
}

void high_rank(tensor<complex, 3, 4, 5, 6, 7, 8>& T, tensor<complex, 3, 4, 5>& P, tensor<complex, 6, 7, 8>& Q,
               tensor<float, 8, 7>& R) {
    T(a, b, c, d, e, f) = P(a, b, c) * Q(d, e, f);
    T(a, b, c, d, e, f) += conj(P(a, b, c)) * Q(d, e, f) * R(f, e);
    P(a, b, c) = T(a, b, c, d, e, f) * conj(Q(d, e, f));
    Q(d, e, f) -= complex(0, 1) * P(a, b, c) * T(a, b, c, d, e, f) / R(f, e);
    T(a, b, c, d, 2 * e, f) = T(a, b, c, d, e(0, 3), f);
    T(a, b, 0, d, e, 1) = -T(a, b, 1, d, e, 0);
    complex norm = P(a, b, c) * conj(P(a, b, c));
    Q(d, e, f) = norm;
}

void stencils(tensor<ricci::half, dyn, dyn>& H, tensor<float, dyn, dyn>& G) {
    G(x(1, 30), y(1, 30)) = 0.25 * (H(x + 1, y) + H(x - 1, y) + H(x, y + 1) + H(x, y - 1));
    H(x, y) = G(x, y) - exp(G(y, x)) * 2;
}

} // namespace

/// Keeps every function above from being left out.
extern void* const functions[];
void* const functions[] = {
    reinterpret_cast<void*>(&linear_algebra),  reinterpret_cast<void*>(&blocks),
    reinterpret_cast<void*>(&finite_elements), reinterpret_cast<void*>(&convolutions),
    reinterpret_cast<void*>(&high_rank),       reinterpret_cast<void*>(&stencils),
};
