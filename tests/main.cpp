// main: Catch2's, version 2 or 3. A program with failures ends with 1, whatever their number: 4, which version 2
// would end four failures with, says to ctest that it was skipped (tests/skip.hpp). That is also what one says whose
// cases all went without what they need, and so checked nothing.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
using listener_base = Catch::EventListenerBase;
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
using listener_base = Catch::TestEventListenerBase;
#endif

namespace {

bool has_run = false, has_checked = false;

class listener : public listener_base {
  public:
    using listener_base::listener_base;
    void testRunEnded(const Catch::TestRunStats& all) override {
        has_run = all.totals.testCases.total() > 0, has_checked = all.totals.assertions.total() > 0;
    }
};
CATCH_REGISTER_LISTENER(listener)

} // namespace

int main(int argc, char** argv) {
    if (Catch::Session().run(argc, argv) != 0) return 1;
    return has_run && !has_checked ? 4 : 0;
}
