// copy_engine: an emulated block's asynchronous copies and the barriers they complete on (cp.async, cp.async.bulk,
// mbarrier).
//
// A copy is made as late as possible, when a thread waits for it: a kernel that does not wait reads poison, and one
// that changes shared memory before a store has read it stores the change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <vector>

namespace ricci::tests {

class copy_engine {
  public:
    /// Forgets everything: a new block. Copies leave `shared` or go there only, `bytes` long.
    void reset(const void* shared, std::size_t bytes);

    // What each throws ricci::error for would hang, trap or be undefined on a GPU.
    void start_barrier(const void* barrier, int arrivals);
    void end_barrier(const void* barrier);
    void arrive(const void* barrier, int bytes);
    void load(void* in_shared, const void* global, int bytes, const void* barrier);
    /// Made at once or when it is waited for.
    void store(std::size_t thread, void* global, const void* in_shared, int bytes, std::mt19937_64& random);
    /// Boxes of a matrix: kernels/ptx_box.cuh.
    using place = std::array<std::int64_t, 3>; ///< in the matrix: element, line, plane
    void load_box(void* in_shared, const unsigned long long* map, const place& first, const void* barrier);
    void store_box(std::size_t thread, const unsigned long long* map, const place& first, const void* in_shared,
                   std::mt19937_64& random);
    void finish_stores(std::size_t thread, int pending);
    void copy_async(std::size_t thread, void* in_shared, const void* global, int bytes, int valid);
    void commit(std::size_t thread);
    void wait(std::size_t thread, int pending);

    /// Whether the phase of this parity has ended; makes one waiting copy, if there is one.
    bool has_ended(const void* barrier, int parity, std::mt19937_64& random);
    /// Throws if a store was not waited for.
    void check_finished() const;

  private:
    struct phase {
        int arrivals = 0, missing = 0;
        std::int64_t bytes = 0;
        int parity = 0;
    };
    /// The rest of `bytes` becomes zero.
    struct small_copy {
        void* to;
        const void* from;
        int bytes, valid;
    };
    struct copy {
        std::vector<small_copy> pieces;
        int bytes;
        const void* barrier;
        std::size_t thread;
    };
    struct thread_copies {
        std::vector<small_copy> open;
        std::deque<std::vector<small_copy>> groups;
    };
    phase& at(const void* barrier);
    void check(const void* global, const void* in_shared, int bytes) const;
    static void end_if_complete(phase& p);
    static void make(const std::vector<small_copy>& pieces);
    /// f(in the matrix, in shared memory, bytes, those of them that exist) for each 16 bytes of a box.
    template <class F>
    void each_piece(const unsigned long long* map, const place& first, const void* in_shared, const F& f) const;

    void start_storing(copy what, std::mt19937_64& random);

    std::map<const void*, phase> barriers_;
    std::vector<copy> loads_, stores_;
    std::map<std::size_t, thread_copies> small_copies_;
    const std::byte* shared_ = nullptr;
    std::size_t shared_bytes_ = 0;
};

} // namespace ricci::tests
