// quickstart: one statement on a block matrix, checked against plain loops; the first page for a newcomer.
#include <ricci/ricci.hpp>

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

// A(i,j,m,n) is entry (i,j) of block (m,n) of a matrix: 9 x 8 blocks of 64 x 64 each. The statement below is the
// update of a blocked factorization: every block off the first row and column loses the product of the first block of
// its row and the first block of its column.
constexpr int size = 64, rows = 9, columns = 8;

int main() try {
    // The extents stand in the type; the memory is on a GPU if there is one, else on the CPU. First index fastest.
    ricci::tensor<double, size, size, rows, columns> A;
    std::printf("A is a tensor of %d x %d x %d x %d doubles on %s.\n\n", size, size, rows, columns,
                A.device().name().c_str());

    std::mt19937 random(1);
    std::uniform_real_distribution<double> between(-1, 1);
    std::vector<double> before(A.size());
    for (double& x : before) x = between(random);
    A.upload(before);

    // The statement. Indices are objects; i, j, k, m, n are ready made. m(1, 9) runs over [1, 9) wherever m stands.
    // The 0 fixes a position. k stands on the right only, hence it is summed.
    using namespace ricci::indices;
    const auto update = [&] { A(i, j, m(1, 9), n(1, 8)) -= A(i, k, m, 0) * A(k, j, 0, n); };

    // What ricci would make of it: 8 x 7 products of 64 x 64 matrices, which is one batched matrix product. The
    // blocks written and the blocks read are disjoint, which it proves, so that nothing is copied.
    ricci::explain(update);

    // The first run compiles a kernel for exactly these sizes and keeps it, in memory and on disk.
    update();
    const std::vector<double> after = A.download(); // waits for the device

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
    // Two sums of k+1 terms in any two orders differ by at most this, whatever the hardware.
    const double bound = 2 * (size + 1) * std::numeric_limits<double>::epsilon() * largest_sum;
    std::printf("\nLargest difference from plain loops: %.2e; rounding allows %.2e: %s\n", error, bound,
                error <= bound ? "right" : "WRONG");
    return error <= bound ? 0 : 1;
} catch (const ricci::error& error) {
    std::fprintf(stderr, "quickstart: %s\n", error.what());
    return error.blame() == ricci::blame::environment ? 2 : 1;
}
