// matrix_problem_operand: an operand of a matrix problem: where its elements lie, in host memory between guards, and
// the positions of the access that says so.
#pragma once

#include "lowering/statement.hpp"
#include "runtime/backend.hpp"
#include "tests/host_memory.hpp"
#include "tests/kernels/matrix_problem.hpp"
#include "tests/kernels/wide_matrix.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace ricci::tests {

/// Of every operand; those that it lacks have extent 1.
enum operand_axis : std::uint8_t { row_axis, column_axis, more_column_axis, batch_axis, more_batch_axis };
inline constexpr std::size_t operand_axes = 5;

/// An axis of an operand that is an index of its access.
struct operand_index {
    operand_axis axis = row_axis;
    std::int32_t label = 0;
    std::int64_t extent = 1, begin = 0; ///< the index runs over [begin, begin + extent)
};

struct operand_position {
    struct term {
        std::int32_t label;
        std::int64_t coefficient;
    };
    std::int64_t extent = 1, stride = 0, constant = 0;
    std::vector<term> terms;
};

/// How an operand's elements lie: the step along each axis, elements from the lowest one that the tensor has.
struct operand_place {
    std::vector<operand_position> positions;
    std::array<std::int64_t, operand_axes> extent{1, 1, 1, 1, 1}, step{};
    std::int64_t data = 0;  ///< of element (0, ..., 0)
    std::int64_t first = 0; ///< where all indices are at their beginnings
    std::int64_t span = 0;
    bool displaced = false; ///< begins a part of a number behind a multiple of 256 bytes
};

/// What a randomly placed operand may do beside.
struct place_freedom {
    bool may_miss_axes = false; ///< one for all along an axis of the batch or the right-hand sides
    bool may_repeat = false;    ///< the same, by a stride of zero
    bool may_overlap = false;   ///< elements of different matrices are the same
};

operand_place place_as(matrix_layout layout, const std::vector<operand_index>& indices);
operand_place place_anywhere(std::mt19937_64& random, std::vector<operand_index> indices, place_freedom may);

class matrix_operand {
  public:
    using number = wide_number;

    /// In memory of its own, or from an element on of another one's.
    matrix_operand(lowering::scalar_type type, operand_place place);
    matrix_operand(lowering::scalar_type type, operand_place place, const matrix_operand& over, std::int64_t from);
    /// Elements that an operand needs behind the first of its memory, to be over which another one is made.
    void reserve(std::int64_t elements);

    lowering::scalar_type type() const { return type_; }
    const operand_place& place() const { return place_; }
    std::int64_t rows() const { return place_.extent[row_axis]; }
    std::int64_t columns() const { return place_.extent[column_axis] * place_.extent[more_column_axis]; }
    host_buffer& memory() const { return *memory_; }
    /// Of element (0, ..., 0), from the memory's beginning.
    std::int64_t data_bytes() const { return (base_ + place_.data) * lowering::size_of(type_); }

    /// Columns and matrices are counted through their two axes, the first fastest.
    std::byte* at(std::int64_t i, std::int64_t j, std::int64_t e) const;
    number get(std::int64_t i, std::int64_t j, std::int64_t e) const;
    void set(std::int64_t i, std::int64_t j, std::int64_t e, number x) const;
    wide_matrix matrix(std::int64_t e, bool conjugated = false) const;
    void set_matrix(std::int64_t e, const wide_matrix& x, bool conjugated = false) const;

  private:
    lowering::scalar_type type_;
    operand_place place_;
    std::int64_t base_ = 0;
    std::shared_ptr<host_buffer> memory_;
};

/// Memory of a device that holds a buffer's bytes, guards and all, while it lives.
class buffer_on_device {
  public:
    buffer_on_device(runtime::backend& b, host_buffer& buffer);
    ~buffer_on_device() { backend_.release(memory_); }
    buffer_on_device(const buffer_on_device&) = delete;
    buffer_on_device& operator=(const buffer_on_device&) = delete;
    std::byte* data() const { return memory_ + ahead_; }
    void fetch() const { backend_.copy_out(whole_.data(), memory_, whole_.size()); }

  private:
    runtime::backend& backend_;
    std::span<std::byte> whole_;
    std::ptrdiff_t ahead_;
    std::byte* memory_;
};

} // namespace ricci::tests
