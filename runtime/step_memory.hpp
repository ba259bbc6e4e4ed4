// step_memory: memory of its own for the operands of one kernel's steps, so that it can be tried without touching
// anybody's data.
#pragma once

#include "lowering/plan.hpp"
#include "lowering/statement.hpp"
#include "runtime/backend.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace ricci::runtime {

/// What a kernel writes into one piece of memory.
struct step_output {
    lowering::scalar_type type{};
    std::vector<std::byte> bytes;
    bool operator==(const step_output&) const = default;
};

/// Several sets of operands filled with random numbers in [-1, 1]. Operands of one tensor share memory, as in the
/// statement; each begins at the same address modulo 256 as there. The entries of index tables are spread over all
/// they may be, each as often as any other. Of steps that work on matrices the operands hold what matrix_numbers
/// says, the same in each set; of a chain's that do what chain_numbers says.
class step_memory {
  public:
    /// As many sets as take `least_bytes` together, at most 64. Throws ricci::error (environment) when there is not
    /// enough memory.
    step_memory(backend& b, const lowering::step& st, const lowering::statement& s, std::size_t least_bytes);

    /// Of the steps of one chain of a plan, all of whose outputs count; the entries of index tables rise, as those of
    /// a mesh's neighboring elements mostly do.
    step_memory(backend& b, const lowering::plan& p, std::int32_t chain, const lowering::statement& s,
                std::size_t least_bytes);

    int sets() const { return static_cast<int>(sets_.size()); }
    std::size_t bytes() const { return bytes_; }

    /// Element (0, ..., 0) of a source, in one of the sets.
    void* address(int set, std::int32_t source) const;

    /// Whether a launch overwrites what the next one on the same set reads, so that it has less or nothing to do: a
    /// factorization, or a solution in the place of what is given, also as a part of a chain.
    bool is_used_up() const { return used_up_; }

    /// Writes the first numbers of the outputs again, and what shares their memory.
    void refill_outputs(int set);

    /// The outputs' memory in a set, each from its first element to its last, or of a long one the beginning and the
    /// end.
    std::vector<step_output> outputs(int set) const;

  private:
    struct release_to {
        backend* owner;
        void operator()(void* memory) const { owner->release(memory); }
    };
    struct region {
        lowering::scalar_type type{};
        const void* data = nullptr;       ///< in the statement; null: a temporary
        std::int64_t first = 0, last = 0; ///< elements from there
        std::size_t misalignment = 0;     ///< of the first, bytes
        std::int64_t entries_below = 0;   ///< of an index table: its entries are in [0, this)
        std::size_t target = 0;           ///< of addresses: the region that they are in,
        std::int64_t matrix_bytes = 0;    ///< so far apart
        bool is_positive = false;         ///< numbers in [1/4, 1], real ones
        std::size_t bytes() const { return static_cast<std::size_t>((last - first + 1) * lowering::size_of(type)); }
    };
    using memory = std::unique_ptr<void, release_to>;
    using set = std::vector<memory>; ///< one a region

    enum class table_order : std::uint8_t { spread, rising };

    /// `outside`: of a chain's step, the sources that its kernel reads or writes; null: it does all of the step's.
    void add_regions(const lowering::step& st, const lowering::statement& s,
                     const std::set<std::int32_t>* outside = nullptr);
    void make_sets(std::size_t least_bytes);
    std::size_t region_of(std::int32_t source) const { return region_of_source_.at(source); }
    std::byte* begin(const set& of, std::size_t r) const;
    void add_region(const lowering::step& st, const lowering::operand& o, const lowering::statement& s);
    void fill(const set& of, std::size_t r);
    void add_output(std::int32_t source);
    bool is_output(std::int32_t source) const;
    /// What their operands in the roles matrix and vector hold, in all sets, if those are in memory.
    void write_matrices(std::span<const lowering::step> steps);
    /// For refill_outputs.
    void keep_outputs();
    std::vector<std::byte> table_of(const set& of, std::size_t r) const;

    backend& backend_;
    table_order order_ = table_order::spread;
    std::vector<std::size_t> outputs_; ///< their regions
    bool used_up_ = false;
    std::map<std::size_t, memory> fresh_; ///< of steps that work on matrices: what the outputs' regions hold at first
    std::vector<region> regions_;
    std::map<std::int32_t, std::size_t> region_of_source_;
    std::set<std::int32_t> by_address_; ///< sources whose data is null
    std::map<std::size_t, std::vector<std::byte>> blocks_; ///< what a region begins with
    std::vector<set> sets_;
    std::size_t bytes_ = 0;
};

} // namespace ricci::runtime
