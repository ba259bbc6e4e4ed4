// network: runs a graph with its weights on pictures; what it computes is statements of the language.
#pragma once

#include "examples/cnn/network/graph.hpp"
#include "examples/cnn/network/safetensors.hpp"

#include <ricci/ricci.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cnn {

/// How 3x3 layers are computed: by the definition, or by F(2,3), F(4,3), F(6,3); with the last two 5x5 layers by
/// F(2,5) on a GPU. All others are direct. `best`: for each layer what ricci::expected_seconds says is the fastest of
/// these (in half but F(6,3)) for pictures of their size.
enum class algorithm { direct, f2, f4, f6, best };
/// What lies between layers, and what the products are made of. Sums are float in both.
enum class number_type { f32, f16 };

struct layer_time {
    std::string name;
    std::string how; ///< of a convolution: "direct", "F(4x4,3x3)"
    double seconds = 0;
    double products = 0; ///< of the definition, whatever the algorithm
};

class network {
  public:
    virtual ~network() = default;
    network(const network&) = delete;
    network& operator=(const network&) = delete;

    /// A picture's numbers, x fastest, then y, then channels, from 0 to the graph's range; the result's in the same
    /// order, graph::scale() times as wide and high. Memory and programs are kept for the next picture of this size.
    virtual std::vector<float> operator()(const std::vector<float>& numbers, std::int64_t width,
                                          std::int64_t height) = 0;
    /// Runs the last picture again, each layer by itself.
    virtual std::vector<layer_time> time_layers() = 0;

  protected:
    network() = default;
};

/// Throws common::input_error where the weights lack something, or have another shape.
std::unique_ptr<network> make_network(const graph& g, const weights& w, algorithm how, number_type type,
                                      const ricci::device& device);

} // namespace cnn
