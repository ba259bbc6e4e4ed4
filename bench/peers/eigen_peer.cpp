// eigen_peer: Eigen with fixed sizes, compiled for each product: its product as it chooses it, and the lazy one.
#include "bench/native_code.hpp"
#include "bench/peers/compiled_product.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

#include <array>
#include <fstream>

namespace ricci::bench {

namespace {

#ifdef RICCI_EIGEN_DIR

constexpr const char* folder = RICCI_EIGEN_DIR;

/// "3.4.0", from the header that has it in this version or in later ones; empty where it is not there.
std::string version_of_headers() {
    std::array<std::string, 3> parts;
    for (const char* header : {"Eigen/src/Core/util/Macros.h", "Eigen/Version"}) {
        std::ifstream in(fmt::format("{}/{}", folder, header));
        for (std::string line; std::getline(in, line);) {
            constexpr std::array<const char*, 3> names{"EIGEN_WORLD_VERSION", "EIGEN_MAJOR_VERSION",
                                                       "EIGEN_MINOR_VERSION"};
            for (std::size_t n = 0; n < names.size(); ++n)
                if (const std::string start = fmt::format("#define {} ", names[n]); line.starts_with(start))
                    parts[n] = line.substr(start.size());
        }
    }
    return parts[0].empty() ? "" : fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
}

class eigen_peer : public peer {
  public:
    eigen_peer() : version_(version_of_headers()) {
        if (version_.empty())
            throw error(fmt::format("Eigen is not in {} any more, where CMake found it", folder), blame::environment);
        require_native_compiler();
    }

    std::string version() const override {
        return fmt::format("Eigen {}, {} -O3 for this machine", version_, native_compiler());
    }

    std::vector<contender> contenders(const product& p, std::span<const operand_set> sets) override {
        if (!is_compilable(p)) return {};
        // The version: kernels of another one are others, though all of this text is the same.
        const std::string head = fmt::format("// Eigen {}\n#define NDEBUG\n#define EIGEN_NO_IO\n#include <complex>\n"
                                             "#include \"{}/Eigen/Core\"\n",
                                             version_, folder);
        const auto functions =
            native_functions(native_source(head + constants_of(p), {"product_cpu.hpp", "eigen_cpu.hpp"}), 2);
        return {compiled_contender("eigen", "product", functions[0], false, p, sets),
                compiled_contender("eigen", "lazy", functions[1], false, p, sets)};
    }

  private:
    std::string version_;
};

#endif

} // namespace

std::unique_ptr<peer> make_eigen_peer() {
#ifdef RICCI_EIGEN_DIR
    return std::make_unique<eigen_peer>();
#else
    throw error("this build has no Eigen: CMake found no Eigen/Core (Debian: libeigen3-dev)", blame::environment);
#endif
}

} // namespace ricci::bench
