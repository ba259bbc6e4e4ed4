// cnn_support: random layers, and what they must give by plain loops in double with a proved bound.
#pragma once

#include "examples/cnn/winograd/convolution.hpp"
#include "examples/cnn/winograd/cook_toom.hpp"

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace cnn_test {

/// A layer's sizes; all arrays of numbers below have the first index fastest.
struct layer {
    std::int64_t width, height, inputs, pictures; ///< of D(x,y,c,b)
    std::int64_t across, down, outputs;           ///< of O(x,y,k,b)
    std::int64_t s, r;                            ///< of F(s,r,c,k)
    cnn::placement at;
    bool relu;

    std::array<std::int64_t, 4> image() const { return {width, height, inputs, pictures}; }
    std::array<std::int64_t, 4> filters() const { return {s, r, inputs, outputs}; }
    std::array<std::int64_t, 4> output() const { return {across, down, outputs, pictures}; }
};

struct numbers {
    std::vector<double> D, F, bias;
};

/// O by nested loops.
std::vector<double> by_loops(const layer& l, const numbers& given);

/// sum |D| |F| + |bias| for each element of O: what an error of the direct sum is relative to.
std::vector<double> magnitudes(const layer& l, const numbers& given);

/// The same for F(m, r): all of the transforms' entries by their absolute values, and `least` added to each
/// transformed number (what the rounding of subnormal halves is relative to). `along_y`: in both directions.
std::vector<double> magnitudes(const layer& l, const numbers& given, const cnn::transforms& t, double least,
                               bool along_y);

/// Uniform in [-1, 1], rounded to float or to half.
template <class T>
std::vector<double> random_numbers(std::int64_t count, std::mt19937_64& random) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<double> result(count);
    for (double& value : result) value = static_cast<float>(T(uniform(random)));
    return result;
}

} // namespace cnn_test
