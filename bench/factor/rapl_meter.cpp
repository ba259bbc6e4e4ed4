// rapl_meter: reads /sys/class/powercap.
#include "bench/factor/rapl_meter.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace ricci::bench::factor {

namespace {

constexpr int most_packages = 16;

std::optional<std::uint64_t> read_number(const std::string& file) {
    std::ifstream in(file);
    std::uint64_t number = 0;
    return in >> number ? std::optional(number) : std::nullopt;
}

/// A counter of microjoules that begins again behind its range.
struct package {
    std::string file;
    std::uint64_t range = 0, last = 0;
};

class rapl_meter : public energy_meter {
  public:
    rapl_meter() {
        for (int n = 0; n < most_packages; ++n) {
            const std::string folder = fmt::format("/sys/class/powercap/intel-rapl:{}/", n); // AMD's too
            std::string name;
            if (!(std::ifstream(folder + "name") >> name) || !name.starts_with("package"))
                continue; // "psys" has them all
            const auto now = read_number(folder + "energy_uj"), range = read_number(folder + "max_energy_range_uj");
            if (now && range) packages_.push_back({folder + "energy_uj", *range, *now});
        }
        if (packages_.empty())
            throw error(
                "--energy: no counter /sys/class/powercap/intel-rapl:*/energy_uj that can be read (root may)",
                blame::environment);
    }

    double joules() override {
        for (package& p : packages_) {
            const std::uint64_t now = read_number(p.file).value_or(p.last);
            microjoules_ += static_cast<double>(now >= p.last ? now - p.last : p.range - p.last + now);
            p.last = now;
        }
        return 1e-6 * microjoules_;
    }

  private:
    std::vector<package> packages_;
    double microjoules_ = 0;
};

} // namespace

std::unique_ptr<energy_meter> make_rapl_meter() { return std::make_unique<rapl_meter>(); }

} // namespace ricci::bench::factor
