// cpu_backend: memory and kernels of the host; the blocks of a kernel are spread over threads.
#include "lowering/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/blas.hpp"
#include "runtime/cpu_features.hpp"
#include "runtime/cpu_machine.hpp"
#include "runtime/cpu_memory.hpp"
#include "runtime/cpu_threads.hpp"
#include "runtime/environment.hpp"
#include "runtime/host_compiler.hpp"
#include "runtime/shared_object.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace ricci::runtime {

namespace {

lowering::machine describe(int threads, const host_compiler& compiler) {
    auto m = cpu_machine(cpu_vector_features(), threads);
    // 0 where the C library does not know them
    const long l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE), ways = sysconf(_SC_LEVEL1_DCACHE_ASSOC),
               l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (l1 > 0) m.shared_bytes = l1;
    if (l1 > 0 && ways > 0) m.l1_way_bytes = l1 / ways;
    if (l2 > 0) m.l2_bytes = l2;
    m.model = cpu_model();
    m.has_blas = has_blas();
    m.has_compiler = compiler.found();
    return m;
}

class cpu_backend : public backend {
  public:
    cpu_backend() : machine_(describe(threads_.count(), compiler_)) {
        if (variable("RICCI_NUM_THREADS") != nullptr) set_blas_threads(threads_.count());
        if (!compiler_.found())
            fmt::print(stderr,
                       "ricci: {}: statements on the CPU run by the slow reference kernels "
                       "(install g++ or clang++, or set RICCI_CXX)\n",
                       compiler_.missing());
    }

    const lowering::machine& machine() const override { return machine_; }
    compiler& jit() override { return compiler_; }

    kernel_handle load(const std::string& code, const std::string& entry) override {
        return load_function(code, entry);
    }

    void launch(kernel_handle kernel, const launch_shape& shape, std::span<const std::uint64_t> words) override {
        if (shape.grid <= 0) return;
        const auto function = reinterpret_cast<cpu_kernel>(kernel);
        if (in_slice_ || !threads_.run_if_worth(function, words.data(), shape.grid, shape.seconds_per_block))
            function(words.data(), 0, shape.grid);
    }

    void run_slices(std::int64_t count, const slice_work& work) override {
        const auto run = [](const std::uint64_t* words, std::int64_t first, std::int64_t last) {
            const auto& some = *reinterpret_cast<const slice_work*>(words[0]);
            struct mark {
                mark() { in_slice_ = true; }
                ~mark() { in_slice_ = false; } // work may throw
            } const here;
            for (auto s = first; s < last; ++s) some.run(some.context, s);
        };
        const std::uint64_t words[] = {reinterpret_cast<std::uintptr_t>(&work)};
        if (!threads_.run_if_worth(run, words, count, work.seconds)) backend::run_slices(count, work);
    }

    void gemm(const gemm_problem& g) override {
        const auto at = [&](const gemm_operand& o, std::int64_t product) {
            return static_cast<const char*>(o.data) + product * o.stride * lowering::size_of(o.type);
        };
        for (std::int64_t p = 0; p < g.count; ++p)
            if (!blas_gemm(g.compute, g.a.transpose, g.b.transpose, g.m, g.n, g.k, g.alpha, at(g.a, p), g.a.leading,
                           at(g.b, p), g.b.leading, g.beta, const_cast<char*>(at(g.c, p)), g.c.leading))
                throw error("the BLAS cannot take this product", blame::environment);
    }

    void* allocate(std::size_t bytes) override { return placed(take_host_memory(bytes), bytes); }
    void* allocate_zeroed(std::size_t bytes) override { return placed(take_zeroed_host_memory(bytes), bytes); }
    void release(void* memory) noexcept override { release_host_memory(memory); }

    void zero(void* memory, std::size_t bytes) override {
        if (bytes) std::memset(memory, 0, bytes);
    }
    void copy_in(void* target, const void* host, std::size_t bytes) override { copy_within(target, host, bytes); }
    void copy_out(void* host, const void* source, std::size_t bytes) override { copy_within(host, source, bytes); }
    void copy_within(void* target, const void* source, std::size_t bytes) override {
        if (bytes) std::memmove(target, source, bytes);
    }
    void synchronize() override {}

  private:
    /// Each node's part of large memory at that node.
    void* placed(void* memory, std::size_t bytes) {
        if (bytes >= huge_from) threads_.touch(memory, bytes);
        return memory;
    }

    static inline thread_local bool in_slice_ = false; ///< this thread's launches are its own

    host_compiler compiler_;
    cpu_threads threads_;
    lowering::machine machine_;
};

} // namespace

std::unique_ptr<backend> make_cpu_backend() { return std::make_unique<cpu_backend>(); }

} // namespace ricci::runtime
