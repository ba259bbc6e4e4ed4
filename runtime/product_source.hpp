// product_source: what the preludes and arguments of all kernels for products of two operands have in common.
#pragma once

#include "lowering/batched_layout.hpp"
#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "runtime/kernel_source.hpp"
#include "runtime/prelude.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace ricci::runtime {

/// A request in the making. What derives from it adds its families' constants, calls finish(), sets the launch shape
/// and hands out take_request().
class product_source {
  public:
    /// Writes the constants and packs the arguments that all families share.
    product_source(const lowering::step& st, const lowering::machine& chip);

  protected:
    /// The axes that make up m, n, k or the batch, and how the operands step along them.
    struct axis_group {
        std::vector<std::int64_t> extent;
        std::vector<std::vector<std::int64_t>> stride; ///< one row per operand that has the axes
    };

    /// `threads`: of a block.
    void write_tile(std::int32_t threads);
    /// For the tensor cores.
    void write_fragments(lowering::fragment_load fragments, std::int32_t k_apart, bool columns_apart);
    /// `interleaved`: how many slices take turns at a panel's steps.
    void write_panels(const lowering::panel_layout& layout, std::int64_t interleaved);
    void write_stages(std::int64_t stages, std::int64_t stage_bytes);
    static std::array<std::int32_t, 3> narrow(const std::array<std::int64_t, 3>& values);

    /// Operand o, C (0), X (1) or Y (2), comes in boxes.
    void add_boxes(int o, const lowering::box_layout& layout);
    /// The same by a map of another number.
    void add_boxes(int map, int o, const lowering::box_layout& layout);

    /// Makes the source, of the kernel of this name: all constants are written.
    void finish(std::string_view name);
    /// The request, whose launch shape is known.
    kernel_request take_request();

    const lowering::step& st_;
    const lowering::machine& chip_;
    bool cuda_;
    axis_group m_, n_, k_, batch_;
    std::int64_t products_ = 1;
    std::int32_t first_address_ = 0; ///< among the arguments: of C, X, Y
    std::size_t blocks_word_ = 0; ///< among the arguments: the blocks; a block's share comes next
    prelude shared_text_; ///< the constants that all families share
    prelude text_;
    kernel_request out_;

  private:
    const lowering::operand& at(std::int32_t o) const;
    axis_group group(lowering::axis_class c, std::initializer_list<std::int32_t> operands) const;
    /// Constant below lowering::least_changing_stride, else `argument`.
    std::vector<std::vector<std::int64_t>> constant_strides(const axis_group& g,
                                                            std::initializer_list<std::int32_t> operands) const;
    std::vector<std::int64_t> constant_extents(lowering::axis_class c, const axis_group& g) const;
    /// Whether what a tensor's size decides is left to the arguments, so that one kernel serves many.
    bool serves_many() const { return st_.kernel == lowering::family::gett; }
    void write_shared_constants();
    void pack_arguments();
    int box_maps() const;
    /// Words for how operands lie in boxes, still empty.
    void pack_boxes(argument_packer& pack);
    /// Of C, X or Y.
    const lowering::operand* table_of(int o) const;
    void pack_tables(argument_packer& pack);
};

} // namespace ricci::runtime
