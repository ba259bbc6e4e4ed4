// statement_key: all of a statement that its plan depends on, as words to hash and compare.
#pragma once

#include "lowering/statement.hpp"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace ricci::runtime {

using key_words = std::vector<std::uint64_t>;

struct key_hash {
    std::size_t operator()(const key_words& key) const {
        return std::hash<std::string_view>()(
            {reinterpret_cast<const char*>(key.data()), key.size() * sizeof(std::uint64_t)});
    }
};

/// Replaces `key` by the structure of `s`: device, types, positions, ranges, the tree, and for each operand whether
/// it is disjoint from the left or how many bytes apart. Pointers, scalars and names are left out. Takes no memory
/// once `key` has grown.
void write_key(const lowering::statement& s, key_words& key);

/// Appends the structure of `s` to `key` instead of replacing it.
void append_key(const lowering::statement& s, key_words& key);

/// The same without extents, strides and ranges: statements that differ in sizes only.
void write_shapeless_key(const lowering::statement& s, key_words& key);

} // namespace ricci::runtime
