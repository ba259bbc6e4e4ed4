// graph_test: warm statements captured into a CUDA graph replay right, temporaries and library calls included.
#include "ricci.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/gpu.hpp"

TEST_CASE("captured statements replay") {
    using namespace ricci::indices;
    const auto gpu = ricci::cuda(0);
    ricci::tensor<double, 8, 8, 100> A(gpu), B(gpu), C(gpu);
    ricci::tensor<double, 200, 200> P(gpu), Q(gpu), R(gpu);
    ricci::tensor<double, 5000, 3> T(gpu);
    ricci::tensor<double, 3, 3> S(gpu);
    ricci::tensor<float, 200000, 32> U(gpu), V(gpu); // whose boxes the kernel is told of at each launch
    ricci::tensor<float, 32, 32> W(gpu);
    const auto body = [&] {
        for (int n = 0; n < 4; ++n) {
            C(i, j, e) += A(i, k, e) * B(k, j, e);
            A(i, j, e) = A(j, i, e) + 1.0; // through a temporary
            R(i, j) += P(i, k) * Q(k, j);  // cuBLAS, where there is one
            S(i, j) += T(k, i) * T(k, j);
            T(k, i) = 0.5 * T(k, i);
            V(i, j) = U(i, k) * W(k, j);
            W(i, j) = 1e-5f * V(k, i) * V(k, j);
        }
    };
    const auto start = [&] {
        A.fill(1), B.fill(2), C.fill(0), P.fill(1), Q.fill(1), R.fill(0), T.fill(1), S.fill(0);
        U.fill(0.01f), W.fill(1);
    };
    start();
    body();
    const auto c = C.download(), r = R.download(), s = S.download();
    const auto w = W.download();

    const ricci::test::stream stream;
    ricci::set_stream(gpu, stream);
    start();
    ricci::synchronize(gpu);
    stream.begin_capture();
    body();
    const ricci::test::graph replay(stream.end_capture());
    start();
    replay.launch(stream);
    CHECK(C.download() == c);
    CHECK(R.download() == r);
    CHECK(S.download() == s);
    CHECK(W.download() == w);
    start();
    replay.launch(stream);
    replay.launch(stream);
    CHECK(R(0, 0) == 2 * r[0]);
    ricci::set_stream(gpu, nullptr);
}
