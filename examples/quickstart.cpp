// quickstart: a matrix product, then one statement on a block matrix, checked against plain loops; the first page for
// a newcomer.
#include <ricci/ricci.hpp>

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

// Indices are objects; i, j, k, m, n are ready made.
using namespace ricci::indices;

namespace {

/// The product of two small matrices; false if it is wrong.
bool multiply() {
    // The extents stand in the type; the memory is on a GPU if there is one, else on the CPU. First index fastest.
    ricci::tensor<double, 2, 3> A;
    ricci::tensor<double, 3, 2> B;
    ricci::tensor<double, 2, 2> C;
    A.upload(std::vector<double>{1, 2, 3, 4, 5, 6}); // its columns are (1,2), (3,4) and (5,6)
    B.upload(std::vector<double>{1, 2, 3, 4, 5, 6}); // (1,2,3) and (4,5,6)

    // k stands on the right only, hence it is summed. The first run compiles a kernel for exactly these sizes and
    // keeps it, in memory and on disk.
    C(i, j) = A(i, k) * B(k, j);

    const std::vector<double> c = C.download(); // waits for the device
    std::printf("C(i,j) = A(i,k)*B(k,j) of a 2 x 3 and a 3 x 2 matrix:\n  %g %g\n  %g %g\n\n", c[0], c[2], c[1],
                c[3]);
    return c == std::vector<double>{22, 28, 49, 64};
}

// A(i,j,m,n) is entry (i,j) of block (m,n) of a matrix: 9 x 8 blocks of 64 x 64 each.
constexpr int size = 64, rows = 9, columns = 8;

/// The update of a blocked factorization: every block off the first row and column loses the product of the first
/// block of its row and the first block of its column. False if it is wrong.
bool update_blocks() {
    ricci::tensor<double, size, size, rows, columns> A;
    std::printf("A is a tensor of %d x %d x %d x %d doubles on %s.\n\n", size, size, rows, columns,
                A.device().name().c_str());

    std::mt19937 random(1);
    std::uniform_real_distribution<double> between(-1, 1);
    std::vector<double> before(A.size());
    for (double& x : before) x = between(random);
    A.upload(before);

    // m(1, 9) runs over [1, 9) wherever m stands. The 0 fixes a position.
    const auto update = [&] { A(i, j, m(1, 9), n(1, 8)) -= A(i, k, m, 0) * A(k, j, 0, n); };

    // What ricci would make of it: 8 x 7 products of 64 x 64 matrices, which is one batched matrix product. The
    // blocks written and the blocks read are disjoint, which it proves, so that nothing is copied.
    ricci::explain(update);

    update();
    const std::vector<double> after = A.download();

    // The same by plain loops.
    const auto at = [](int i, int j, int m, int n) { return i + size * (j + size * (m + rows * n)); };
    double error = 0, largest_sum = 0;
    for (int n = 0; n < columns; ++n)
        for (int m = 0; m < rows; ++m)
            for (int j = 0; j < size; ++j)
                for (int i = 0; i < size; ++i) {
                    double expected = before[at(i, j, m, n)], sum = std::abs(expected);
                    for (int k = 0; k < size && m > 0 && n > 0; ++k) {
                        const double product = before[at(i, k, m, 0)] * before[at(k, j, 0, n)];
                        expected -= product;
                        sum += std::abs(product);
                    }
                    error = std::fmax(error, std::abs(after[at(i, j, m, n)] - expected));
                    largest_sum = std::fmax(largest_sum, sum);
                }
    // Rounding: two sums of the same size + 1 terms, in any two orders, differ by at most this.
    const double bound = 2 * (size + 1) * std::numeric_limits<double>::epsilon() * largest_sum;
    std::printf("\nLargest difference from plain loops: %.2e; rounding allows %.2e: %s\n", error, bound,
                error <= bound ? "right" : "WRONG");
    return error <= bound;
}

} // namespace

int main() try {
    const bool product = multiply(), blocks = update_blocks();
    if (!product) std::printf("The small product is WRONG\n");
    return product && blocks ? 0 : 1;
} catch (const ricci::error& error) {
    std::fprintf(stderr, "quickstart: %s\n", error.what());
    return error.blame() == ricci::blame::environment ? 2 : 1;
}
