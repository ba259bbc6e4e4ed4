// find_winograd: which statements of a program are a convolution by minimal filtering, and become one step or three.
#pragma once

#include "lowering/join_statements.hpp"
#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "lowering/winograd_apart.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ricci::lowering {

/// Three statements, of which the first two write locals that nothing else reads,
///
///     V(u,v,c,x...) = Bt(u,p)*Bt(v,q)*D(...)           in one or two directions, D in any position affine
///     M(u,v,k,x...) = U(u,v,k,c)*V(u,v,c,x...)
///     O(...)        = tree with one At(a,u)*At(e,v)*M(u,v,k,x...), summed over u and v
///
/// as one step of family::winograd, or as three, which run in the last one's place. The sources of the one's operands
/// are the accesses of the statements that `statement_of` names for each; it has neither tile nor workspace yet.
struct found_winograd {
    std::size_t inputs = 0, product = 0, outputs = 0; ///< the statements
    step convolution;
    std::vector<std::size_t> statement_of; ///< by operand
    std::optional<winograd_apart> apart;
};

/// Whether a step is such a one, or one of three.
inline bool is_of_convolution(const step& st) {
    return st.kernel == family::winograd || st.kernel == family::tile_transform;
}

/// In a GPU's programs, where its kernel can run them: see kernels/winograd.cuh. `locals`, `shared`: of all accesses,
/// as lower_program has them.
std::vector<found_winograd> find_winograd(const std::vector<statement>& statements,
                                          const std::vector<std::int32_t>& locals,
                                          const shared_memory_of_accesses& shared, const machine& chip);

} // namespace ricci::lowering
