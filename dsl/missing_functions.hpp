// missing_functions: functions of the C++ library that the language lacks, refused by name.
//
// An expression converts to a number, the sum over its indices. Without this, log(A(i)) would quietly be the C
// library's log of that sum.
#pragma once

#include "dsl/expr.hpp"

namespace ricci::dsl {

template <class... Arguments>
struct function_is_in_the_language {
    static_assert(sizeof...(Arguments) == 0,
                  "ricci has the functions conj, relu, exp, sqrt, abs, min and max, not this one; for "
                  "the function of a sum take the number first: double s = x(i)*y(i)");
};

#define RICCI_MISSING(name)                                                                                          \
    template <class... X>                                                                                            \
    requires(has_an_index<X> || ...) constexpr double name(const X&...) {                                            \
        (void)function_is_in_the_language<X...>{};                                                                   \
        return 0;                                                                                                    \
    }
RICCI_MISSING(acos)
RICCI_MISSING(acosh)
RICCI_MISSING(arg)
RICCI_MISSING(asin)
RICCI_MISSING(asinh)
RICCI_MISSING(atan)
RICCI_MISSING(atan2)
RICCI_MISSING(atanh)
RICCI_MISSING(cbrt)
RICCI_MISSING(ceil)
RICCI_MISSING(copysign)
RICCI_MISSING(cos)
RICCI_MISSING(cosh)
RICCI_MISSING(erf)
RICCI_MISSING(erfc)
RICCI_MISSING(exp10)
RICCI_MISSING(exp2)
RICCI_MISSING(expm1)
RICCI_MISSING(fabs)
RICCI_MISSING(fdim)
RICCI_MISSING(floor)
RICCI_MISSING(fma)
RICCI_MISSING(fmax)
RICCI_MISSING(fmin)
RICCI_MISSING(fmod)
RICCI_MISSING(frexp)
RICCI_MISSING(hypot)
RICCI_MISSING(ilogb)
RICCI_MISSING(imag)
RICCI_MISSING(isfinite)
RICCI_MISSING(isinf)
RICCI_MISSING(isnan)
RICCI_MISSING(j0)
RICCI_MISSING(j1)
RICCI_MISSING(jn)
RICCI_MISSING(ldexp)
RICCI_MISSING(lgamma)
RICCI_MISSING(llrint)
RICCI_MISSING(llround)
RICCI_MISSING(log)
RICCI_MISSING(log10)
RICCI_MISSING(log1p)
RICCI_MISSING(log2)
RICCI_MISSING(logb)
RICCI_MISSING(lrint)
RICCI_MISSING(lround)
RICCI_MISSING(modf)
RICCI_MISSING(nearbyint)
RICCI_MISSING(nextafter)
RICCI_MISSING(nexttoward)
RICCI_MISSING(norm)
RICCI_MISSING(polar)
RICCI_MISSING(pow)
RICCI_MISSING(proj)
RICCI_MISSING(real)
RICCI_MISSING(remainder)
RICCI_MISSING(remquo)
RICCI_MISSING(rint)
RICCI_MISSING(round)
RICCI_MISSING(scalbln)
RICCI_MISSING(scalbn)
RICCI_MISSING(sin)
RICCI_MISSING(sinh)
RICCI_MISSING(tan)
RICCI_MISSING(tanh)
RICCI_MISSING(tgamma)
RICCI_MISSING(trunc)
RICCI_MISSING(y0)
RICCI_MISSING(y1)
RICCI_MISSING(yn)
#undef RICCI_MISSING

} // namespace ricci::dsl
