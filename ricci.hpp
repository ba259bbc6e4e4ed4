// ricci: everything a program needs to write tensor statements; <ricci/ricci.hpp> when installed.
// DLPack is apart, in dsl/dlpack.hpp, since it needs DLPack's header.
#pragma once

#if __cplusplus < 202002L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 202002L)
#error "ricci needs C++20: compile with -std=c++20"
#else
#include "dsl/capture.hpp"
#include "dsl/expected_seconds.hpp"
#include "dsl/explain.hpp"
#include "dsl/expr.hpp"
#include "dsl/index.hpp"
#include "dsl/linalg.hpp"
#include "dsl/local.hpp"
#include "dsl/math.hpp"
#include "dsl/missing_functions.hpp"
#include "dsl/pointer_view.hpp"
#include "dsl/precompile.hpp"
#include "dsl/record.hpp"
#include "dsl/tensor.hpp"
#include "dsl/tuning.hpp"
#include "dsl/view.hpp"

#include "lowering/error.hpp"
#include "runtime/device.hpp"
#include "runtime/half.hpp"
#endif
