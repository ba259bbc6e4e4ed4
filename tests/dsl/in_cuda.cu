// in_cuda: the umbrella header in a file that nvcc compiles, beside a kernel.
#include <ricci/ricci.hpp>

using namespace ricci::indices;
using namespace ricci::literals;

__global__ void twice(double* x) { x[threadIdx.x] *= 2; }

double statements(ricci::view<const float, 4> D, ricci::view<float, 4> O) {
    ricci::tensor<double, 64, 64, 9, 8> A;
    auto T = ricci::make_tensor<ricci::half>(64_c, 64_c, 12);
    const ricci::index<"el"> el;
    A(i, j, m(1, 9), n(1, 8)) -= A(i, k, m, 0) * A(k, j, 0, n);
    O(b, k, y, x) = relu(padded(D)(b, k, y + 1, 2 * x - 1) + 0.5);
    T(i, j, el) += min(T(j, i, el), 3);
    twice<<<1, 64>>>(A.data());
    auto program = ricci::record([&] {
        ricci::local<double, 64> t;
        t(i) = A(i, i, 0, 0);
        A(i, 0, 0, 0) = t(i);
    });
    program();
    ricci::tensor<std::int32_t, 9> p;
    ricci::pointer_view<float, 2> at(nullptr, {64, 0});
    A(i, j, distinct(p)(e), n) = A(i, j, p(e), n(0, 3)) + at(i, n);
    const double sum = A(i, j, m, n) * A(i, j, m, n);
    return sum + A(1, 2, 3, 4);
}
