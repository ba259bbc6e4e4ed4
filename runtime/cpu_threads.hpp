// cpu_threads: runs the blocks of a CPU kernel on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ricci::runtime {

/// A CPU kernel: runs blocks [first, last) with the arguments `words`.
using cpu_kernel = void (*)(const std::uint64_t* words, std::int64_t first, std::int64_t last);

/// Seconds of work from which on threads are woken: two gain then, when they have slept since the last statement
/// (oneTBB 2021.8 on a 2-core EPYC: waking and joining costs 15 to 25 us then, under 1 us in a row of statements).
inline constexpr double worth_threads = 50e-6;
inline constexpr double worth_a_task = 10e-6; ///< seconds of work that a thread takes at a time
/// The same where threads wait for work without sleeping: handing it over and joining costs 0.7 us then (2-core Xeon;
/// by oneTBB 1.2 us in a row), and a part is worth it from some microseconds on.
inline constexpr double worth_ready_threads = 6e-6, worth_a_ready_part = 3e-6;
/// Statements so close behind each other make threads wait for the next one, and so long do they: a sleeping thread
/// may take longer to wake (2.9 ms on a virtual machine of two cores, which wakes it where the caller is at work).
inline constexpr double in_a_row = 1e-3, waiting_seconds = 1e-3;

/// Processors that share a part of memory which is nearer to them than to others.
struct numa_node {
    int processors = 1;
    std::vector<int> numbers{}; ///< the system's, of these; none: its threads run wherever they happen to
};

/// Of this machine, those that the process may use.
std::vector<numa_node> numa_nodes();

/// oneTBB's workers are shared by all of the process: a program whose own threads run statements, or that uses oneTBB
/// itself, gets no second pool beside its own, and no more threads than processors. Where memory is divided among
/// nodes, so are blocks: each node's threads run one row of them, in proportion to the threads' number, and `touch`
/// places memory alike.
class cpu_threads {
  public:
    /// As many as RICCI_NUM_THREADS says, at most the processors of all nodes, which is the default; as even over the
    /// nodes as can be.
    explicit cpu_threads(const std::vector<numa_node>& nodes = numa_nodes());
    ~cpu_threads();

    int count() const { return count_; }
    /// Returns when all of [0, grid) has run, in tasks of about `blocks_a_task`.
    void run(cpu_kernel kernel, const std::uint64_t* words, std::int64_t grid, std::int64_t blocks_a_task);
    /// The same, in tasks worth it; false, with nothing done, where one thread is enough. Of a single node, threads
    /// stay ready for a while where little work comes often.
    bool run_if_worth(cpu_kernel kernel, const std::uint64_t* words, std::int64_t grid, double seconds_of_one);
    /// Places fresh memory (its pages lie at the node whose thread first writes to them) as `run` divides blocks that
    /// go through it evenly. Writes a zero to each page; nothing where there is one node.
    void touch(void* memory, std::size_t bytes);

  private:
    struct arena;
    bool run_on_ready(cpu_kernel kernel, const std::uint64_t* words, std::int64_t grid, double seconds);

    int count_;
    std::unique_ptr<arena> arena_;
};

} // namespace ricci::runtime
