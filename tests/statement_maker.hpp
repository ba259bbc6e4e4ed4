// statement_maker: builds a lowering::statement by hand, for tests.
#pragma once

#include "lowering/statement.hpp"

#include <initializer_list>
#include <string_view>
#include <vector>

namespace ricci::tests {

/// A position to be: the sum of the terms plus the offset, on an axis of `extent` elements, `stride` apart.
struct place {
    std::int64_t extent, stride;
    std::vector<lowering::affine_term> terms;
    std::int64_t offset = 0;
};

/// The first access made is the left side. Node functions return node numbers; the last node made is the right side.
class statement_maker {
  public:
    lowering::statement s;

    std::int32_t index(std::string_view name, std::int64_t begin = lowering::no_range,
                       std::int64_t end = lowering::no_range) {
        s.labels.push_back({lowering::intern(name), begin, end});
        return static_cast<std::int32_t>(s.labels.size()) - 1;
    }

    /// Returns the access's number, not a node.
    std::int32_t operand(const void* data, lowering::scalar_type type, const std::vector<place>& places,
                         bool padded = false) {
        lowering::access a;
        a.data = const_cast<void*>(data);
        a.type = type;
        a.padded = padded;
        a.first_position = static_cast<std::int32_t>(s.positions.size());
        a.position_count = static_cast<std::int32_t>(places.size());
        for (const place& p : places) {
            s.positions.push_back({p.extent, p.stride, p.offset, static_cast<std::int32_t>(s.terms.size()),
                                   static_cast<std::int32_t>(p.terms.size())});
            s.terms.insert(s.terms.end(), p.terms.begin(), p.terms.end());
        }
        s.accesses.push_back(a);
        return static_cast<std::int32_t>(s.accesses.size()) - 1;
    }

    /// An operand of the right side, as a node.
    std::int32_t read(const void* data, lowering::scalar_type type, const std::vector<place>& places,
                      bool padded = false) {
        return s.add(lowering::operation::access, operand(data, type, places, padded));
    }

    std::int32_t number(double real, double imaginary = 0, bool complex = false) {
        s.scalars.push_back({real, imaginary, complex});
        return s.add(lowering::operation::scalar, static_cast<std::int32_t>(s.scalars.size()) - 1);
    }
};

} // namespace ricci::tests
