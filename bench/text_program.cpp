// text_program: binds statements to operands, and to locals or memory between them.
#include "bench/text_program.hpp"

#include <ricci/runtime/backend.hpp>
#include <ricci/runtime/run.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ricci::bench {

text_operand dense(std::string name, lowering::scalar_type type, std::vector<std::int64_t> extents) {
    text_operand o;
    o.name = std::move(name), o.type = type, o.extents = std::move(extents);
    std::int64_t stride = 1;
    for (const std::int64_t extent : o.extents) o.strides.push_back(stride), stride *= extent;
    return o;
}

std::int64_t elements_of(const text_operand& o) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : o.extents) elements *= extent;
    return elements;
}

std::vector<lowering::statement> bind_program(const text_program& p, const std::vector<void*>& operands,
                                              const std::vector<void*>& intermediates, device where) {
    std::vector<text_operand> all = p.operands;
    for (std::size_t n = 0; n < all.size(); ++n) all[n].data = operands[n];
    std::vector<std::int32_t> locals;
    for (std::size_t n = 0; n < p.intermediates.size(); ++n) {
        all.push_back(p.intermediates[n]);
        all.back().data = intermediates.empty() ? nullptr : intermediates[n];
        locals.push_back(intermediates.empty() ? runtime::new_local() : lowering::no_local);
    }
    for (text_operand& o : all) o.device = where.code();
    std::vector<lowering::statement> bound;
    for (const text_statement& s : p.statements) {
        bound.push_back(bind_text(s, all));
        for (lowering::access& a : bound.back().accesses)
            for (std::size_t n = 0; n < locals.size(); ++n)
                if (a.name == p.intermediates[n].name) a.local = locals[n];
    }
    return bound;
}

intermediate_memory::intermediate_memory(const text_program& p, device where) {
    constexpr std::int64_t alignment = 512;
    std::int64_t bytes = 0;
    std::vector<std::int64_t> begins;
    for (const text_operand& o : p.intermediates) {
        begins.push_back(bytes);
        bytes += (elements_of(o) * lowering::size_of(o.type) + alignment - 1) / alignment * alignment;
    }
    memory_ = device_memory(where, static_cast<std::size_t>(std::max(bytes, alignment)));
    // Now, so that pages are found before anything is timed, ricci's workspace too.
    runtime::backend_of(where).zero(memory_.data(), memory_.bytes());
    for (const std::int64_t begin : begins) addresses_.push_back(memory_.data() + begin);
}

} // namespace ricci::bench
