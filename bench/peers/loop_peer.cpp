// loop_peer: three plain loops over constant sizes, left to the compiler: ijk and ikj.
#include "bench/native_code.hpp"
#include "bench/peers/compiled_product.hpp"

#include <fmt/format.h>

#include <utility>

namespace ricci::bench {

namespace {

/// C^T = B^T*A^T.
product transposed(const product& p) {
    product out = p;
    std::swap(out.m, out.n);
    std::swap(out.a, out.b);
    std::swap(out.a_conjugated, out.b_conjugated);
    for (matrix* x : {&out.a, &out.b, &out.c}) std::swap(x->row_stride, x->column_stride);
    return out;
}

class loop_peer : public peer {
  public:
    explicit loop_peer(std::string order) : order_(std::move(order)) { require_native_compiler(); }

    std::string version() const override {
        return fmt::format("three loops over constant sizes, {} -O3 for this machine", native_compiler());
    }

    std::vector<contender> contenders(const product& p, std::span<const operand_set> sets) override {
        if (!is_compilable(p)) return {};
        const bool by_column = p.c.row_stride == 1;
        const std::string constants = constants_of(by_column ? transposed(p) : p);
        const auto functions = native_functions(native_source(constants, {"product_cpu.hpp", "loops_cpu.hpp"}), 2);
        return {compiled_contender(order_, "", functions[order_ == "ijk" ? 0 : 1], by_column, p, sets)};
    }

  private:
    std::string order_;
};

} // namespace

std::unique_ptr<peer> make_loop_peer(const std::string& order) { return std::make_unique<loop_peer>(order); }

} // namespace ricci::bench
