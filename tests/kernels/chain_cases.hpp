// chain_cases: statements of several steps that are one kernel.
#pragma once

#include "tests/kernels/covering.hpp"

namespace ricci::tests {

// Batches that end within a block, of one block and of less; pencils of one number and of many; sums that stay within
// a phase and sums that do not; padded and unaligned slices; types that change on the way in and out.
inline const covering_case chain_cases[] = {
    {"v(a,b,c,e) = B(q,a)*B(r,b)*B(s,c)*D(q,r,s,e)*B(q,i)*B(r,j)*B(s,k)*u(i,j,k,e)",
     "v=f64[3,3,3,41] B=f64[4,3] D=f64[4,4,4,41] u=f64[3,3,3,41]"},
    {"v(a,b,c,e) -= B(q,a)*B(r,b)*B(s,c)*D(q,r,s,e)*B(q,i)*B(r,j)*B(s,k)*u(i,j,k,e)",
     "v=f32[5,5,5,3] B=f32[6,5] D=f32[6,6,6,3] u=f32[5,5,5,3]"},
    {"v(a,b,e) = 2*conj(B(q,a))*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*conj(u(i,j,e))",
     "v=c64[4,4,33] B=c64[5,4] D=c64[5,5,33] u=c64[4,4,33]"},
    {"v(a,b,e) = B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*u(i,j,e)",
     "v=c128[6,6,10] B=f64[7,6] D=f64[7,7,10] u=c128[6,6,10]"},
    {"v(a,b,e) += B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*u(i,j,e)",
     "v=f16[8,8,70] B=f16[9,8] D=f16[9,9,70] u=f16[8,8,70]", false, lowering::math_mode::full, 2},
    {"v(a,b,e) = B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*u(i,j,e)",
     "v=bf16[3,3,300] B=f32[4,3] D=bf16[4,4,300] u=bf16[3,3,300]"},
    {"v(a,b,e) = B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*u(i,j,e)",
     "v=f64[5,5:7,30:40] B=f64[6,5] D=f64[6:1,6:8,30:50] u=f64[5,5,30]", false, lowering::math_mode::full, 8},
    // Three blocks and more of slices with gaps between them, and of gathered numbers, complex and conjugated ones
    // too.
    {"v(a,b,e) = B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*u(i,j,e)",
     "v=f64[5,5:6,400:31] B=f64[6,5] D=f64[6:1,6:8,400:50] u=f64[5:1,5:5,400:27]"},
    {"v(a,b,e) = B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*conj(x(l(i,j,e)))",
     "v=c64[4,4,700] B=c64[5,4] D=f32[5,5,700] x=c64[90] l=i32[4,4,700]"},
    {"v(a,b,e) = B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*x(l(i,j,e))",
     "v=f64[3,3,900] B=f64[4,3] D=f64[4,4,900] x=f64[90] l=i64[3,3,900]"},
    // Planes of points whose numbers would meet in few sets of a CPU's cache.
    {"v(a,b,e) = B(q,a)*G(r,b)*D(q,r,e)*B(q,i)*G(r,j)*u(i,j,e)",
     "v=f64[3,4,21] B=f64[32,3] G=f64[5,4] D=f64[32,5,21] u=f64[3,4,21]"},
    {"v(a,b,e) -= B(q,a)*G(r,b)*conj(D(q,r,e))*B(q,i)*G(r,j)*u(i,j,e)",
     "v=c64[3,4,37] B=c64[16,3] G=c64[5,4] D=c64[16,5,37] u=c64[3,4,37]"},
    {"C(i,l,e) = A(i,j)*B(j,k,e)*D(k,l,e)", "C=f32[56,9,20] A=f32[56,56] B=f32[56,9,20] D=f32[9,9,20]"},
    {"C(i,l,e) += 3*A(i,j)*B(k,j,e)*D(k,l)", "C=f64[30,20,17] A=f64[30,40] B=f64[24,40,17] D=f64[24,20]"},
    {"C(p,e) = A(p,q)*relu(B(q,i)*x(l(i,e)))", "C=f64[6,1100] A=f64[6,11] B=f64[11,9] x=f64[50] l=i32[9,1100]"},
    {"C(p,e(0,1030)) = A(p,q)*abs(B(q,i)*x(l(i,e+3),2))",
     "C=f32[6,1040] A=f32[6,11] B=f32[11,9] x=f16[50,3] l=i64[9,1040]"},
    {"C(p,e) = A(p,q)*relu(B(q,i)*x(l(i,e),m(e)))",
     "C=f64[6,1100] A=f64[6,11] B=f64[11,9] x=f64[50,7] l=i32[9,1100] m=i64[1100]"},
    {"C(i,e) = A(i,j)*relu(B(j,k)*x(k,e) + b(j))", "C=f64[9,1060] A=f64[9,12] B=f64[12,10] x=f64[10,1060] b=f64[12]"},
    {"C(i,e) -= A(i,j)*exp(B(j,k)*x(k,e))*y(j,e)",
     "C=f64[9,1060] A=f64[9,12] B=f64[12,10] x=f64[10,1060] y=f64[12,1060]"},
    {"C(i,m,e) = A(i,j)*B(j,k,e)*A(l,k)*D(l,m,e)", "C=f64[9,10,35] A=f64[9,8] B=f64[8,8,35] D=f64[9,10,35]"},
};

// What a chain adds through tables at its end: by a pencil and by a point, one number or several for an entry, both
// ways through one table, many entries for few elements, tables with gaps, several of them, ranges, signs and
// factors, all types that there are atomic additions of, and what is stored where entries differ.
inline const covering_case scattered_chain_cases[] = {
    {"v(atomic(l)(a,b,c,e)) += B(q,a)*B(r,b)*B(s,c)*D(q,r,s,e)*B(q,i)*B(r,j)*B(s,k)*u(l(i,j,k,e))",
     "v=f64[90] B=f64[4,3] D=f64[4,4,4,41] u=f64[90] l=i32[3,3,3,41]"},
    {"v(atomic(l)(a,b,e)) -= 3*B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*u(l(i,j,e))",
     "v=f32[20] B=f32[6,5] D=f32[6,6,70] u=f32[20] l=i64[5,5,70]"},
    {"v(atomic(l)(p,e),m) += A(p,q)*relu(B(q,i)*x(l(i,e),m))",
     "v=f64[30,3] A=f64[6,11] B=f64[11,6] x=f64[30,3] l=i32[6:2,1100:13]"},
    {"v(m,atomic(l)(p,e)) -= A(p,q)*B(q,i,e)*x(m,i,e)",
     "v=c128[2,30] A=f64[6,11] B=c128[11,9,300] x=c128[2,9,300] l=i32[6,300]"},
    {"v(atomic(l)(p,e),atomic(m)(e)) += A(p,q)*relu(B(q,i)*x(l(i,e),m(e)))",
     "v=f32[9,4] A=f32[6,11] B=f32[11,6] x=f32[9,4] l=i32[6,1100] m=i64[1100]"},
    {"v(atomic(l)(p,e(2,1062))) -= 2*A(p,q)*relu(B(q,i)*x(i,e+1))",
     "v=c64[1] A=f32[6,11] B=f32[11,9] x=f32[9,1100] l=i32[6,1100]"},
    {"v(distinct(l)(p,e)) = A(p,q)*relu(B(q,i)*x(i,e))",
     "v=f16[6700] A=f32[6,11] B=f32[11,9] x=f16[9,1100] l=i32[6,1100]"},
    {"v(distinct(l)(e),p) -= A(p,q)*relu(B(q,i)*x(i,e))",
     "v=f64[1200,6] A=f64[6,11] B=f64[11,9] x=f64[9,1100] l=i32[1100]"},
};

// What steps behind a chain add in order, and one thread of a CPU adds at once (but for the last cases: elements that
// are not the table's slowest index, numbers that are rounded on storing): numbers that are no integers, so that the
// order shows; dense tables and others, two of them, components, rows of more than one piece.
struct ordered_case {
    covering_case c;
    bool at_once;
};
inline const ordered_case ordered_chain_cases[] = {
    {{"v(l(a,b,c,e)) += 0.1*B(q,a)*B(r,b)*B(s,c)*D(q,r,s,e)*B(q,i)*B(r,j)*B(s,k)*u(l(i,j,k,e))",
      "v=f64[90] B=f64[4,3] D=f64[4,4,4,41] u=f64[90] l=i32[3,3,3,41]"},
     true},
    {{"v(l(a,b,e)) -= 0.1*B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*u(l(i,j,e))",
      "v=f32[70] B=f32[6,5] D=f32[6,6,70] u=f32[70] l=i64[5:2,5:11,70:60]"},
     true},
    {{"v(m,l(p,e)) -= 0.1*A(p,q)*B(q,i,e)*x(m,i,e)",
      "v=c128[2,300] A=f64[6,11] B=c128[11,9,300] x=c128[2,9,300] l=i32[6,300]"},
     true},
    {{"v(c,l(p,e),m(p,e)) += 0.1*A(p,q)*relu(B(q,i)*x(i,c,e))",
      "v=f32[2,40,50] A=f32[6,11] B=f32[11,9] x=f32[9,2,1100] l=i32[6,1100] m=i64[6,1100]"},
     true},
    {{"v(l(p,e),m(p,e),c) -= 0.1*A(p,q)*relu(B(q,i)*x(i,c,e))",
      "v=f64[40,50,3] A=f64[6,11] B=f64[11,9] x=f64[9,3,1100] l=i32[6,1100] m=i64[6,1100]"},
     true},
    {{"v(l(p,e(3,1093))) += 0.1*A(p,q)*relu(B(q,i)*x(i,e+1))",
      "v=f64[2] A=f64[6,11] B=f64[11,9] x=f64[9,1100] l=i32[6,1100]"},
     true},
    {{"v(l(e,p)) += 0.1*A(p,q)*relu(B(q,i)*x(i,e))",
      "v=f64[200] A=f64[6,11] B=f64[11,9] x=f64[9,1100] l=i32[1100,6]"},
     false},
    {{"v(l(p,e)) += 0.1*A(p,q)*relu(B(q,i)*x(i,e))",
      "v=f16[200] A=f32[6,11] B=f32[11,9] x=f32[9,1100] l=i32[6,1100]"},
     false},
};

/// Such a chip for which whatever can be fused is expected to be worth it.
inline lowering::machine eager_to_fuse(lowering::machine chip) {
    chip.bandwidth /= 100, chip.processors = 1;
    return chip;
}

} // namespace ricci::tests
