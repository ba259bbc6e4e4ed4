// place_temporaries_test: temporaries share memory exactly where they are never needed at the same time.
#include "lowering/place_temporaries.hpp"

#include "lowering/error.hpp"
#include "tests/catch.hpp"

#include <random>

using namespace ricci::lowering;

namespace {

/// A step that reads and writes these temporaries.
step step_with(std::initializer_list<std::int32_t> temporaries) {
    step st;
    for (const auto t : temporaries) st.operands.emplace_back().source = -1 - t;
    return st;
}

bool share(const plan& p, std::size_t a, std::size_t b) {
    const auto end = [&](std::size_t t) {
        return p.temporaries[t].offset + p.temporaries[t].elements * size_of(p.temporaries[t].type);
    };
    return p.temporaries[a].offset < end(b) && p.temporaries[b].offset < end(a);
}

} // namespace

TEST_CASE("a chain of intermediates takes the room of two") {
    plan p;
    for (int t = 0; t < 8; ++t) p.temporaries.push_back({scalar_type::f64, 1000});
    p.steps.push_back(step_with({0}));
    for (std::int32_t t = 1; t < 8; ++t) p.steps.push_back(step_with({t, t - 1}));
    p = place_temporaries(std::move(p));
    CHECK(p.workspace_bytes == 2 * 8192);
    for (std::size_t t = 1; t < 8; ++t) CHECK(!share(p, t, t - 1));
    CHECK(share(p, 0, 2));
}

TEST_CASE("what lives at the same time lies apart, at aligned places within the workspace") {
    std::mt19937 random(20261121);
    for (int n = 0; n < 200; ++n) {
        plan p;
        const auto count = 1 + random() % 12, steps = 1 + random() % 12;
        std::int64_t all = 0;
        for (std::size_t t = 0; t < count; ++t) {
            p.temporaries.push_back({scalar_type::f32, static_cast<std::int64_t>(1 + random() % 5000)});
            all += (p.temporaries.back().elements * 4 + 255) / 256 * 256;
        }
        for (std::size_t s = 0; s < steps; ++s)
            p.steps.push_back(step_with(
                {static_cast<std::int32_t>(random() % count), static_cast<std::int32_t>(random() % count)}));
        p = place_temporaries(std::move(p));
        CHECK(p.workspace_bytes <= all);
        std::vector<std::pair<std::size_t, std::size_t>> life(count, {steps, 0});
        for (std::size_t s = 0; s < steps; ++s)
            for (const auto& o : p.steps[s].operands) {
                auto& [first, last] = life[static_cast<std::size_t>(-1 - o.source)];
                first = std::min(first, s), last = std::max(last, s);
            }
        for (std::size_t a = 0; a < count; ++a) {
            if (life[a].first == steps) continue;
            CHECK(p.temporaries[a].offset % 256 == 0);
            CHECK(p.temporaries[a].offset + p.temporaries[a].elements * 4 <= p.workspace_bytes);
            for (std::size_t b = 0; b < a; ++b)
                if (life[b].first != steps && life[a].first <= life[b].second && life[b].first <= life[a].second)
                    CHECK(!share(p, a, b));
        }
    }
}

TEST_CASE("sizes beyond 64 bits are refused") {
    plan p;
    p.temporaries.push_back({scalar_type::f64, std::int64_t{1} << 62});
    p.steps.push_back(step_with({0}));
    CHECK_THROWS_AS(place_temporaries(p), ricci::error);
    p.temporaries = {{scalar_type::f64, std::int64_t{1} << 59}, {scalar_type::f64, std::int64_t{1} << 59}};
    p.steps = {step_with({0, 1})};
    CHECK_THROWS_AS(place_temporaries(p), ricci::error);
}
