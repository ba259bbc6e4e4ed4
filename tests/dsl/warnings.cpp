// warnings: a user's file that is compiled with more warnings than ricci's own, all errors.
#include <ricci/dsl/dlpack.hpp>
#include <ricci/dsl/text.hpp>
#include <ricci/ricci.hpp>

using ricci::indices::i, ricci::indices::j, ricci::indices::k;

double statements(ricci::tensor<double, 4, ricci::dyn>& A, ricci::view<ricci::half, 2> B, DLManagedTensor* shared) {
    const ricci::index<"el"> el;
    A(i, j) += 2 * B(i, k) * A(k, j(0, 4)) - max(A(j, i), 1);
    A(i, 0) = padded(B)(i + 1, 2 * el(0, 3) - 1) / 3;
    B(i, j) = exp(B(i, j));
    ricci::half h = B(0, 0);
    h += 1;
    auto program = ricci::record([&] {
        ricci::local<double, 4> square;
        square(i) = A(i, i);
        A(i, 0) = square(i);
    });
    program();
    auto C = ricci::make_tensor<std::complex<float>>(3, ricci::cpu());
    C(i) = conj(C(i));
    ricci::from_dlpack<double, 2>(shared)(i, j) = A(i, j);
    ricci::tensor<int, ricci::dyn> table(4, ricci::cpu());
    ricci::pointer_view<const double, 3> at(nullptr, {4, 4, 0}, ricci::cpu());
    A(i, distinct(table)(j(0, 3))) += A(i, table(j + 1)) + at(i, 0, 2 * j);
    A(i, j) = A(table(2), j);
    const double sum = A(i, j) * A(i, j);
    return sum + A(1, 2) + h + int(table(1));
}
