// gpu_tools: the bench's own kernels on a GPU, compiled at run time as ricci's are.
#include "bench/device_tools.hpp"

#include "bench/element_walk.hpp"
#include "bench/kernels/embedded.hpp"

#include <ricci/runtime/kernel_cache.hpp>
#include <ricci/runtime/prelude.hpp>

#include <fmt/format.h>

#include <array>
#include <bit>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ricci::bench {

namespace {

using runtime::kernel_handle;
using runtime::prelude;

/// How many threads a block has and how many 16-byte chunks each of them moves.
struct streaming_shape {
    int threads, chunks;
    int blocks_an_sm; ///< 0: a block for every threads*chunks chunks
};
constexpr std::array<streaming_shape, 9> triad_shapes{{{256, 1, 0},
                                                       {256, 2, 0},
                                                       {256, 4, 0},
                                                       {128, 1, 0},
                                                       {128, 2, 0},
                                                       {512, 1, 0},
                                                       {512, 2, 0},
                                                       {1024, 1, 0},
                                                       {1024, 2, 0}}};
constexpr std::array<streaming_shape, 8> read_shapes{
    {{256, 4, 0}, {256, 8, 0}, {512, 4, 0}, {512, 8, 0}, {256, 4, 8}, {512, 4, 4}, {512, 8, 4}, {1024, 4, 2}}};

constexpr int fill_threads = 256, values_a_thread = 16, plain_threads = 256, check_threads = 256; // as in the kernels
constexpr double most_multiplications = 8e9; ///< of a check of long sums
constexpr std::int64_t long_sum = 1024;      ///< from here on a block checks an element
constexpr double clocks_a_second = 1.8e9;    ///< about that of today's GPUs; only delay() needs it

std::int64_t blocks_for(std::int64_t items, std::int64_t items_a_block) { return (items - 1) / items_a_block + 1; }

class words {
  public:
    words& number(std::int64_t value) {
        all_.push_back(static_cast<std::uint64_t>(value));
        return *this;
    }
    words& real(double value) {
        all_.push_back(std::bit_cast<std::uint64_t>(value));
        return *this;
    }
    words& address(const void* at) {
        all_.push_back(reinterpret_cast<std::uintptr_t>(at));
        return *this;
    }
    std::span<const std::uint64_t> get() const { return all_; }

  private:
    std::vector<std::uint64_t> all_;
};

class gpu_tools : public device_tools {
  public:
    explicit gpu_tools(device where) : where_(where), backend_(runtime::backend_of(where)) {}

    void fill(lowering::scalar_type type, void* data, std::int64_t count, const random_numbers& numbers) override {
        if (count == 0) return;
        prelude constants;
        constants.constant("element_type", static_cast<int>(lowering::real_of(type)));
        const std::int64_t values = count * (lowering::is_complex(type) ? 2 : 1);
        words w;
        w.address(data).number(values).number(static_cast<std::int64_t>(numbers.seed)).number(numbers.digits);
        w.real(numbers.scale);
        launch(kernel(constants, {"random_value.hpp", "random_fill.cuh"}, "bench_random_fill"),
               blocks_for(values, fill_threads * values_a_thread), fill_threads, w);
    }

    void triad(void* z, const void* x, const void* y, std::int64_t bytes, int kind) override {
        const auto& shape = triad_shapes.at(static_cast<std::size_t>(kind));
        words w;
        w.address(z).address(x).address(y).number(bytes / 16);
        launch(streaming_kernel("triad.cuh", "bench_triad", shape),
               blocks_for(bytes / 16, std::int64_t{shape.threads} * shape.chunks), shape.threads, w);
    }
    int triad_kinds() const override { return static_cast<int>(triad_shapes.size()); }

    void read(const void* x, std::int64_t bytes, int kind) override {
        const auto& shape = read_shapes.at(static_cast<std::size_t>(kind));
        const std::int64_t all = blocks_for(bytes / 16, std::int64_t{shape.threads} * shape.chunks);
        const std::int64_t blocks =
            shape.blocks_an_sm == 0 ? all
                                    : std::min<std::int64_t>(all, backend_.machine().processors * shape.blocks_an_sm);
        words w;
        w.address(x).address(x).number(bytes / 16).number(blocks); // nothing is ever written to the result
        launch(streaming_kernel("read.cuh", "bench_read", shape), blocks, shape.threads, w);
    }
    int read_kinds() const override { return static_cast<int>(read_shapes.size()); }

    void delay(double seconds) override {
        words w;
        w.number(static_cast<std::int64_t>(seconds * clocks_a_second));
        launch(kernel({}, {"delay.cuh"}, "bench_delay"), 1, 1, w);
    }

    std::function<void()> plain(const product& p, const operand_set& operands) override {
        words w;
        const std::int64_t elements = write_operands(w, p, operands);
        const kernel_handle handle =
            kernel(types_of(p), {"product_operands.cuh", "plain_product.cuh"}, "bench_plain_product");
        return [this, handle, elements, w] { launch(handle, blocks_for(elements, plain_threads), plain_threads, w); };
    }

    findings check(const product& p, const operand_set& operands, const random_numbers& old) override {
        struct device_findings {
            std::uint64_t wrong = 0, first = std::numeric_limits<std::uint64_t>::max();
            double worst = 0;
        } found;
        const error_bound bound = bound_of(p);
        const bool teams = p.k >= long_sum;
        const std::int64_t all = walk_of(p).elements;
        const double work = static_cast<double>(all) * static_cast<double>(p.k) / most_multiplications;
        const std::int64_t every =
            teams && work > 1 ? static_cast<std::int64_t>(work) | 1 : 1; // odd: every row and column
        const std::int64_t checked = (all - 1) / every + 1;
        prelude constants = types_of(p);
        constants.constant("team_threads", teams ? check_threads : 1);
        const kernel_handle handle =
            kernel(constants, {"random_value.hpp", "product_operands.cuh", "check_product.cuh"},
                   "bench_check_product", true);

        void* const memory = runtime::allocate(where_, sizeof found, false);
        try {
            runtime::copy(where_, memory, cpu(), &found, sizeof found);
            words w;
            const std::int64_t elements = write_operands(w, p, operands);
            const std::int64_t blocks = teams ? checked : blocks_for(elements, check_threads);
            w.address(memory).number(static_cast<std::int64_t>(old.seed)).number(old.digits).real(old.scale);
            w.real(bound.sum).real(bound.last).number(blocks).number(every);
            // Shared memory: block_sum's, a complex double for each warp.
            launch(handle, blocks, check_threads, w, check_threads / 32 * 16);
            runtime::copy(cpu(), &found, where_, memory, sizeof found);
        } catch (...) {
            runtime::release(where_, memory);
            throw;
        }
        runtime::release(where_, memory);
        return {found.worst, static_cast<std::int64_t>(found.wrong),
                found.wrong == 0 ? -1 : static_cast<std::int64_t>(found.first), checked};
    }

  private:
    /// `constants`, then scalar.hpp (reduce.cuh where sums are shared), then files of bench/kernels.
    kernel_handle kernel(const prelude& constants, std::initializer_list<std::string_view> files, const char* entry,
                         bool reduces = false) {
        kernel_handle& known = kernels_[constants.text() + entry];
        if (known) return known;
        std::string source = runtime::complete_source(constants.text(), reduces ? "reduce.cuh" : "scalar.hpp");
        for (const auto file : files) source += source_file(file);
        for (auto at = source.find("#pragma once"); at != source.npos; at = source.find("#pragma once"))
            source.erase(at, std::string_view("#pragma once").size());
        return known = runtime::cached_kernel(backend_, source, entry);
    }

    kernel_handle streaming_kernel(std::string_view file, const char* entry, const streaming_shape& shape) {
        prelude constants;
        constants.constant("threads", shape.threads);
        constants.constant("chunks_a_thread", shape.chunks);
        return kernel(constants, {file}, entry);
    }

    static prelude types_of(const product& p) {
        prelude constants;
        constants.constant("a_type", static_cast<int>(p.a.type));
        constants.constant("b_type", static_cast<int>(p.b.type));
        constants.constant("c_type", static_cast<int>(p.c.type));
        constants.constant("compute_type", static_cast<int>(compute_type(p)));
        constants.flag("a_conjugated", p.a_conjugated);
        constants.flag("b_conjugated", p.b_conjugated);
        constants.flag("accumulate", p.accumulate);
        constants.flag("gathered", p.places != nullptr);
        constants.flag("fits_32_bits", walk_of(p).elements <= std::numeric_limits<std::int32_t>::max());
        return constants;
    }

    /// product_operands.cuh's struct; the number of C's elements.
    static std::int64_t write_operands(words& w, const product& p, const operand_set& operands) {
        const element_walk walk = walk_of(p);
        w.address(operands.c).address(operands.a).address(operands.b);
        w.number(p.k).number(p.a.column_stride).number(p.b.row_stride);
        for (const auto extent : walk.extent) w.number(extent);
        for (const auto& of_operand : walk.stride)
            for (const auto stride : of_operand) w.number(stride);
        w.number(walk.elements).address(operands.table).number(walk.batch);
        return walk.elements;
    }

    void launch(kernel_handle handle, std::int64_t blocks, int threads, const words& w, int shared_bytes = 0) {
        backend_.launch(handle, {blocks, threads, shared_bytes}, w.get());
    }

    device where_;
    runtime::backend& backend_;
    /// By constants and entry: the cache's own key is a hash of the whole source, which takes longer than a launch.
    std::unordered_map<std::string, kernel_handle> kernels_;
};

} // namespace

std::unique_ptr<device_tools> make_gpu_tools(device where) { return std::make_unique<gpu_tools>(where); }

} // namespace ricci::bench
