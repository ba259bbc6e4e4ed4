// run_time_extents: a tensor with two extents given at run time gets one.
// expect: number_of_run_time_extents_is<1, 2>
#include "ricci.hpp"

auto make() {
#ifdef BROKEN
    return ricci::tensor<double, ricci::dyn, 8, ricci::dyn>(4);
#else
    return ricci::tensor<double, ricci::dyn, 8, ricci::dyn>(4, 5);
#endif
}
