// random_run: runs a random statement on a device and judges it.
#include "runtime/run.hpp"
#include "tests/random_statement.hpp"
#include "tests/seeds.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <fmt/format.h>

namespace ricci::tests {
namespace {

constexpr int reported = 5;

/// Copies of the buffers, guards included, on a device; the statement points into them while this lives.
class on_device {
  public:
    on_device(random_case& c, std::int32_t code) : case_(c), device_(code), kept_(c.s) {
        for (host_buffer& b : c.memory) {
            const auto whole = b.whole();
            copies_.push_back(static_cast<std::byte*>(runtime::allocate(device_, whole.size(), false)));
            runtime::copy(device_, copies_.back(), cpu(), whole.data(), whole.size());
        }
        for (lowering::access& a : case_.s.accesses) {
            if (a.type == lowering::scalar_type::address) translate_entries(a);
            a.data = there(a.data), a.device = code;
        }
    }
    ~on_device() {
        for (std::byte* p : copies_) runtime::release(device_, p);
        case_.s = kept_;
    }
    on_device(const on_device&) = delete;
    on_device& operator=(const on_device&) = delete;

    void copy_back() {
        for (std::size_t b = 0; b < copies_.size(); ++b) {
            const auto is_here = [&](const lowering::access& a) {
                return a.type == lowering::scalar_type::address && a.data == case_.memory[b].data();
            };
            // its addresses are the device's
            if (std::any_of(kept_.accesses.begin(), kept_.accesses.end(), is_here)) continue;
            const auto whole = case_.memory[b].whole();
            runtime::copy(cpu(), whole.data(), device_, copies_[b], whole.size());
        }
    }

  private:
    /// Where what lies at `p` in a buffer lies in its copy.
    void* there(void* p) const {
        for (std::size_t b = 0; b < copies_.size(); ++b) {
            const auto whole = case_.memory[b].whole();
            const auto at = static_cast<std::byte*>(p) - whole.data();
            if (p >= whole.data() && p < whole.data() + whole.size()) return copies_[b] + at;
        }
        return p;
    }

    void translate_entries(const lowering::access& table) const {
        const auto& position = case_.s.positions[static_cast<std::size_t>(table.first_position)];
        std::vector<void*> entries(static_cast<std::size_t>(position.extent));
        if (entries.empty()) return;
        std::memcpy(entries.data(), table.data, entries.size() * sizeof(void*));
        for (auto& e : entries) e = there(e);
        runtime::copy(device_, there(table.data), cpu(), entries.data(), entries.size() * sizeof(void*));
    }

    random_case& case_;
    device device_;
    lowering::statement kept_;
    std::vector<std::byte*> copies_;
};

} // namespace

std::string run_and_compare(random_case& c, std::int32_t device_code,
                            const std::function<void(const lowering::statement&)>& how, const oracle_result* known) {
    const auto run = [&] { how ? how(c.s) : runtime::run(c.s); };
    const oracle_result expected = known != nullptr ? *known : evaluate(c.s);
    std::vector<std::span<std::byte>> memory;
    for (host_buffer& b : c.memory) memory.push_back(b.whole());
    const snapshot before(memory);
    std::string report;
    try {
        if (device_code == 0) {
            run();
        } else {
            on_device there(c, device_code);
            run();
            there.copy_back();
        }
        report = compare(expected, before);
    } catch (const std::exception& e) {
        report = fmt::format("threw: {}\n", e.what());
    }
    return report.empty() ? report : c.text + report;
}

std::string run_random_cases(std::size_t count, std::int32_t device_code) {
    const std::uint64_t first = number_from_environment("RICCI_TEST_SEED", 1);
    std::string reports;
    int failed = 0;
    for (std::uint64_t seed = first; seed < first + count && failed < reported; ++seed) {
        random_case c = make_random_case(seed);
        const std::string report = run_and_compare(c, device_code);
        if (!report.empty()) reports += report + '\n', ++failed;
    }
    return reports;
}

} // namespace ricci::tests
