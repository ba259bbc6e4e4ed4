// winograd_layer: a convolution by minimal filtering as a plan, for tests that never run it.
#include "tests/winograd_layer.hpp"

#include "tests/bound_text.hpp"

#include <fmt/format.h>

namespace ricci::tests {

lowering::plan winograd_layer(int m, int taps, int side, int channels, int filters, const lowering::machine& chip,
                              const char* type) {
    const int a = m + taps - 1, tiles = (side + m - 1) / m;
    return lowered_program(
        {fmt::format("V(x,y,c,b,u,v) = B(u,p)*B(v,q)*padded(D)({0}*x+p-1,{0}*y+q-1,c,b)", m),
         "M(x,y,k,b,u,v) = U(c,k,u,v)*V(x,y,c,b,u,v)",
         fmt::format("padded(O)({0}*x+a,{0}*y+e,k,b) = relu(A(a,u)*A(e,v)*M(x,y,k,b,u,v) + z(k))", m)},
        fmt::format("V={0}[{1},{1},{2},8,{3},{3}] B=f32[{3},{3}] D={0}[{4},{4},{2},8] U={0}[{2},{5},{3},{3}] "
                    "M=f32[{1},{1},{5},8,{3},{3}] O={0}[{4},{4},{5},8] A=f32[{6},{3}] z=f32[{5}]",
                    type, tiles, channels, a, side, filters, m),
        chip, {"V", "M"});
}

} // namespace ricci::tests
