// gett_cases: products of any axes that a CPU's and a GPU's kernel are checked by, and how smaller ones get there.
#pragma once

#include "lowering/gett_product.hpp"
#include "tests/kernels/covering.hpp"

namespace ricci::tests {

// Convolutions, padded and not, of either order in memory, strided, dilated, mirrored; several blocks of rows, of
// columns and of the sum; of complex numbers, and of two types.
inline const covering_case gett_cases[] = {
    {"O(x,y,k) = padded(D)(x+s-1,y+r-1,c)*F(s,r,c,k)", "O=f32[19,13,21] D=f32[19,13,17] F=f32[3,3,17,21]"},
    {"O(x,y,k,b) += 2*padded(D)(2*x+s-2,2*y+r-2,c,b)*F(k,c,r,s)", "O=f64[8,7,9,2] D=f64[15,14,11,2] F=f64[9,11,5,5]"},
    {"O(k,x,y,b) -= padded(D)(c,x+2*s-2,y+2*r-2,b)*F(s,r,c,k)", "O=f32[40,9,8,2] D=f32[12,9,8,2] F=f32[3,3,12,40]"},
    {"O(b,k,y,x) = D(b,c,y+r,x+s)*F(k,c,r,s)", "O=f32[2,6,20,21] D=f32[2,7,22,23] F=f32[6,7,3,3]"},
    {"O(x,y,k) = padded(D)(18-x+s,y-2*r+3,c)*F(s,r,c,k)", "O=f64[17,11,5] D=f64[19,12,6] F=f64[3,4,6,5]"},
    {"O(x,y) = padded(D)(x+s-4,y+r-4)*F(s,r)", "O=f32[70,30] D=f32[70,30] F=f32[9,9]"},
    {"O(x,y,k) = padded(D)(x+s-1,y+r-1,c)*F(s,r,c,k)", "O=bf16[20,9,7] D=bf16[20,9,8] F=f32[3,3,8,7]"},
    {"O(x,y,k) -= conj(padded(D)(x+s-1,y+r-1,c))*F(s,r,c,k)", "O=c128[9,8,5] D=c128[9,8,6] F=c128[3,3,6,5]"},
};

/// Makes a product one for that kernel, also where it is so small that another would take it.
inline void take_gett(lowering::step& product, const lowering::machine& chip) {
    product = lowering::as_gett(product, chip);
    product.kernel = lowering::family::gett;
}

} // namespace ricci::tests
