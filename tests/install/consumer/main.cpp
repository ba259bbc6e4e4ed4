// consumer: a product of two small matrices; exits 1 where it is wrong.
#include <ricci/ricci.hpp>
#include <runtime/half.hpp>

#include <cstdio>
#include <vector>

int main() {
    using namespace ricci::indices;
    ricci::tensor<double, 2, 3> A;
    ricci::tensor<double, 3, ricci::dyn> B(2);
    ricci::tensor<double, 2, 2> C;
    A.upload(std::vector<double>{1, 2, 3, 4, 5, 6}); // columns (1 2), (3 4), (5 6)
    B.upload(std::vector<double>{1, 0, 2, 0, 1, 1});
    C(i, j) = A(i, k) * B(k, j);
    const std::vector<double> expected{11, 14, 8, static_cast<double>(half_of(20))};
    const bool right = C.download() == expected;
    std::printf("%s on %s\n", right ? "right" : "WRONG", C.device().name().c_str());
    return right ? 0 : 1;
}
