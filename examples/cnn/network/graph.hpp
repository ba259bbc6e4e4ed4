// graph: the topology of a network as text, one operation a line, each named and used only behind its line.
//
//     input NAME C=3 [range=1|255]                  pictures with C channels, of numbers from 0 to `range`
//     conv NAME INPUT K=64 C=3 R=3 S=3 pad=1        NAME.weight [K][C][R][S], NAME.bias [K]; zeros around, same size
//     relu NAME INPUT                               max(x, 0)
//     prelu NAME INPUT                              max(x, 0) + NAME.slope[c] min(x, 0)
//     add NAME INPUT INPUT...                       the sum
//     concat NAME INPUT INPUT...                    their channels, one behind the other
//     upsample_nearest NAME INPUT scale=2           each pixel becomes a square of them
//     pixel_shuffle NAME INPUT scale=2              out[c][h*f+i][w*f+j] = in[c*f*f + i*f + j][h][w]
//     output INPUT
//
// `#` comments out the rest of a line. Where the input has no range, a comment that says `image range [0,1]` gives it
// (so graphs do that were written before there was the attribute); without one it is 255.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cnn {

enum class op_kind { input, conv, relu, prelu, add, concat, upsample_nearest, pixel_shuffle };

struct op {
    op_kind kind;
    std::string name;
    std::vector<int> inputs; ///< which operations', by their numbers in graph::ops
    int line = 0;            ///< in the file
    int channels = 0;        ///< of what it gives
    int scale = 1;           ///< how many times as wide and high as the input that is
    int filter = 0;          ///< conv: R and S
    int factor = 1;          ///< upsample_nearest, pixel_shuffle
};

struct graph {
    std::string path;
    std::vector<op> ops; ///< the first is the input; each only uses those before it
    int output = 0;
    double range = 255; ///< of the numbers that stand for a picture's black to white

    int scale() const { return ops[output].scale; }
    /// How many pixels of the input beyond a part of it that part of the output depends on.
    int halo() const;
};

const char* name_of(op_kind kind);

/// Throws common::input_error with the number of the line.
graph read_graph(const std::string& path);
graph parse_graph(const std::string& text, const std::string& path);

} // namespace cnn
