// intern: names that come from text, kept until the program ends.
#include "lowering/statement.hpp"

#include <mutex>
#include <set>

namespace ricci::lowering {

std::string_view intern(std::string_view name) {
    static std::mutex mutex;
    static auto& names = *new std::set<std::string, std::less<>>; // never destroyed: names outlive every static
    const std::lock_guard lock(mutex);
    const auto found = names.find(name);
    return found != names.end() ? *found : *names.emplace(name).first;
}

} // namespace ricci::lowering
