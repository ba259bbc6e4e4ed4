// try_text: from any bytes to a plan.
#include "tests/text/try_text.hpp"

#include "dsl/text.hpp"
#include "lowering/lower.hpp"

#include <algorithm>
#include <random>

namespace ricci::tests {

namespace {

text_operand make_operand(const lowering::access& a, std::minstd_rand& random) {
    constexpr std::int64_t extents[] = {4, 4, 4, 4, 9, 8, 3, 1, 0, 1000, std::int64_t{1} << 40};
    text_operand o;
    o.name = a.name;
    o.type = static_cast<lowering::scalar_type>(random() % lowering::scalar_type_count);
    if (random() % 2) o.type = lowering::scalar_type::f64;
    std::int64_t stride = 1;
    const bool equal = random() % 2; // else hardly any two extents agree
    for (std::int32_t i = 0; i < a.position_count; ++i) {
        o.extents.push_back(equal ? 4 : extents[random() % std::size(extents)]);
        o.strides.push_back(stride);
        if (__builtin_mul_overflow(stride, std::max<std::int64_t>(o.extents.back(), 1), &stride)) stride = 1;
    }
    o.data = reinterpret_cast<void*>(std::uintptr_t{4096} * (1 + random() % 1000)); // never read
    return o;
}

} // namespace

reached try_text(std::string_view text, std::uint32_t seed) {
    std::minstd_rand random(seed + 1);
    reached far = reached::refused_text;
    try {
        auto statements = parse_text(text);
        if (statements.size() > 20) statements.resize(20); // a long program takes long and shows nothing new
        std::vector<text_operand> operands;
        const auto known = [&](std::string_view name) {
            return std::any_of(operands.begin(), operands.end(), [&](const auto& o) { return o.name == name; });
        };
        for (auto& s : statements) {
            far = reached::refused_operands;
            const auto& accesses = s.unbound.accesses;
            for (std::size_t n = 1; n < accesses.size(); ++n)
                if (!known(accesses[n].name)) operands.push_back(make_operand(accesses[n], random));
            if (!known(s.left())) {
                operands.push_back(random() % 2 ? create_left(s, operands) : make_operand(accesses[0], random));
                operands.back().data = reinterpret_cast<void*>(std::uintptr_t{1} << 46);
            }
            const auto bound = bind_text(s, operands);
            far = reached::refused_lowering;
            static_cast<void>(lowering::lower(bound, lowering::machine()));
        }
        return reached::planned;
    } catch (const error&) {
        return far;
    }
}

} // namespace ricci::tests
