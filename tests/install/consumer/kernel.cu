// kernel: a user's own CUDA kernel beside ricci's statements in one file.
#include <ricci/ricci.hpp>

__global__ void scale(double* x, double factor, long n) {
    const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
    if (i < n) x[i] *= factor;
}

void product(ricci::tensor<double, ricci::dyn, ricci::dyn>& C,
             const ricci::tensor<double, ricci::dyn, ricci::dyn>& A) {
    using namespace ricci::indices;
    C(i, j) += 2 * A(i, k) * A(j, k);
    scale<<<static_cast<unsigned>((C.size() + 255) / 256), 256>>>(C.data(), 0.5, static_cast<long>(C.size()));
}
