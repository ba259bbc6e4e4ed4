// families: the kernel families' parameters and limits.
#include "lowering/families.hpp"

#include "lowering/temporaries.hpp"

namespace ricci::lowering {

std::int64_t extent_of(const step& st, axis_class c) {
    std::vector<char> marked(st.axes.size(), 0);
    for (std::size_t a = 0; a < marked.size(); ++a) marked[a] = st.classes[a] == c;
    return element_count(st.axes, marked);
}

std::vector<std::int32_t> axes_of(const step& st, axis_class c) {
    std::vector<std::int32_t> out;
    for (std::size_t a = 0; a < st.classes.size(); ++a)
        if (st.classes[a] == c) out.push_back(static_cast<std::int32_t>(a));
    return out;
}

} // namespace ricci::lowering
