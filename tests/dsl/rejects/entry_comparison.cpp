// entry_comparison: an index table's entries are compared one by one.
// expect: entries_are_compared_one_by_one
#include "ricci.hpp"
using namespace ricci::indices;

bool statement(const ricci::tensor<int, 5>& info) {
#ifdef BROKEN
    return info(e) == 0;
#else
    return info(3) == 0;
#endif
}
