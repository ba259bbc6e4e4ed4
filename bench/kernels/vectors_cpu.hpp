// vectors_cpu: the widest vectors of the machine that compiles this, and how many of them it holds in registers.

#if defined(__AVX512F__)
constexpr int vector_bytes = 64, vector_registers = 32;
#elif defined(__AVX__)
constexpr int vector_bytes = 32, vector_registers = 16;
#elif defined(__ARM_NEON) || defined(__VSX__)
constexpr int vector_bytes = 16, vector_registers = 32;
#else
constexpr int vector_bytes = 16, vector_registers = 16;
#endif
