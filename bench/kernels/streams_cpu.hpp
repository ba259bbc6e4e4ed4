// streams_cpu: the triad and reading alone, in the widest vectors; blocks are numbered pages of 512 doubles. Plain
// stores, as a compiler writes them. Stands behind vectors_cpu.hpp.

typedef double numbers __attribute__((vector_size(vector_bytes), aligned(8), may_alias));
constexpr long lanes = vector_bytes / 8, page = 512;

/// z = x + 3*y over `words[3]` doubles.
inline void stream_triad(const unsigned long* words, long first, long last) {
    auto* const z = reinterpret_cast<double*>(words[0]);
    const auto* const x = reinterpret_cast<const double*>(words[1]);
    const auto* const y = reinterpret_cast<const double*>(words[2]);
    const auto count = static_cast<long>(words[3]);
    const long end = last * page < count ? last * page : count;
    long n = first * page;
#pragma GCC unroll 4
    for (; n + lanes <= end; n += lanes)
        *reinterpret_cast<numbers*>(z + n) =
            *reinterpret_cast<const numbers*>(x + n) + 3 * *reinterpret_cast<const numbers*>(y + n);
    for (; n < end; ++n) z[n] = x[n] + 3 * y[n];
}

/// Reads `words[1]` doubles, in four places at a time: what fetches ahead does more for several streams than for one.
inline void stream_read(const unsigned long* words, long first, long last) {
    const auto* const x = reinterpret_cast<const double*>(words[0]);
    const auto count = static_cast<long>(words[1]);
    const long begin = first * page, end = last * page < count ? last * page : count;
    const long part = (end - begin) / (4 * lanes) * lanes;
    numbers sum[4] = {};
    for (long n = begin; n < begin + part; n += lanes)
#pragma GCC unroll 4
        for (int stream = 0; stream < 4; ++stream)
            sum[stream] += *reinterpret_cast<const numbers*>(x + n + stream * part);
    double rest = 0;
    for (long n = begin + 4 * part; n < end; ++n) rest += x[n];
    volatile double kept = (sum[0] + sum[1] + sum[2] + sum[3])[0] + rest; // the loads stay
    (void)kept;
}

extern "C" void native_functions(const unsigned long* words, long, long) {
    auto* const all = reinterpret_cast<void (**)(const unsigned long*, long, long)>(words[0]);
    all[0] = stream_triad, all[1] = stream_read;
}
