// kernel_source_chain: the prelude of a chain's kernel: its phases as tables. See kernels/chain_tables.hpp.
#include "lowering/chain_call_work.hpp"
#include "lowering/chain_layout.hpp"
#include "lowering/chain_shape.hpp"
#include "runtime/kernel_source_families.hpp"
#include "runtime/prelude.hpp"

#include <algorithm>
#include <vector>

namespace ricci::runtime {
namespace {

using namespace lowering;

using row = std::vector<std::int64_t>;

class chain_writer {
  public:
    chain_writer(const chain& c, const machine& chip)
        : c_(c), chip_(chip), is_gpu_(chip.kind == target::cuda),
          layout_(is_gpu_ ? shared_layout_of(c) : vector_layout_of(c, chain_lanes(c, chip), chip)) {
        for (const auto& v : c.views) axes_ = std::max({axes_, v.item.size(), v.stream.size(), v.inner.size()});
        for (const auto& m : c.matrices) axes_ = std::max({axes_, m.stream.size(), m.inner.size()});
        for (const auto& p : c.phases) axes_ = std::max({axes_, p.items.size(), p.stream.size()});
        for (const auto& a : c.additions) axes_ = std::max(axes_, a.extent.size());
    }

    kernel_request request() {
        text_.constant("chain_axes", static_cast<std::int64_t>(axes_));
        text_.constant("compute_type", static_cast<std::int64_t>(c_.compute));
        write_memories();
        write_views();
        write_matrices();
        write_phases();
        write_calls();
        if (is_gpu_) {
            text_.constant("threads_per_block", c_.threads);
            text_.constant("elements_of_block", c_.elements_of_block);
            text_.constant("blocks_of_processor", c_.blocks_of_processor);
            text_.constant("blocks_at_once", std::int64_t{c_.blocks_of_processor} * chip_.processors);
            write_first_phases();
            const auto waits = waits_of(c_);
            list("phase_waits", waits.size(), [&](auto n) { return waits[n]; });
        } else {
            list("span_plane", c_.memories.size(), [&](auto n) { return layout_.span_plane[n]; });
            list("memory_is_shared", c_.memories.size(), [&](auto n) { return c_.memories[n].element_step == 0; });
            write_additions();
            text_.constant("simd_bytes", chip_.vector_bytes);
            text_.constant("block_bytes", std::max<std::int64_t>(layout_.bytes, 64));
        }
        out_.source = complete_source(text_.text(), is_gpu_ ? "chain.cuh" : "chain_cpu.hpp");
        out_.entry = "ricci_chain";
        pack();
        set_shape();
        return std::move(out_);
    }

  private:
    template <class Of>
    void list(std::string_view name, std::size_t count, const Of& of) {
        std::vector<std::int32_t> values;
        for (std::size_t n = 0; n < count; ++n) values.push_back(static_cast<std::int32_t>(of(n)));
        text_.list(name, values);
    }
    template <class Of>
    void wide_list(std::string_view name, std::size_t count, const Of& of) {
        row values;
        for (std::size_t n = 0; n < count; ++n) values.push_back(of(n));
        text_.wide_list(name, values);
    }
    /// Rows of the same length, filled up.
    template <class Of>
    void strides(std::string_view name, std::size_t count, const Of& of) {
        text_.wide_table(name, filled(count, of, 0));
    }
    template <class Of>
    void extents(std::string_view name, std::size_t count, const Of& of) {
        text_.table(name, filled(count, of, 1));
    }
    template <class Of>
    std::vector<row> filled(std::size_t count, const Of& of, std::int64_t with) const {
        std::vector<row> rows;
        for (std::size_t n = 0; n < count; ++n) {
            rows.push_back(of(n));
            rows.back().resize(axes_, with);
        }
        if (rows.empty()) rows.emplace_back(axes_, with);
        return rows;
    }

    void write_memories() {
        const auto& all = c_.memories;
        const auto count = all.size();
        text_.constant("memory_count", static_cast<std::int64_t>(count));
        list("memory_type", count, [&](auto n) { return static_cast<std::int32_t>(all[n].type); });
        list("memory_is_span", count, [&](auto n) { return all[n].is_span; });
        list("memory_is_read", count, [&](auto n) { return all[n].is_read; });
        list("memory_is_written", count, [&](auto n) { return all[n].is_written; });
        // Of others it may belong to how many elements there are.
        list("memory_step", count, [&](auto n) { return all[n].is_span ? all[n].element_step : 0; });
        list("memory_reach", count, [&](auto n) { return all[n].reach; });
        list("span_region", count, [&](auto n) { return layout_.span_region[n]; });
        list("slot_region", c_.slots.size(), [&](auto n) { return layout_.slot_region[n]; });
        list("slot_step", c_.slots.size(), [&](auto n) { return layout_.slot_step[n]; });
    }

    void write_first_phases() {
        std::vector<std::int32_t> first(c_.memories.size(), static_cast<std::int32_t>(c_.phases.size()));
        for (const auto& v : c_.views)
            if (v.where == chain_view::space::memory) {
                auto& of_memory = first[static_cast<std::size_t>(v.number)];
                of_memory = std::min(of_memory, v.phase);
            }
        text_.list("memory_first_phase", first);
    }

    void write_views() {
        const auto& all = c_.views;
        const auto count = all.size();
        const auto memory_of = [&](std::size_t n) -> const chain_memory& {
            return c_.memories[static_cast<std::size_t>(all[n].number)];
        };
        const auto is_slot = [&](std::size_t n) { return all[n].where == chain_view::space::slot; };
        text_.constant("view_count", static_cast<std::int64_t>(count));
        list("view_phase", count, [&](auto n) { return all[n].phase; });
        // The numbers of chain_space.
        list("view_space", count, [&](auto n) { return is_slot(n) ? 1 : memory_of(n).is_span ? 2 : 0; });
        list("view_number", count, [&](auto n) { return all[n].number; });
        list("view_type", count,
             [&](auto n) { return static_cast<std::int32_t>(is_slot(n) ? c_.compute : memory_of(n).type); });
        list("view_conjugated", count, [&](auto n) { return all[n].conjugated; });
        list("view_adds_atomically", count, [&](auto n) { return all[n].adds_atomically; });
        std::vector<std::int32_t> first_tables;
        std::vector<chain_gather> tables;
        for (const auto& v : all) {
            first_tables.push_back(static_cast<std::int32_t>(tables.size()));
            tables.insert(tables.end(), v.tables.begin(), v.tables.end());
        }
        text_.list("view_first_table", first_tables);
        list("view_tables", count, [&](auto n) { return all[n].tables.size(); });
        list("table_view", tables.size(), [&](auto n) { return tables[n].view; });
        wide_list("table_stride", tables.size(), [&](auto n) { return tables[n].stride; });
        const auto plane_of = [&](std::size_t n) {
            return (is_slot(n) ? layout_.slot_plane : layout_.span_plane)[static_cast<std::size_t>(all[n].number)];
        };
        const auto in_place = [&](row of, std::size_t n) {
            for (auto& stride : of) stride = stride_in_planes(stride, plane_of(n));
            return of;
        };
        wide_list("view_offset", count, [&](auto n) { return in_planes(all[n].offset, plane_of(n)); });
        strides("view_item", count, [&](auto n) { return in_place(all[n].item, n); });
        strides("view_stream", count, [&](auto n) { return in_place(all[n].stream, n); });
        strides("view_inner", count, [&](auto n) { return in_place(all[n].inner, n); });
        extents("view_inner_extent", count, [&](auto n) { return all[n].inner_extent; });
    }

    void write_matrices() {
        const auto& all = c_.matrices;
        const auto count = all.size();
        text_.constant("matrix_count", static_cast<std::int64_t>(count));
        list("matrix_memory", count, [&](auto n) { return all[n].memory; });
        list("matrix_view", count, [&](auto n) { return all[n].view; });
        list("matrix_conjugated", count, [&](auto n) { return all[n].conjugated; });
        list("matrix_pitch", count, [&](auto n) { return layout_.matrix_pitch[n]; });
        list("matrix_region", count, [&](auto n) { return layout_.matrix_region[n]; });
        if (is_gpu_) text_.constant("constant_count", c_.constants);
        list("matrix_constant", count, [&](auto n) { return constant_of(all[n]); });
        wide_list("matrix_offset", count, [&](auto n) { return all[n].offset; });
        strides("matrix_stream", count, [&](auto n) { return all[n].stream; });
        strides("matrix_inner", count, [&](auto n) { return all[n].inner; });
        extents("matrix_stream_extent", count, [&](auto n) { return all[n].stream_extent; });
        extents("matrix_inner_extent", count, [&](auto n) { return all[n].inner_extent; });
    }

    std::int64_t constant_of(const chain_matrix& m) const {
        if (m.memory < 0) return -1;
        const auto& memory = c_.memories[static_cast<std::size_t>(m.memory)];
        return memory.constant < 0 ? -1 : memory.constant + m.offset - memory.constant_first;
    }

    bool has_constants(const chain_phase& ph) const {
        return std::any_of(ph.ops.begin(), ph.ops.end(), [&](const chain_op& op) {
            return op.matrix >= 0 && constant_of(c_.matrices[static_cast<std::size_t>(op.matrix)]) >= 0;
        });
    }

    void write_phases() {
        const auto& all = c_.phases;
        const auto count = all.size();
        text_.constant("phase_count", static_cast<std::int64_t>(count));
        extents("phase_item_extent", count, [&](auto n) { return all[n].items; });
        extents("phase_stream_extent", count, [&](auto n) { return all[n].stream; });
        list("phase_pencils", count, [&](auto n) { return all[n].pencils.size(); });
        list("phase_ops", count, [&](auto n) { return all[n].ops.size(); });
        list("phase_unrolled", count, [&](auto n) { return all[n].unrolled; });
        list("phase_is_written_out", count, [&](auto n) { return has_constants(all[n]); });
        list("phase_values", count, [&](auto n) { return all[n].values; });
        std::vector<std::int32_t> first_pencils, first_ops, numbers, begins;
        std::vector<chain_pencil> pencils;
        std::vector<chain_op> ops;
        for (const auto& phase : all) {
            first_pencils.push_back(static_cast<std::int32_t>(pencils.size()));
            first_ops.push_back(static_cast<std::int32_t>(ops.size()));
            std::int32_t next = 0;
            for (const auto& q : phase.pencils) begins.push_back(next), next += q.length, pencils.push_back(q);
            numbers.push_back(next);
            for (auto op : phase.ops) {
                if (op.pencil >= 0) op.pencil += first_pencils.back();
                if (op.kind == chain_op::what::scalar) scalars_ = std::max(scalars_, op.a + 1);
                ops.push_back(op);
            }
        }
        text_.constant("scalar_count", scalars_);
        text_.list("phase_first_pencil", first_pencils);
        text_.list("phase_first_op", first_ops);
        text_.list("phase_pencil_numbers", numbers);
        text_.list("pencil_begin", begins);
        list("pencil_view", pencils.size(), [&](auto n) { return pencils[n].view; });
        list("pencil_length", pencils.size(), [&](auto n) { return pencils[n].length; });
        list("pencil_is_output", pencils.size(), [&](auto n) { return pencils[n].is_output; });
        list("pencil_accumulation", pencils.size(), [&](auto n) { return pencils[n].accumulation; });
        list("op_kind", ops.size(), [&](auto n) { return static_cast<std::int32_t>(ops[n].kind); });
        list("op_function", ops.size(), [&](auto n) { return static_cast<std::int32_t>(ops[n].function); });
        list("op_result", ops.size(), [&](auto n) { return ops[n].result; });
        list("op_a", ops.size(), [&](auto n) { return ops[n].a; });
        list("op_b", ops.size(), [&](auto n) { return ops[n].b; });
        list("op_view", ops.size(), [&](auto n) { return ops[n].view; });
        list("op_pencil", ops.size(), [&](auto n) { return ops[n].pencil; });
        list("op_matrix", ops.size(), [&](auto n) { return ops[n].matrix; });
        list("op_accumulation", ops.size(), [&](auto n) { return ops[n].accumulation; });
    }

    void write_calls() {
        std::vector<std::int32_t> of_phase;
        std::vector<chain_call> all;
        for (const auto& ph : c_.phases) {
            of_phase.push_back(ph.call ? static_cast<std::int32_t>(all.size()) : -1);
            if (ph.call) all.push_back(*ph.call);
        }
        const auto count = all.size();
        text_.constant("call_count", static_cast<std::int64_t>(count));
        text_.list("phase_call", of_phase);
        list("call_factors", count, [&](auto n) { return all[n].task == matrix_task::factor; });
        list("call_method", count, [&](auto n) { return static_cast<std::int32_t>(all[n].method); });
        list("call_keeps_factors", count, [&](auto n) { return all[n].keeps_factors; });
        list("call_upper", count, [&](auto n) { return all[n].upper; });
        list("call_unit", count, [&](auto n) { return all[n].unit; });
        list("call_of_adjoint", count, [&](auto n) { return all[n].adjoint; });
        list("call_rows", count, [&](auto n) { return all[n].rows; });
        list("call_columns", count, [&](auto n) { return all[n].columns; });
        list("call_sides", count, [&](auto n) { return all[n].sides; });
        list("call_lanes", count, [&](auto n) { return is_gpu_ ? lanes_of(all[n]) : 1; });
        std::vector<row> views;
        for (const auto& call : all) views.emplace_back(call.view.begin(), call.view.end());
        if (views.empty()) views.emplace_back(matrix_roles, -1);
        text_.table("call_view", views);
        list("call_matrix", count, [&](auto n) { return all[n].matrix; });
        list("call_right", count, [&](auto n) { return all[n].right; });
    }

    void write_additions() {
        const auto& all = c_.additions;
        const auto count = all.size();
        std::vector<std::int32_t> first_tables;
        std::vector<chain_addition::table> tables;
        for (const auto& a : all) {
            first_tables.push_back(static_cast<std::int32_t>(tables.size()));
            tables.insert(tables.end(), a.tables.begin(), a.tables.end());
        }
        text_.constant("addition_count", static_cast<std::int64_t>(count));
        list("addition_from", count, [&](auto n) { return all[n].from; });
        list("addition_to", count, [&](auto n) { return all[n].to; });
        list("addition_subtracts", count, [&](auto n) { return all[n].subtracts; });
        list("addition_offset", count, [&](auto n) { return all[n].offset; });
        list("addition_axes", count, [&](auto n) { return all[n].extent.size(); });
        extents("addition_extent", count, [&](auto n) { return all[n].extent; });
        strides("addition_from_stride", count, [&](auto n) { return all[n].from_stride; });
        strides("addition_to_stride", count, [&](auto n) { return all[n].to_stride; });
        text_.list("addition_first_table", first_tables);
        list("addition_tables", count, [&](auto n) { return all[n].tables.size(); });
        list("addition_table_memory", tables.size(), [&](auto n) { return tables[n].memory; });
        wide_list("addition_table_factor", tables.size(), [&](auto n) { return tables[n].factor; });
        strides("addition_table_stride", tables.size(), [&](auto n) { return tables[n].stride; });
    }

    void pack() {
        argument_packer pack(out_);
        row steps;
        for (const auto& m : c_.memories) {
            if (m.constant >= 0) {
                const auto bytes = size_of(m.type);
                out_.constants.push_back({static_cast<std::int32_t>(out_.words.size()), m.constant_first * bytes,
                                          m.constant * bytes, m.constant_count * bytes});
            }
            pack.patch(argument_patch::value::address, m.source, m.offset * size_of(m.type));
            steps.push_back(m.element_step);
        }
        pack.numbers(steps);
        pack.number(c_.elements);
        for (std::int32_t s = 0; s < scalars_; ++s) {
            pack.patch(argument_patch::value::scalar_real, s);
            pack.patch(argument_patch::value::scalar_imaginary, s);
        }
        if (scalars_ == 0) pack.number(0), pack.number(0);
        if (!is_gpu_) pack.patch(argument_patch::value::adds_at_once, 0);
    }

    void set_shape() {
        const std::int64_t each = is_gpu_ ? c_.elements_of_block : chain_lanes(c_, chip_);
        out_.shape.grid = (c_.elements + each - 1) / each;
        if (is_gpu_) {
            out_.shape.threads = c_.threads;
            out_.shape.shared_bytes = static_cast<int>(layout_.bytes);
            out_.shape.starts_early = out_.constants.empty(); // which are there when all before it has ended
        } else {
            const auto seconds = chain_seconds(c_, chip_) - chip_.launch_seconds;
            out_.shape.seconds_per_block = seconds * chip_.processors / static_cast<double>(out_.shape.grid);
        }
    }

    const chain& c_;
    const machine& chip_;
    const bool is_gpu_;
    const chain_layout layout_;
    std::size_t axes_ = 1;
    std::int32_t scalars_ = 0;
    prelude text_;
    kernel_request out_;
};

} // namespace

kernel_request make_chain(const chain& c, const machine& chip) { return chain_writer(c, chip).request(); }

} // namespace ricci::runtime
