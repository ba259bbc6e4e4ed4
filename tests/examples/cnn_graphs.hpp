// cnn_graphs: random networks of whole numbers, and what they give by plain loops: exactly that, as all sums fit
// float.
#pragma once

#include "examples/cnn/network/graph.hpp"
#include "examples/cnn/network/safetensors.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace cnn_test {

struct random_network {
    std::string text;
    cnn::weights weights;
};

/// Of every kind of operation, from 3 channels to 3.
random_network make_random_network(std::mt19937_64& random);

/// A graph's result by plain loops in double, in the order of cnn::network.
std::vector<double> evaluate(const cnn::graph& g, const cnn::weights& w, const std::vector<float>& numbers,
                             std::int64_t width, std::int64_t height);

/// The bytes of a safetensors file.
std::string safetensors(const cnn::weights& w);

} // namespace cnn_test
