// check_call: what is wrong with a call of a factorization or a solve before its indices are fixed.
#include "lowering/check_call.hpp"

#include "lowering/refuse.hpp"

#include <cstddef>

namespace ricci::lowering {

void check_call(const statement& s) {
    const auto& c = s.call;
    const auto names = operand_names(s);
    for (std::size_t n = 0; n < s.accesses.size(); ++n) {
        const auto& a = s.accesses[n];
        if (a.padded) refuse(s, "{} cannot be padded in a call of {}", names[n], name_of(c.what));
        if (position_of_addresses(s, a) != nullptr)
            refuse(s,
                   "{} lies at addresses of its own for each matrix, which {} has no kernel for: copy the matrices "
                   "to a tensor first",
                   names[n], name_of(c.what));
        for (int p = 0; p < a.position_count; ++p)
            if (position_of(s, a, p).is_gathered())
                refuse(s,
                       "a position of {} is taken from an index table, which {} has no kernel for: copy what it "
                       "finds first, B(i,j,e) = A(i,j,p(e))",
                       names[n], name_of(c.what));
    }
}

} // namespace ricci::lowering
