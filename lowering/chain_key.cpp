// chain_key: what the best block of a chain's kernel depends on.
#include "lowering/chain_key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ricci::lowering {

tuning_key key_of(const chain& c) {
    const auto any = [&](auto has) { return std::ranges::any_of(c.views, has); };
    tuning_key out;
    out.layout = fmt::format("chain {}{}{}{}", name_of(c.compute),
                             any([](const chain_view& v) { return !v.tables.empty(); }) ? ", by tables" : "",
                             any([](const chain_view& v) { return v.adds_atomically; }) ? ", adds atomically" : "",
                             c.constants > 0 ? ", shared factors as constants" : "");
    out.sizes = {1, 1, 1};
    for (const auto& m : c.memories)
        if (m.element_step != 0)
            out.strides += fmt::format("{}{} {}", out.strides.empty() ? "" : ", ", name_of(m.type),
                                       m.is_span ? fmt::format("{}", m.reach) : std::string("apart"));
    for (const auto& ph : c.phases) {
        std::vector<std::int32_t> pencils;
        for (const auto& p : ph.pencils) pencils.push_back(p.is_output ? -p.length : p.length);
        out.strides += fmt::format("; {} by {}, {} of ({})", fmt::join(ph.items, "x"), fmt::join(ph.stream, "x"),
                                   ph.ops.size(), fmt::join(pencils, " "));
        if (ph.call)
            out.strides += fmt::format(" {} {} {}x{} {}{}{}{}", static_cast<int>(ph.call->task),
                                       static_cast<int>(ph.call->method), ph.call->rows, ph.call->columns,
                                       ph.call->sides, ph.call->upper ? " upper" : "", ph.call->unit ? " unit" : "",
                                       ph.call->adjoint ? " adjoint" : "");
    }
    return out;
}

tuning_key key_of(const plan& p, std::size_t step, const machine& chip) {
    const auto& st = p.steps[step];
    return st.chain < 0 ? key_of(st, chip) : key_of(p.chains[static_cast<std::size_t>(st.chain)]);
}

} // namespace ricci::lowering
