// candidates_test: parameters of the batched and tall-skinny kernels that the model did not choose, against the
// oracle: the tuner may choose any.
#include "lowering/lower.hpp"
#include "lowering/print.hpp"
#include "lowering/stationary_model.hpp"
#include "lowering/tile_candidates.hpp"
#include "runtime/executable.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/covering.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/gett_cases.hpp"

#include <algorithm>
#include <future>
#include <memory>
#include <random>
#include <vector>

using namespace ricci;
using namespace ricci::tests;

namespace {

constexpr auto full = lowering::math_mode::full;

// Extents that no tile divides; spans, packed operands, a matrix for the whole batch, all transpositions.
const covering_case cases[] = {
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f64[7,11,9] A=f64[7,5,9] B=f64[5,11,9]"},
    {"C(i,j,e) -= 2*A(k,i,e)*B(j,k,e)", "C=f64[19,9,5] A=f64[23,19,5] B=f64[9,23,5]"},
    {"C(j,i,e) = A(i,k,e)*B(k,j,e)", "C=f64[17,33,3] A=f64[33,20,3] B=f64[20,17,3]"},
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f64[8:1,8:9,6:80] A=f64[8,16,6] B=f64[16,8,6:0]"},
    {"C(i,j,e) += A(k,i,e)*B(k,j,e)", "C=f32[16,13,9] A=f32[16,16,9] B=f32[16,13,9]"},
    {"C(i,j,e,f) = A(i,k,f)*B(k,j,e)", "C=f32[6,10,3,4] A=f32[6,9,4] B=f32[9,10,3]"},
    {"C(i,j,e) += conj(A(k,i,e))*B(k,j,e)", "C=c64[5,6,7] A=c64[8,5,7] B=c64[8,6,7]"},
    {"C(e,i,j) = A(e,i,k)*B(e,k,j)", "C=f32[37:2,3:74,4:222] A=f16[37,3,5] B=f16[37,5,4]"},
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=bf16[9,7,11] A=bf16[9,8,11] B=bf16[8,7,11]"},
    {"C(i,j,e) -= A(i,k,e)*B(k,j,e)", "C=f16[33,18,5] A=f16[33,21,5] B=f16[21,18,5]"},
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f16[64,24,3] A=f16[64,64,3] B=f16[64,24,3]"},
    {"C(i,j,e) = A(i,k,e)*B(j,k,e)", "C=f16[16,24,9] A=f16[16,8,9] B=f16[24,8,9]"},
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f16[8:1,8:64,9:512] A=f16[8:1,8:64,9:512] B=f16[8:1,8:64,9:512]"},
    {"C(i,j,e) -= A(i,k,e)*B(k,j,e)", "C=c64[32,13,5] A=c64[32,16,5] B=c64[16,13,5]"},
    {"C(j,i,e) = 2*A(k,i,e)*B(j,k,e)", "C=f32[20,17,5] A=bf16[32,17,5] B=bf16[20,32,5]"},
    {"C(i,j,e) += conj(A(k,i,e))*B(k,j,e)", "C=c128[11,9,5] A=c128[7,11,5] B=c128[7,9,5]"},
    // Padded: lines with a rest, and C stored in lines.
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f32[31:1,30:32,7:1000] A=f32[31:1,29:32,7:1024] B=f32[29:1,30:32,7:964]"},
    {"C(j,i,e) = A(i,k,e)*B(k,j,e)", "C=c64[31:1,18:32,5:576] A=c64[18:1,21:32,5:676] B=c64[21:1,31:32,5:992]"},
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f16[31:1,30:33,7:1001] A=f16[31:1,21:32,7:700] B=f16[21:1,30:22,7:661]"},
    {"C(i,j,e) = A(i,k,p(e))*B(k,j,e)",
     "C=f32[27:1,9:32,5:300] A=f32[27:1,11:32,4:352] B=f32[11:1,9:48,5:428] p=i32[5]"},
    {"C(j,i,e) += A(i,k,e)*B(k,j,e)", "C=f16[31:1,30:33,7:1001] A=f16[30:1,21:32,7:700] B=f16[21:1,31:22,7:683]"},
    {"C(i,j,distinct(p)(e)) += A(i,k,q(e))*B(k,j,e)", "C=f64[9,7,19] A=f64[9,5,6] B=f64[5,7,13] p=i32[13] q=i64[13]"},
    {"C(i,j,e) -= A(i,k,q(e))*B(k,j,q(e))", "C=f16[13,11,9] A=f16[13,15,4] B=f16[15,11,4] q=i32[9]"},
    {"C(i,j,e) = A(i,k,q(e))*B(j,k,q(e))", "C=bf16[16,24,9] A=bf16[16,64,4] B=bf16[24,64,4] q=i32[9]"},
    {"C(i,j,e,f) += A(i,k,f,e)*B(k,j,e)", "C=f32[5,9,3,4] A=f32[5,7,4,3] B=f32[7,9,3]"},
    {"C(j,i,e) = A(k,i,e)*conj(B(j,k,e))", "C=c128[6,19,5] A=c128[17,19,5] B=c128[6,17,5]"},
    // Interleaved: neighbors that fill no block, aligned and not, several axes, a matrix for all products.
    {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=f64[70,19,18] A=f64[70,19,11] B=f64[70,11,18]"},
    {"C(e,i,j) -= 2*A(e,k,i)*B(e,j,k)", "C=f32[77,7,9] A=f32[77,16,7] B=f32[77,9,16]"},
    {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=f16[131,9,17] A=f16[131,9,37] B=f16[131,37,17]"},
    {"C(e,j,i) = A(e,i,k)*B(e,k,j)", "C=bf16[72,13,20] A=bf16[72,20,10] B=bf16[72,10,13]"},
    {"C(e,i,j) += conj(A(e,i,k))*B(e,k,j)", "C=c128[21,10,9] A=c128[21,10,12] B=c128[21,12,9]"},
    {"C(e,i,j,f) += A(e,i,k,f)*B(e,k,j)", "C=c64[37,5,4,3] A=c64[37,5,7,3] B=c64[37,7,4]"},
    {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=f32[69:1,33:70,34:3000] A=f16[69:0,33:40,36:1] B=f16[69:1,36:71,34:2700]"},
    {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=f16[264,16,12] A=f16[264,16,9] B=f16[264,9,12]"},
    {"C(e,i,j) -= A(e,i,k)*B(e,k,j)", "C=f16[300:1,16:301,8:4816] A=f16[300,16,20] B=f16[300:1,20:301,8:6021]"},
    {"C(e,i,j) += A(e,i,k)*B(k,j)", "C=f32[264,12,24] A=f32[264,12,10] B=f32[10,24]"},
    // In boxes: blocks and neighbors that end within one, padded, and from an element on that no box starts at.
    {"C(e,i,j) -= 2*A(e,i,k)*B(e,j,k)", "C=f32[136,33,10] A=f32[136,33,9] B=f32[136,10,9]"},
    {"C(e,i,j) += A(e,k,i)*conj(B(e,k,j))", "C=c64[50:1,11:52,9:624] A=c64[50:1,20:60,11:1200] B=c64[50,20,9]"},
    {"C(e,i,j) = A(e,i,k)*B(e,k,j)", "C=f64[46,30,27] A=f64[46,30,18] B=f64[46,18,27]"},
    {"C(e,i,j) += A(e+1,i,k)*B(e,k,j)", "C=f32[68,9,7] A=f32[72,9,6] B=f32[68,6,7]"},
    {"C(e,i,j) += A(e,i,k)*B(e+3,k,j)", "C=f16[80,9,12] A=f16[80,9,21] B=f16[88,21,12]"},
    // In boxes of lines that start anywhere.
    {"C(e,i,j) -= 2*A(e,i,k)*B(e,k,j)", "C=f64[71,19,18] A=f64[71,19,11] B=f64[71,11,18]"},
    {"C(e,i,j) += conj(A(e,k,i))*B(e,k,j)", "C=c64[51:1,9:53,8:500] A=c64[51,12,9] B=c64[51:1,12:52,8:700]"},
    {"C(e,j,i) = A(e,i,k)*B(e,k,j)", "C=f16[65,13,21] A=bf16[65,21,18] B=bf16[65,18,13]"},
    // Steps that are aligned alike, fewer of them in a panel than residues; batches of one and a few; sides of one.
    {"C(e,i,j) += A(e,i,k)*B(e,j,k)", "C=f32[101,32,32] A=f32[101,32,8] B=f32[101,32,8]"},
    {"C(e,i,j) = A(e,i,k)*B(e,j,k)", "C=f16[101,8,16] A=f16[101,8,16] B=f16[101,16,16]"},
    {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=f64[1,9,8] A=f64[1,9,6] B=f64[1,6,8]"},
    {"C(e,i,j) -= A(e,i,k)*B(e,k,j)", "C=f32[5,9,8] A=f32[5,9,6] B=f32[5,6,8]"},
    {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=f64[70,1,16] A=f64[70,1,9] B=f64[70,9,16]"},
    {"C(e,i,j) = A(e,i,k)*B(e,k,j)", "C=f32[72,9,10] A=f16[72,9,12] B=f32[72,12,10]"},
    // The same by pointers that are aligned to an element, or to a part of one.
    {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=f64[46,9,7] A=f64[46,9,6] B=f64[46,6,7]", false, full, 8},
    {"C(e,i,j) = A(e,i,k)*B(e,k,j)", "C=f32[53,9,7] A=f32[53,9,6] B=f32[53,6,7]", false, full, 12},
    {"C(e,i,j) -= A(e,i,k)*B(e,k,j)", "C=c64[38,5,7] A=c64[38,5,9] B=c64[38,9,7]", false, full, 4},
    {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=c128[19,5,7] A=c128[19,5,9] B=c128[19,9,7]", false, full, 8},
    {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=c64[37,5,7] A=c64[37,5,9] B=c64[37,9,7]", false, full, 4},
    {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=f16[80,8,16] A=f16[80,8,11] B=f16[80,11,16]", false, full, 2},
    {"C(e,i,j) = A(e,i,k)*B(e,k,j)", "C=bf16[83,8,16] A=bf16[83,8,24] B=bf16[83,24,16]", false, full, 6},
    {"C(e,i,j) = A(e,i,k,l)*B(e,l,k,j)", "C=bf16[257,9,10] A=bf16[257,9,3,5] B=bf16[257,5,3,10]"},
};

// Blocks of panels that are no whole warps, whose lines start anywhere, also between two words: one tile each.
const covering_case panel_cases[] = {
    {"C(j,e) = A(k,e)*B(k,j,e)", "C=f64[128,5] A=f32[127,5] B=f64[127,128,5]"},
    {"C(i,j,e) = A(i,k,e)*B(j,k,e)", "C=f32[100,128,3] A=f32[100,128,3] B=f16[128:1,128:129,3:16513]"},
};

// Rows that end in the middle of a block; lines of vectors, and lines that are not; columns, rows and one of each.
const covering_case tall_cases[] = {
    {"C(i,j) += A(i,k)*B(k,j)", "C=f64[2052:1,5:2060] A=f64[2052:1,3:2054] B=f64[3,5]"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=f64[2051,24] A=f64[2051,31] B=f64[31,24]"},
    {"C(j,i) = 2*A(k,i)*B(k,j)", "C=f64[34,1100] A=f64[16,1100] B=f64[16,34]"},
    {"C(j,i) -= A(k,i)*B(k,j)", "C=f64[4,1100] A=f64[2,1100] B=f64[2,4]"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=f32[1100,33] A=f32[1100,48] B=f32[48,33]"},
    {"C(j,i) += A(k,i)*B(j,k)", "C=f32[18,1100] A=f32[20,1100] B=f32[18,20]"},
    {"C(j,i) = A(k,i)*B(j,k)", "C=f32[31,1100] A=f32[21,1100] B=f32[31,21]"},
    {"C(i,j) -= A(i,k)*B(k,j)", "C=f32[1100,17] A=f16[1100,20] B=f16[20,17]"},
    {"C(j,i) = A(k,i)*B(j,k)", "C=f16[24,1100] A=f16[16,1100] B=f16[24,16]"},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f32[1100,19] A=bf16[32,1100] B=bf16[32,19]"},
    {"C(j,i) += A(i,k)*B(k,j)", "C=bf16[22,1100] A=bf16[1100,13] B=bf16[13,22]"},
    {"C(i) += A(i,k)*B(k)", "C=f32[2100] A=f32[2100,7] B=f32[7]"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=c64[1100,3] A=c64[1100,4] B=c64[4,3]"},
    {"C(j,i) -= conj(A(k,i))*B(k,j)", "C=c128[3,1100] A=c128[2,1100] B=c128[2,3]"},
    {"C(j,i) = A(k,i)*B(k,j)", "C=f32[3,1100] A=f16[4,1100] B=f32[4,3]"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=f64[1053:1,4:1060] A=f32[1053:4,3:1] B=bf16[3,4]"},
    // Columns in boxes: sums and widths that fill none, C added to, padded, and from a row on that no box starts at.
    {"C(i,j) -= 2*A(i,k)*B(k,j)", "C=f64[2053:1,21:2056] A=f64[2053:1,13:2060] B=f64[13,21]"},
    {"C(i,j) = A(i,k)*B(j,k)", "C=f32[4100,11] A=f32[4100,37] B=f32[11,37]"},
    {"C(i,j) += A(i,k)*B(k,j)", "C=f32[4001:1,20:4004] A=f32[4001:1,9:4004] B=f32[9,20]"},
    {"C(i,j) += conj(A(i,k))*B(k,j)", "C=c64[2100,17] A=c64[2100,10] B=c64[10,17]"},
    {"C(i,j) = A(i,k)*conj(B(k,j))", "C=c64[2502,9] A=c64[2502,20] B=c64[20,9]"},
    {"C(i,j) += A(i+1,k)*B(k,j)", "C=f64[2101:1,9:2104] A=f64[2102,30] B=f64[30,9]"},
    // Columns that start anywhere, also between two words.
    {"C(i,j) -= A(i,k)*B(k,j)", "C=f32[2051,24] A=f32[2051,20] B=f32[20,24]"},
    {"C(i,j) = 2*A(i,k)*B(k,j)", "C=f32[4003,16] A=f16[4003,12] B=f16[12,16]"},
    {"C(i,j) += A(i,k)*B(j,k)", "C=bf16[2061,25] A=bf16[2061,24] B=bf16[25,24]"},
    {"C(i,j) = A(i,k)*conj(B(k,j))", "C=c64[1103,9] A=c64[1103,12] B=c64[12,9]"},
    {"C(i,j) = A(i,k)*B(j,k)", "C=f16[2048,17] A=f16[2048:1,64:2052] B=f16[17,64]", false, full, 2},
};

// 2-byte operands whose lines start anywhere: odd, even and padded ones, shared, gathered, several products a block
// and one.
const covering_case realigned_cases[] = {
    {"C(i,j,e) -= A(i,k,e)*B(k,j,e)", "C=f16[33,18,5] A=f16[33,21,5] B=f16[21,18,5]"},
    {"C(j,i,e) = 2*A(k,i,e)*B(j,k,e)", "C=f32[20,17,5] A=bf16[31,17,5] B=bf16[20,31,5]"},
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f16[63,66,3:8191] A=f16[63:1,63:65,3:4200] B=f16[63,66,3:0]"},
    {"C(i,j,e) += A(k,i,e)*B(k,j,e)", "C=bf16[117,70,2] A=bf16[90,117,2] B=bf16[90,70,2]"},
    {"C(i,j,e) += A(i,k,q(e))*B(j,k,q(e))", "C=f16[13,11,9] A=f16[13,15,4] B=f16[11,15,4] q=i32[9]"},
    {"C(i,j,e) += A(i,k,e)*B(j,k,e)", "C=f16[37:1,71:39,3:2800] A=f16[37,9,3] B=f16[71,9,3]"},
    {"C(j,i,e) += A(i,k,e)*B(k,j,e)", "C=bf16[91,52,3] A=bf16[52,27,3] B=bf16[27,91,3]"},
    // Lines of whole 16 bytes that begin between two words.
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f16[64,24,3] A=f16[64,64,3] B=f16[64,24,3]", false, full, 2},
    {"C(j,i,e) = 2*A(k,i,e)*B(j,k,e)", "C=bf16[16,40,5] A=bf16[32,40,5] B=bf16[16,32,5]", false, full, 6},
};

// Sums that end within what a warp or a block takes at once; columns, rows and one of each; aligned and not.
const covering_case atb_cases[] = {
    {"C(i,j) += A(k,i)*B(k,j)", "C=f64[9,7] A=f64[1504,9] B=f64[1504,7]"},
    {"C(i,j) -= 2*A(i,k)*B(j,k)", "C=f32[16,24] A=f32[16,1501] B=f32[24,1501]"},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f32[33,17] A=f16[2048,33] B=f16[2048,17]"},
    {"C(i,j) = A(k,i)*conj(B(k,j))", "C=c64[5,6] A=c64[1501,5] B=c64[1501,6]"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=f64[34,20] A=f64[34,2100] B=f64[2100,20]"},
    {"C(j,i) += A(i,k)*B(j,k)", "C=f64[40,64] A=f64[64,2050] B=f64[40,2050]"},
    {"C(i,j) = A(i,k)*B(j,k)", "C=f32[24,32] A=bf16[24,3000] B=bf16[32,3000]"},
    {"C(j,i) = A(k,i)*B(k,j)", "C=f32[20,31] A=f32[1501,31] B=f32[1501,20]"},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f32[3,2] A=f32[5000,3] B=f32[5000,2]"},
    {"C(i,j) += A(i,k)*B(j,k)", "C=f64[2,2] A=f64[2,5003] B=f64[2,5003]"},
    {"C(i,j) = A(i,k)*B(j,k)", "C=f32[3,1] A=f16[3,4096] B=f16[1,4096]"},
    {"C(i,j) -= A(k,i)*B(k,j)", "C=f32[4,6] A=f16[3001:1,4:3100] B=f16[3001:7,6:1]"},
    {"C(i) = A(k,i)*B(k)", "C=f32[7] A=bf16[3001:-1,7:4000] B=bf16[3001]"},
    {"C(i,j) = conj(A(i,k))*B(j,k)", "C=c128[3,4] A=c128[3,1501] B=c128[4,1501]"},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f64[3,4] A=f32[1501,3] B=f64[1501,4]"},
    // In boxes: of columns that end anywhere, padded ones, and from an element on that no box starts at.
    {"C(i,j) -= A(k,i)*B(k,j)", "C=f64[20,17] A=f64[1501:1,20:1504] B=f64[1501:1,17:1502]"},
    {"C(i,j) = 2*A(k,i)*B(k,j)", "C=f32[33,24] A=f32[2100,33] B=f32[2100,24]"},
    {"C(i,j) += A(k,i)*conj(B(k,j))", "C=c64[10,9] A=c64[1250,10] B=c64[1250,9]"},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f32[13,41] A=f32[3004,13] B=f32[3004,41]"},
    // Columns that start anywhere, also between two words; a rest that fills no panel.
    {"C(i,j) = A(k,i)*B(k,j)", "C=f32[16,24] A=f16[5001,16] B=f16[5001,24]"},
    {"C(i,j) -= A(k,i)*B(k,j)", "C=bf16[9,33] A=bf16[3201:1,9:3203] B=bf16[3201,33]"},
    {"C(i,j) = 2*A(k,i)*B(k,j)", "C=f32[24,17] A=f32[4803,24] B=f32[4803,17]"},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f64[16,20] A=f64[3205,16] B=f64[3205,20]"},
    {"C(i,j) = conj(A(k,i))*B(k,j)", "C=c64[8,11] A=c64[1603,8] B=c64[1603,11]"},
    {"C(i,j) += A(k,i)*B(k,j)", "C=f16[16,16] A=f16[4096,16] B=f16[4096,16]", false, full, 2},
};

// Columns that start anywhere, by boxes: as many as start differently and more, panels that are boxes and that are
// not, padded ones, and from an element on that is no multiple of 16 bytes; sums that end within a panel, within the
// 16 bytes behind it, and with it where the last column's next 16 bytes are nobody's.
const covering_case shifted_cases[] = {
    {"C(i,j) = A(k,i)*B(k,j)", "C=f32[16,24] A=f16[5001,16] B=f16[5001,24]"},
    {"C(i,j) -= A(k,i)*B(k,j)", "C=bf16[9,33] A=bf16[3201:1,9:3203] B=bf16[3201,33]"},
    {"C(i,j) += A(k,i)*B(k,j)", "C=f16[16,13] A=f16[4107,16] B=f16[4107,13]", false, full, 2},
    {"C(i,j) = 2*A(k,i)*B(k,j)", "C=f32[24,17] A=f32[4803,24] B=f32[4803,17]"},
    {"C(i,j) -= A(k,i)*B(k,j)", "C=f32[64,8] A=f32[4097,64] B=f32[4097,8]", false, full, 4},
    {"C(j,i) += A(k,i)*B(k,j)", "C=f32[10,35] A=f32[4098:1,35:4102] B=f32[4098:1,10:4110]"},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f32[5,20] A=f32[4803,5] B=f32[4803,20]"},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f32[24,17] A=f32[4803,24] B=f32[4803,17]", false, lowering::math_mode::tf32},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f32[16,12] A=f32[4803:1,16:4804] B=f32[4803,12]"},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f64[16,20] A=f64[3205,16] B=f64[3205,20]"},
    {"C(i,j) -= A(k,i)*B(k,j)", "C=f64[13,9] A=f64[2049,13] B=f64[2049,9]", false, full, 8},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f64[13,9] A=f64[4096:1,13:4097] B=f64[4096:1,9:4099]"},
    {"C(i,j) += A(k,i)*B(k,j)", "C=f64[7,11] A=f64[4095,7] B=f64[4095,11]"},
    {"C(i,j) = conj(A(k,i))*B(k,j)", "C=c64[8,11] A=c64[1603,8] B=c64[1603,11]"},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f64[64,61] A=f64[4095,64] B=f64[4095,61]"},
    // From an element on that lies within another, so that no box may begin before it.
    {"C(i,j) += A(k,i)*B(k,j)", "C=c64[9,10] A=c64[2051,9] B=c64[2051,10]", false, full, 4},
};
// Several times as many panels of a block as it has stages, on a GPU of many processors.
const covering_case long_shifted_cases[] = {
    {"C(i,j) = A(k,i)*B(k,j)", "C=f32[16,13] A=f32[600001,16] B=f32[600001,13]"},
    {"C(i,j) -= A(k,i)*B(k,j)", "C=f32[16,9] A=f16[900003,16] B=f16[900003,9]"},
    {"C(i,j) = conj(A(k,i))*B(k,j)", "C=c64[9,8] A=c64[400001,9] B=c64[400001,8]"},
};

// Slices that are one run, lines and single elements, of columns and of rows; an X for all, padded, gathered, several
// batch axes; sums that end within a tensor core's product.
const covering_case stationary_cases[] = {
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f64[65,41,5] A=f64[65,37,5] B=f64[37,41,5]"},
    {"C(i,j,e) = A(k,i,e)*B(j,k,e)", "C=f64[48,64,5] A=f64[32,48,5] B=f64[64,32,5]"},
    {"C(j,i,e) -= 2*A(i,k,e)*B(k,j,e)", "C=f64[33,50,7] A=f64[50,47,7] B=f64[47,33,7]"},
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f64[40:1,40:41,5:2000] A=f64[40:1,24:42,5:1100] B=f64[24:1,40:25,5:0]"},
    {"C(i,j,e) -= A(i,k,e)*B(k,j,e)", "C=f32[61,33,5] A=f32[61,67,5] B=f32[67,33,5]"},
    {"C(i,j,e) += A(k,i,e)*B(j,k,e)", "C=f32[64,36,5] A=f32[32,64,5] B=f32[36,32,5]"},
    {"C(i,j,e,f) = A(i,k,f)*B(k,j,e)", "C=f32[40,31,3,4] A=f32[40,19,4] B=f32[19,31,3]"},
    {"C(i,j,e) += conj(A(k,i,e))*B(k,j,e)", "C=c64[34,20,5] A=c64[33,34,5] B=c64[33,20,5]"},
    {"C(i,j,e) += A(i,k,e)*conj(B(j,k,e))", "C=c128[20,18,5] A=c128[20,22,5] B=c128[18,22,5]"},
    {"C(i,j,e) += A(i,k,q(e))*B(k,j,q(e))", "C=f64[41,33,9] A=f64[41,40,4] B=f64[40,33,4] q=i32[9]"},
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f32[66:1,34:68,5:3000] A=f32[66:1,45:70,5:4000] B=f32[45:1,34:47,5:2000]"},
    {"C(i,j,e) -= A(i,k,e)*conj(B(j,k,e))", "C=c64[70,18,5] A=c64[70,22,5] B=c64[18,22,5]"},
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f16[63,34,5] A=f16[63,45,5] B=f16[45,34,5]"},
    {"C(i,j,e) = A(k,i,e)*B(j,k,e)", "C=f32[40,33,5] A=bf16[32,40,5] B=bf16[33,32,5]"},
};

// gett: beside gett_cases sides of several axes; both operands padded; elements that may be copied 16 bytes at a
// time, along either side, and that begin anywhere.
const covering_case gett_gpu_cases[] = {
    {"O(k,x,y) += padded(D)(c,x+s-1,y+r-1)*F(k,c,s,r)", "O=f16[40,9,7] D=f16[24,9,7] F=f16[40,24,3,3]"},
    {"O(x,y,k) = padded(D)(x+s-1,y+r-1,c)*F(s,r,c,k)", "O=bf16[20,9,7] D=bf16[20,9,8] F=bf16[3,3,8,7]"},
    {"O(k,x) = padded(D)(c,x+s-1)*F(c,s,k)", "O=f16[32,70] D=f16[32,70] F=f16[32,3,32]", false, full, 2},
    {"O(x,k) = padded(D)(x+s-1,c)*F(s,c,k)", "O=c64[90,7] D=c64[90,9] F=c64[3,9,7]", false, full, 4},
    {"C(i,j,l) = A(i,p,q)*B(q,p,j,l)", "C=f32[37,9,5] A=f32[37,4,11] B=f32[11,4,9,5]"},
    {"C(i,j) -= A(i,p,q)*conj(B(q,p,j))", "C=c64[70,33] A=c64[70,7,8] B=c64[8,7,33]"},
    {"O(x,k) = padded(D)(x+s(0,32)-1,c)*padded(F)(s-3,c,2*k-1)", "O=f32[30,7] D=f32[30,9] F=f32[28,9,12]"},
    {"O(k,x,y,b) = padded(D)(c,x+s-1,y+r-1,b)*F(k,c,s,r)", "O=f32[64,9,8,2] D=f32[32,9,8,2] F=f32[64,32,3,3]", false,
     lowering::math_mode::tf32},
    {"C(i,p,e) = A(i,j,k,e)*B(p,j,k,e)", "C=f64[40,36,3] A=f64[40,6,5,3] B=f64[36,6,5,3]"},
    // sums so long that panels are summed apart whatever the type
    {"C(i,j) = A(i,p,q)*B(q,p,j)", "C=f32[17,9] A=f16[17,64,80] B=f16[80,64,9]"},
    {"C(i,j) += A(i,p,q)*B(q,p,j)", "C=f32[20,33] A=f32[20,64,65] B=f16[65,64,33]"},
    {"C(i,j) = A(i,p,q)*B(q,p,j)", "C=f32[17,9] A=f32[17,64,80] B=f32[80,64,9]", false, lowering::math_mode::tf32},
};

enum class kind : std::uint8_t { chosen, realigned, stationary, panels, gett };

template <std::size_t Count>
void check(const covering_case (&cases)[Count], kind wanted = kind::chosen) {
    const device where(device_under_test());
    std::mt19937_64 random(1);
    std::uint64_t seed = 0;
    for (const auto& c : cases) {
        auto made = make_case(c, ++seed);
        auto chip = runtime::backend_of(where).machine();
        chip.has_blas = false; // it would take some of these short batches
        auto plan = lowering::lower(made.s, chip);
        const auto found = std::find_if(plan.steps.begin(), plan.steps.end(), [&](const lowering::step& st) {
            return wanted == kind::gett ? !st.classes.empty() : lowering::has_tile(st, chip);
        });
        REQUIRE(found != plan.steps.end());
        if (wanted == kind::gett) take_gett(*found, chip);
        if (wanted == kind::stationary) {
            *found = lowering::with_columns(*found);
            found->kernel = lowering::family::batched_stationary;
        }
        if (wanted == kind::panels) REQUIRE(found->kernel == lowering::family::batched_panels);
        auto candidates = lowering::tile_candidates(*found, of_few_processors(chip));
        if (wanted == kind::realigned) std::erase_if(candidates, [](const auto& t) { return !t.realigned; });
        REQUIRE(candidates.size() > (wanted == kind::panels ? 0 : wanted == kind::gett ? 1 : 3));
        std::shuffle(candidates.begin(), candidates.end(), random);
        using lowering::batched_tile;
        for (auto to = candidates.begin();
             const auto rare : {&batched_tile::boxed, &batched_tile::warpgroups, &batched_tile::rows_of_16,
                                &batched_tile::columns_apart}) {
            const auto first = std::find_if(to, candidates.end(), [&](const auto& t) { return t.*rare; });
            if (first != candidates.end()) std::iter_swap(to++, first);
        }
        candidates.resize(std::min<std::size_t>(candidates.size(), count_of_run()));
        // each in a thread of its own: most of the time is theirs
        std::vector<std::future<std::unique_ptr<runtime::executable>>> compiled;
        for (const auto& tile : candidates) {
            found->batched = tile;
            compiled.push_back(
                std::async(std::launch::async, [=] { return std::make_unique<runtime::executable>(where, plan); }));
        }
        const auto expected = evaluate(made.s);
        const auto left = made.memory.front().whole();
        const std::vector<std::byte> before(left.begin(), left.end());
        for (std::size_t n = 0; n < candidates.size(); ++n) {
            std::copy(before.begin(), before.end(), left.begin());
            const auto kernel = compiled[n].get();
            const auto report = run_and_compare(
                made, where.code(), [&](const lowering::statement& s) { kernel->launch(s); }, &expected);
            INFO(report << lowering::to_string(candidates[n], lowering::target::cuda) << ", k unrolled "
                        << candidates[n].k_unrolled);
            CHECK(report.empty());
        }
    }
}

} // namespace

TEST_CASE("candidates of batched products agree with the oracle") { check(cases); }

TEST_CASE("panels whose lines start anywhere agree with the oracle") { check(panel_cases, kind::panels); }

TEST_CASE("candidates of batched products that realign agree with the oracle") {
    check(realigned_cases, kind::realigned);
}

TEST_CASE("candidates of batched products that keep X in registers agree with the oracle") {
    check(stationary_cases, kind::stationary);
}

TEST_CASE("candidates of tall-skinny products agree with the oracle") { check(tall_cases); }

TEST_CASE("candidates of tall-skinny A^T B agree with the oracle") { check(atb_cases); }

TEST_CASE("candidates of A^T B by boxes whose columns start anywhere agree with the oracle") {
    check(shifted_cases, kind::realigned);
    if (device_code() > 0) check(long_shifted_cases, kind::realigned);
}

TEST_CASE("candidates of products of any axes agree with the oracle") {
    check(gett_cases, kind::gett);
    check(gett_gpu_cases, kind::gett);
}
