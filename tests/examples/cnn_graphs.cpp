// cnn_graphs: see cnn_graphs.hpp.
#include "tests/examples/cnn_graphs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace cnn_test {
namespace {

using cnn::op_kind;

/// Adds lines until there are enough, and then what it takes to get to 3 channels.
class generator {
  public:
    explicit generator(std::mt19937_64& random) : random_(random) {}

    random_network make() {
        result_.text = "input in C=3\n";
        nodes_ = {{"in", 3, 1}};
        for (auto lines = between(3, 9); lines > 0; --lines) add_line();
        convolve(nodes_.back(), 3);
        result_.text += fmt::format("output {}\n", nodes_.back().name);
        return std::move(result_);
    }

  private:
    struct node {
        std::string name;
        std::int64_t channels, scale;
    };

    std::int64_t between(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }

    /// Whole numbers, or halves, that are mostly zero: sums of many stay small.
    std::vector<float> small_numbers(std::int64_t count, float unit) {
        std::vector<float> values(count);
        for (float& value : values) value = between(0, 2) ? 0 : unit * static_cast<float>(between(-1, 1));
        return values;
    }

    void add(const char* kind, const std::string& inputs, const std::string& attributes, std::int64_t channels,
             std::int64_t scale) {
        const std::string name = fmt::format("n{}", nodes_.size());
        result_.text += fmt::format("{} {} {} {}\n", kind, name, inputs, attributes);
        nodes_.push_back({name, channels, scale});
    }

    void convolve(const node from, std::int64_t outputs) {
        constexpr std::int64_t sides[]{1, 3, 3, 5}; // 3x3 may be by F(m,3)
        const std::int64_t r = sides[between(0, 3)];
        const std::string name = fmt::format("n{}", nodes_.size());
        result_.weights[name + ".weight"] = {{outputs, from.channels, r, r},
                                             small_numbers(outputs * from.channels * r * r, 1)};
        result_.weights[name + ".bias"] = {{outputs}, small_numbers(outputs, 1)};
        add("conv", from.name, fmt::format("K={} C={} R={} S={} pad={}", outputs, from.channels, r, r, (r - 1) / 2),
            outputs, from.scale);
    }

    void add_line() {
        const node from = nodes_[between(0, static_cast<std::int64_t>(nodes_.size()) - 1)];
        std::vector<node> like; // those it can be put together with
        std::copy_if(nodes_.begin(), nodes_.end(), std::back_inserter(like),
                     [&](const node& n) { return n.scale == from.scale; });
        const auto other = [&] { return like[between(0, static_cast<std::int64_t>(like.size()) - 1)]; };
        switch (between(0, 8)) {
        case 0:
            add("relu", from.name, "", from.channels, from.scale);
            break;
        case 1:
            result_.weights[fmt::format("n{}.slope", nodes_.size())] = {{from.channels},
                                                                        small_numbers(from.channels, 0.5f)};
            add("prelu", from.name, "", from.channels, from.scale);
            break;
        case 2: {
            std::string inputs = from.name;
            for (auto more = between(1, 2), n = std::int64_t{0}; n < more;) {
                const node& next = other();
                if (next.channels == from.channels) inputs += " " + next.name;
                n += next.channels == from.channels || between(0, 3) == 0;
            }
            if (inputs == from.name) inputs += " " + from.name;
            add("add", inputs, "", from.channels, from.scale);
            break;
        }
        case 3:
        case 4: {
            std::string inputs = from.name;
            std::int64_t channels = from.channels;
            for (auto more = between(1, 2); more > 0; --more) {
                const node& next = other();
                inputs += " " + next.name, channels += next.channels;
            }
            if (channels <= 30) add("concat", inputs, "", channels, from.scale);
            break;
        }
        case 5:
            if (from.scale < 4) add("upsample_nearest", from.name, "scale=2", from.channels, 2 * from.scale);
            break;
        case 6:
            if (from.scale < 4 && from.channels % 4 == 0)
                add("pixel_shuffle", from.name, "scale=2", from.channels / 4, 2 * from.scale);
            break;
        default:
            convolve(from, between(1, 8));
            if (between(0, 1)) add("relu", nodes_.back().name, "", nodes_.back().channels, from.scale);
        }
    }

    std::mt19937_64& random_;
    random_network result_;
    std::vector<node> nodes_;
};

/// An operation's result in double: x fastest, then y, then channels.
struct image {
    std::int64_t width = 0, height = 0;
    std::vector<double> values;

    double& at(std::int64_t x, std::int64_t y, std::int64_t c) { return values[x + width * (y + height * c)]; }
    double padded(std::int64_t x, std::int64_t y, std::int64_t c) const {
        return x < 0 || y < 0 || x >= width || y >= height ? 0 : values[x + width * (y + height * c)];
    }
};

double convolved(const image& from, const cnn::op& o, const cnn::weights& w, std::int64_t x, std::int64_t y,
                 std::int64_t k) {
    const auto& F = w.at(o.name + ".weight");
    const std::int64_t inputs = F.shape[1], r = o.filter, pad = (r - 1) / 2;
    double sum = w.at(o.name + ".bias").values[k];
    for (std::int64_t c = 0; c < inputs; ++c)
        for (std::int64_t j = 0; j < r; ++j)
            for (std::int64_t i = 0; i < r; ++i)
                sum += from.padded(x + i - pad, y + j - pad, c) * F.values[i + r * (j + r * (c + inputs * k))];
    return sum;
}

double element(const cnn::graph& g, const std::vector<image>& done, const cnn::op& o, const cnn::weights& w,
               std::int64_t x, std::int64_t y, std::int64_t c) {
    const image& from = done[o.inputs[0]];
    const double here = o.kind == op_kind::relu || o.kind == op_kind::prelu ? from.padded(x, y, c) : 0;
    const std::int64_t f = o.factor;
    switch (o.kind) {
    case op_kind::conv:
        return convolved(from, o, w, x, y, c);
    case op_kind::relu:
        return std::max(here, 0.0);
    case op_kind::prelu:
        return here > 0 ? here : here * w.at(o.name + ".slope").values[c];
    case op_kind::upsample_nearest:
        return from.padded(x / f, y / f, c);
    case op_kind::pixel_shuffle:
        return from.padded(x / f, y / f, c * f * f + y % f * f + x % f);
    case op_kind::add: {
        double sum = 0;
        for (const int input : o.inputs) sum += done[input].padded(x, y, c);
        return sum;
    }
    default: // concat
        for (const int input : o.inputs) {
            if (c < g.ops[input].channels) return done[input].padded(x, y, c);
            c -= g.ops[input].channels;
        }
        return 0;
    }
}

} // namespace

random_network make_random_network(std::mt19937_64& random) { return generator(random).make(); }

std::vector<double> evaluate(const cnn::graph& g, const cnn::weights& w, const std::vector<float>& numbers,
                             std::int64_t width, std::int64_t height) {
    std::vector<image> done{{width, height, {numbers.begin(), numbers.end()}}};
    for (std::size_t n = 1; n < g.ops.size(); ++n) {
        const cnn::op& o = g.ops[n];
        image result{width * o.scale, height * o.scale, {}};
        result.values.resize(result.width * result.height * o.channels);
        for (std::int64_t c = 0; c < o.channels; ++c)
            for (std::int64_t y = 0; y < result.height; ++y)
                for (std::int64_t x = 0; x < result.width; ++x) result.at(x, y, c) = element(g, done, o, w, x, y, c);
        done.push_back(std::move(result));
    }
    return done[g.output].values;
}

std::string safetensors(const cnn::weights& w) {
    std::string header = "{", data;
    for (const auto& [name, t] : w) {
        const std::size_t begin = data.size();
        data.append(reinterpret_cast<const char*>(t.values.data()), t.values.size() * sizeof(float));
        header += fmt::format(R"({}"{}":{{"dtype":"F32","shape":{},"data_offsets":[{},{}]}})", begin ? "," : "", name,
                              t.shape, begin, data.size());
    }
    header += "}";
    const std::uint64_t length = header.size();
    std::string bytes(sizeof length, '\0');
    std::memcpy(bytes.data(), &length, sizeof length);
    return bytes + header + data;
}

} // namespace cnn_test
