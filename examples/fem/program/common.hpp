// common: what the subcommands share: which mesh, which device, and how times and counts are printed.
#pragma once

#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/operators/coefficient.hpp"

#include <ricci/ricci.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace fem {

constexpr int largest_order = 16; ///< of a basis

/// Exit code 1 with this message.
class usage_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// For options whose text may not be empty.
CLI::Validator not_empty();
/// For options that are sizes: a finite number above 0.
CLI::Validator positive_number();

struct mesh_options {
    std::string path; ///< empty: generate one
    int dimension = 3;
    int geometry_order = 3;
    std::int64_t elements = 4096;
    CLI::Option_group* generated = nullptr; ///< the options of a generated mesh
};

/// Adds MESH and the options of a generated one; `elements` is how many of them by default.
void add_mesh_options(CLI::App& app, mesh_options& o, std::int64_t elements);
/// Reads or generates it. Throws usage_error for options that do not go together.
mesh load(const mesh_options& o);

void add_order_option(CLI::App& app, int& order);
void add_device_option(CLI::App& app, std::string& device);
/// The device of that name; without one the default. Throws ricci::error where it cannot be used.
ricci::device device_named(const std::string& name);

/// --coefficient, once for the whole domain, or once for each attribute with the attribute and a colon before it.
void add_coefficient_option(CLI::App& app, std::vector<std::string>& given, bool by_attribute);
/// The matrix of the whole domain. Throws usage_error.
symmetric_matrix coefficient_from(const std::vector<std::string>& given, int dimension);
/// The same, or by attributes; nothing where none is given. Before anything long is computed: throws usage_error.
std::optional<coefficient> coefficient_on(const mesh& m, const std::vector<std::string>& given, ricci::device device);

void print_mesh(const mesh& m);

/// "1 node", "2 nodes".
std::string counted(std::int64_t count, const char* thing);
/// With a width of 11.
std::string time_text(double seconds);
double median(std::vector<double> values);

/// Runs `work` and waits for the device; seconds by the wall clock.
template <class Work>
double seconds(const ricci::device& device, Work work) {
    ricci::synchronize(device);
    const auto start = std::chrono::steady_clock::now();
    work();
    ricci::synchronize(device);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace fem
