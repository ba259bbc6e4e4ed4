// bits_worker: adds through tables with equal entries on the CPU, and multiplies tall matrices, with as many threads
// as RICCI_NUM_THREADS says, and prints the bits of what comes out.
#include "ricci.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

/// Without order: neighbors add to elements far apart, some often.
std::vector<int> scrambled(std::int64_t count, int below) {
    std::vector<int> out;
    std::uint64_t x = 1;
    for (std::int64_t n = 0; n < count; ++n) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        out.push_back(static_cast<int>(x >> 33) % (n % 3 == 0 ? 5 : below));
    }
    return out;
}

/// Bits of products of tall matrices, whose columns and whose rows lie one behind another.
template <class T>
std::vector<T> tall_products(const std::vector<float>& numbers) {
    using namespace ricci::indices;
    std::vector<T> all;
    for (const std::int64_t rows : {4099, 30011})
        for (const std::int64_t width : {3, 8, 17}) {
            ricci::tensor<T, ricci::dyn, ricci::dyn> A(rows, width, ricci::cpu()), X(width, rows, ricci::cpu()),
                C(width, width, ricci::cpu()), D(width, width, ricci::cpu());
            const std::vector<T> values(numbers.begin(), numbers.begin() + rows * width);
            A.upload(values), X.upload(values);
            C(i, j) = A(k, i) * A(k, j);
            D(i, j) = X(i, k) * A(k, j);
            for (const auto& some : {C.download(), D.download()}) all.insert(all.end(), some.begin(), some.end());
        }
    return all;
}

/// Of numbers that hold no other bits than their own.
template <class Bits, class T>
void add_bits(const std::vector<T>& all, std::uint64_t& bits) {
    for (const T x : all) {
        Bits here = 0;
        std::memcpy(&here, &x, sizeof here);
        bits = bits * 0x9e3779b97f4a7c15u + here;
    }
}

} // namespace

int main() try {
    using namespace ricci::indices;
    const std::int64_t elements = 60000;
    ricci::tensor<float, 9, ricci::dyn> w(elements, ricci::cpu());
    ricci::tensor<float, ricci::dyn> v(20000, ricci::cpu());
    ricci::tensor<float, 3, ricci::dyn> u(20000, ricci::cpu());
    ricci::tensor<int, 9, ricci::dyn> l(elements, ricci::cpu());
    l.upload(scrambled(9 * elements, 20000));
    std::vector<float> numbers;
    for (std::int64_t n = 0; n < 9 * elements; ++n) numbers.push_back(1.0f / static_cast<float>(n % 977 + 1));
    w.upload(numbers);
    v(l(i, e)) += w(i, e);
    v(l(i, e)) -= 0.1 * w(i, e) * w(0, e);
    u(c, l(i, e)) += w(i, e) * w(c(0, 3), e);
    std::uint64_t bits = 0;
    add_bits<std::uint32_t>(v.download(), bits);
    add_bits<std::uint32_t>(u.download(), bits);
    add_bits<std::uint32_t>(tall_products<float>(numbers), bits);
    add_bits<std::uint64_t>(tall_products<double>(numbers), bits);
    std::printf("%llx\n", static_cast<unsigned long long>(bits));
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
}
