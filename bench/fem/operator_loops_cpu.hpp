// operator_loops_cpu: the bake-off problems as one writes them by hand for a CPU: sum factorisation over constant
// sizes, an element at a time, or as many as a vector has lanes. Stands behind vectors_cpu.hpp. Constants: real, P
// nodes and Q points along each direction, components, is_mass, is_collocated, is_global.

typedef real lanes __attribute__((vector_size(vector_bytes)));
constexpr long width = vector_bytes / sizeof(real);
constexpr long nodes = P * P * P, points = Q * Q * Q, numbers = is_mass ? 1 : 6;

/// Matrices with their rows fastest, and their transposes.
struct tables {
    real B[Q * P], Bt[P * Q], G[Q * Q], Gt[Q * Q];
    tables(const real* b, const real* g) {
        for (long q = 0; q < Q; ++q) {
            for (long i = 0; i < P; ++i) B[q + Q * i] = Bt[i + P * q] = b[q + Q * i];
            for (long f = 0; f < Q; ++f) G[f + Q * q] = Gt[q + Q * f] = g[f + Q * q];
        }
    }
};

/// out(l,m,r) = or += sum over n of matrix(m,n)*in(l,n,r), l below L and so on. Of one element: the compiler's
/// vectors run along the fastest index.
template <long L, long M, long N, long R, bool Add = false>
inline void along(const real* __restrict matrix, const real* __restrict in, real* __restrict out) {
    if constexpr (L == 1) {
        for (long r = 0; r < R; ++r) {
            real sum[M];
            for (long m = 0; m < M; ++m) sum[m] = Add ? out[m + M * r] : real(0);
            for (long n = 0; n < N; ++n)
                for (long m = 0; m < M; ++m) sum[m] += matrix[m + M * n] * in[n + N * r];
            for (long m = 0; m < M; ++m) out[m + M * r] = sum[m];
        }
    } else {
        for (long r = 0; r < R; ++r)
            for (long m = 0; m < M; ++m) {
                real sum[L];
                for (long l = 0; l < L; ++l) sum[l] = Add ? out[l + L * (m + M * r)] : real(0);
                for (long n = 0; n < N; ++n)
                    for (long l = 0; l < L; ++l) sum[l] += matrix[m + M * n] * in[l + L * (n + N * r)];
                for (long l = 0; l < L; ++l) out[l + L * (m + M * r)] = sum[l];
            }
    }
}

/// The same of as many elements as there are lanes: a line of `in` stays in registers.
template <long L, long M, long N, long R, bool Add = false>
inline void along(const real* __restrict matrix, const lanes* __restrict in, lanes* __restrict out) {
    for (long r = 0; r < R; ++r)
        for (long l = 0; l < L; ++l) {
            lanes x[N];
#pragma GCC unroll 16
            for (long n = 0; n < N; ++n) x[n] = in[l + L * (n + N * r)];
#pragma GCC unroll 16
            for (long m = 0; m < M; ++m) {
                lanes sum = matrix[m] * x[0];
#pragma GCC unroll 16
                for (long n = 1; n < N; ++n) sum += matrix[m + M * n] * x[n];
                lanes& to = out[l + L * (m + M * r)];
                if constexpr (Add)
                    to += sum;
                else
                    to = sum;
            }
        }
}

/// Numbers of an element's points, in memory as they are given.
struct given {
    const real* data;
    real operator()(long n) const { return data[n]; }
};
/// Of the elements of all lanes, loaded where they are wanted.
struct given_in_lanes {
    const real* data;
    lanes operator()(long n) const {
        lanes x;
        for (long lane = 0; lane < width; ++lane) x[lane] = data[n + lane * numbers * points];
        return x;
    }
};
/// Or once for all components.
struct kept {
    const lanes* data;
    lanes operator()(long n) const { return data[n]; }
};

template <class T, class Data>
inline void flux(const Data& s, T* __restrict x, T* __restrict y, T* __restrict z) {
    for (long n = 0; n < points; ++n) {
        const T xy = s(n + points), xz = s(n + 2 * points), yz = s(n + 4 * points);
        const T gx = x[n], gy = y[n], gz = z[n];
        x[n] = s(n) * gx + xy * gy + xz * gz;
        y[n] = xy * gx + s(n + 3 * points) * gy + yz * gz;
        z[n] = xz * gx + yz * gy + s(n + 5 * points) * gz;
    }
}

template <class T, class Data>
inline void gradient_and_back(const tables& by, const Data& s, const T* __restrict w, T* __restrict t) {
    alignas(64) T x[points], y[points], z[points];
    along<1, Q, Q, Q * Q>(by.G, w, x);
    along<Q, Q, Q, Q>(by.G, w, y);
    along<Q * Q, Q, Q, 1>(by.G, w, z);
    flux(s, x, y, z);
    along<1, Q, Q, Q * Q>(by.Gt, x, t);
    along<Q, Q, Q, Q, true>(by.Gt, y, t);
    along<Q * Q, Q, Q, 1, true>(by.Gt, z, t);
}

/// v = A u of one component.
template <class T, class Data>
inline void apply(const tables& by, const Data& s, const T* __restrict u, T* __restrict v) {
    if constexpr (is_collocated) {
        gradient_and_back(by, s, u, v);
    } else {
        alignas(64) T a[Q * P * P], b[Q * Q * P], w[points];
        along<1, Q, P, P * P>(by.B, u, a);
        along<Q, Q, P, P>(by.B, a, b);
        along<Q * Q, Q, P, 1>(by.B, b, w);
        if constexpr (is_mass) {
            for (long n = 0; n < points; ++n) w[n] *= s(n);
            along<Q * Q, P, Q, 1>(by.Bt, w, b);
        } else {
            alignas(64) T t[points];
            gradient_and_back(by, s, w, t);
            along<Q * Q, P, Q, 1>(by.Bt, t, b);
        }
        along<Q, P, Q, P>(by.Bt, b, a);
        along<1, P, Q, P * P>(by.Bt, a, v);
    }
}

/// The operands. `numbers_of`: of the nodes of each element; `all`: nodes of a global vector.
struct call {
    const real *data, *in;
    real* out;
    const int* numbers_of;
    long all;

    const real* data_of(long e) const { return data + e * numbers * points; }
    long node(long e, long m) const { return (e * components + m) * nodes; }

    void load(long e, long m, real* __restrict u) const {
        for (long n = 0; n < nodes; ++n)
            u[n] = is_global ? in[numbers_of[e * nodes + n] + m * all] : in[node(e, m) + n];
    }
    void store(long e, long m, const real* __restrict v) const {
        for (long n = 0; n < nodes; ++n)
            if (is_global)
                out[numbers_of[e * nodes + n] + m * all] += v[n];
            else
                out[node(e, m) + n] = v[n];
    }
    void load(long e, long m, lanes* __restrict u) const {
        for (long n = 0; n < nodes; ++n)
            for (long lane = 0; lane < width; ++lane)
                u[n][lane] = is_global ? in[numbers_of[(e + lane) * nodes + n] + m * all] : in[node(e + lane, m) + n];
    }
    void store(long e, long m, const lanes* __restrict v) const {
        for (long lane = 0; lane < width; ++lane) // each to its end, since elements side by side share nodes
            for (long n = 0; n < nodes; ++n)
                if (is_global)
                    out[numbers_of[(e + lane) * nodes + n] + m * all] += v[n][lane];
                else
                    out[node(e + lane, m) + n] = v[n][lane];
    }
};

inline void one_by_one(const tables& by, const call& c, long first, long last) {
    alignas(64) real u[nodes], v[nodes];
    for (long e = first; e < last; ++e)
        for (long m = 0; m < components; ++m) {
            if constexpr (is_global) {
                c.load(e, m, u);
                apply(by, given{c.data_of(e)}, u, v);
                c.store(e, m, v);
            } else {
                apply(by, given{c.data_of(e)}, c.in + c.node(e, m), c.out + c.node(e, m));
            }
        }
}

inline void by_lanes(const tables& by, const call& c, long first, long last) {
    alignas(64) lanes u[nodes], v[nodes];
    long e = first;
    for (; e + width <= last; e += width) {
        const given_in_lanes data{c.data_of(e)};
        alignas(64) lanes once[components > 1 ? numbers * points : 1];
        if constexpr (components > 1)
            for (long n = 0; n < numbers * points; ++n) once[n] = data(n);
        for (long m = 0; m < components; ++m) {
            c.load(e, m, u);
            if constexpr (components > 1)
                apply(by, kept{once}, u, v);
            else
                apply(by, data, u, v);
            c.store(e, m, v);
        }
    }
    one_by_one(by, c, e, last);
}

/// Elements [first, last); of global vectors layers of elements, of which only every second one runs at a time, since
/// the next one adds to the same nodes. Words: B, G, S, the vectors, the table, the elements of a layer, the first
/// layer, the nodes of a global vector.
template <void f(const tables&, const call&, long, long)>
void run(const unsigned long* words, long first, long last) {
    const tables by(reinterpret_cast<const real*>(words[0]), reinterpret_cast<const real*>(words[1]));
    const call c{reinterpret_cast<const real*>(words[2]), reinterpret_cast<const real*>(words[3]),
                 reinterpret_cast<real*>(words[4]), reinterpret_cast<const int*>(words[5]),
                 static_cast<long>(words[8])};
    if constexpr (!is_global) {
        f(by, c, first, last);
    } else {
        const long layer = static_cast<long>(words[6]), parity = static_cast<long>(words[7]);
        for (long n = first; n < last; ++n) f(by, c, (2 * n + parity) * layer, (2 * n + parity + 1) * layer);
    }
}

extern "C" void native_functions(const unsigned long* words, long, long) {
    auto* const all = reinterpret_cast<void (**)(const unsigned long*, long, long)>(words[0]);
    all[0] = run<one_by_one>, all[1] = run<by_lanes>;
}
