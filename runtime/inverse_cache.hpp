// inverse_cache: the inverses of tables, built once and kept as long as the tables hold what they did.
//
// A table that is a ricci::tensor is known to be unchanged by its content_version, which every write through ricci
// changes. Of any other memory, and of a tensor whose data() was given out to write through, a fingerprint of the
// entries is computed at each use. While a stream is captured neither is possible: what is kept is taken.
#pragma once

#include "lowering/plan.hpp"
#include "lowering/scatter_shape.hpp"
#include "lowering/statement.hpp"
#include "runtime/backend.hpp"
#include "runtime/statement_key.hpp"
#include "runtime/table_inverse.hpp"

#include <memory>
#include <vector>

namespace ricci::runtime {

/// What a step adds through tables.
struct scatter_use {
    lowering::scatter_shape shape;
    std::vector<lowering::table_check> checks; ///< of its tables' entries, made before an inverse is built
    key_words structure;                       ///< of the shape, for finding inverses

    explicit scatter_use(lowering::scatter_shape of) : shape(std::move(of)) { write_structure(); }

  private:
    void write_structure();
};

/// The inverse of the tables that `s` has for such a step. Throws ricci::error for an entry that is no position, and
/// where a stream is captured for which none is kept. Takes nothing from the heap where the tables are unchanged.
std::shared_ptr<const table_inverse> inverse_of(const scatter_use& use, const lowering::statement& s, device d,
                                                backend& b);

/// Those of a table at `memory`, which is released.
void forget_inverses(device d, const void* memory) noexcept;

/// How many have been built; for tests.
std::int64_t inverses_built();

} // namespace ricci::runtime
