// element_type: tensors hold floating-point and complex numbers.
// expect: element_type_is_supported<int>
#include "ricci.hpp"

#ifdef BROKEN
ricci::view<int, 1> make(int* p) { return {p, {8}, {1}}; }
#else
ricci::view<float, 1> make(float* p) { return {p, {8}, {1}}; }
#endif
