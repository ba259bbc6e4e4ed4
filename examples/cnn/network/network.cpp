// network: one recorded program a step of the schedule; an image is X(x,y,c,b) with one picture b.
#include "examples/cnn/network/network.hpp"

#include "examples/cnn/network/schedule.hpp"
#include "examples/cnn/winograd/winograd.hpp"
#include "examples/common/input_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace cnn {
namespace {

using ricci::dyn;
using image = ricci::tensor<float, dyn, dyn, dyn, dyn>;
using vector = ricci::tensor<float, dyn>;

/// The numbers of a tensor of the weights, whose shape must be this.
const std::vector<float>& find(const graph& g, const weights& w, const op& o, const char* part,
                               const std::vector<std::int64_t>& shape) {
    const std::string name = o.name + part;
    const auto found = w.find(name);
    if (found == w.end())
        throw common::input_error(fmt::format("the weights have no '{}', for line {} of {}", name, o.line, g.path));
    if (found->second.shape != shape)
        throw common::input_error(fmt::format("the weights' '{}' has shape {}, but line {} of {} wants {}", name,
                                              found->second.shape, o.line, g.path, shape));
    return found->second.values;
}

/// The tiles that filters with so many taps may be computed by; none: direct. `best` in half leaves out the largest,
/// whose error is two grey levels more. Of five taps those whose inputs are F(4, 3)'s, on a GPU only: a CPU's direct
/// layers are faster (64 to 64 channels of 256 x 256: 66 ms and 92 on two cores of an EPYC).
std::vector<int> tiles_of(algorithm how, int taps, bool in_half, const ricci::device& device) {
    using enum algorithm;
    if (taps == 5)
        return (how == f4 || how == f6 || how == best) && device.is_cuda() ? std::vector{2} : std::vector<int>();
    if (taps != 3 || how == direct) return {};
    if (how == best) return in_half ? std::vector{2, 4} : std::vector{2, 4, 6};
    return {how == f2 ? 2 : how == f4 ? 4 : 6};
}

template <class T>
class typed_network : public network {
  public:
    typed_network(const graph& g, const weights& w, algorithm how, const ricci::device& device)
        : graph_(g), schedule_(make_schedule(g)), chooses_(how == algorithm::best), device_(device),
          layers_(g.ops.size()) {
        for (const int taps : {3, 5})
            for (const int m : tiles_of(how, taps, sizeof(T) == 2, device_))
                winograd_[taps].emplace_back(cook_toom(m, taps), device_);
        for (std::size_t n = 0; n < g.ops.size(); ++n) load(w, g.ops[n], layers_[n]);
    }

    std::vector<float> operator()(const std::vector<float>& numbers, std::int64_t width,
                                  std::int64_t height) override {
        if (!in_ || in_->extent(0) != width || in_->extent(1) != height) prepare(width, height);
        in_->upload(numbers);
        for (auto& run : programs_) run();
        return out_->download();
    }

    std::vector<layer_time> time_layers() override {
        std::vector<layer_time> times;
        for (std::size_t n = 0; n < programs_.size(); ++n) {
            ricci::synchronize(device_);
            const auto start = std::chrono::steady_clock::now();
            programs_[n]();
            ricci::synchronize(device_);
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
            const op& o = graph_.ops[n < schedule_.steps.size() ? schedule_.steps[n].op : graph_.output];
            times.push_back({n < schedule_.steps.size() ? o.name : "output", "", took.count(), 0});
            if (o.kind == op_kind::conv && n < schedule_.steps.size()) {
                const winograd<T>* const by = layers_[schedule_.steps[n].op].by;
                times.back().how = by ? fmt::format("F({0}x{0},{1}x{1})", by->m(), o.filter) : "direct";
                times.back().products = static_cast<double>(o.channels) * graph_.ops[o.inputs[0]].channels *
                                        o.filter * o.filter * static_cast<double>(in_->extent(0) * o.scale) *
                                        static_cast<double>(in_->extent(1) * o.scale);
            }
        }
        return times;
    }

  private:
    using view = ricci::view<T, 4>;
    using filters = ricci::tensor<T, dyn, dyn, dyn, dyn>;

    struct layer {
        const winograd<T>* by = nullptr; ///< a convolution's; null: direct
        std::optional<filters> F;        ///< F(s,r,c,k), or its transform by that, U(c,k,u,v)
        std::optional<vector> numbers;   ///< bias(k), or slope(c)
        std::optional<image> weights;    ///< F, kept where a way is chosen for each size
    };

    void load(const weights& w, const op& o, layer& l) {
        const auto vector_of = [&](const char* part) {
            vector x(o.channels, device_);
            x.upload(find(graph_, w, o, part, {o.channels}));
            return x;
        };
        if (o.kind == op_kind::prelu) l.numbers = vector_of(".slope");
        if (o.kind != op_kind::conv) return;
        l.numbers = vector_of(".bias");
        const std::int64_t inputs = graph_.ops[o.inputs[0]].channels;
        image F(o.filter, o.filter, inputs, o.channels, device_); // [K][C][R][S] with the last one the fastest
        F.upload(find(graph_, w, o, ".weight", {o.channels, inputs, o.filter, o.filter}));
        if (chooses_) return void(l.weights.emplace(std::move(F)));
        const auto by = winograd_.find(o.filter);
        l.by = by == winograd_.end() ? nullptr : &by->second.front();
        take_filters(F, l);
    }

    /// Of F, as l.by wants them.
    void take_filters(const image& F, layer& l) const {
        using namespace ricci::indices;
        if (l.by) return void(l.F.emplace(l.by->transform(F)));
        l.F.emplace(F.extent(0), F.extent(1), F.extent(2), F.extent(3), device_);
        (*l.F)(s, r, c, k) = F(s, r, c, k);
    }

    /// Whichever way the cost model expects to be the fastest for pictures of the size that is prepared.
    void choose(const step& s) {
        const op& o = graph_.ops[s.op];
        layer& l = layers_[s.op];
        if (!l.weights) return;
        const std::int64_t inputs = l.weights->extent(2);
        std::vector<const winograd<T>*> ways{nullptr};
        if (const auto by = winograd_.find(o.filter); by != winograd_.end())
            for (const winograd<T>& each : by->second) ways.push_back(&each);
        const auto expected = [&](const winograd<T>* way) {
            const std::int64_t side = way ? way->m() + o.filter - 1 : o.filter;
            const filters F = way ? filters(ricci::uninitialized, inputs, o.channels, side, side, device_)
                                  : filters(ricci::uninitialized, side, side, inputs, o.channels, device_);
            return ricci::expected_seconds([&] { convolution(s, way, F, *l.numbers); });
        };
        const winograd<T>* fastest = nullptr;
        double least = 0;
        for (const auto* way : ways)
            if (const double seconds = expected(way); way == nullptr || seconds < least)
                fastest = way, least = seconds;
        if (l.F && l.by == fastest) return;
        l.by = fastest;
        take_filters(*l.weights, l);
    }

    /// Memory and programs for pictures of this size.
    void prepare(std::int64_t width, std::int64_t height) {
        programs_.clear(), memories_.clear(), in_.reset(), out_.reset(); // the last size's first
        for (const std::int64_t numbers : schedule_.memories)
            memories_.emplace_back(ricci::uninitialized, numbers * width * height, device_);
        in_.emplace(width, height, graph_.ops[0].channels, 1, device_);
        const op& last = graph_.ops[graph_.output];
        out_.emplace(width * last.scale, height * last.scale, last.channels, 1, device_);
        for (const step& s : schedule_.steps) choose(s);
        for (const step& s : schedule_.steps) programs_.emplace_back(ricci::record([this, s] { statements(s); }));
        programs_.emplace_back(ricci::record([this] {
            using namespace ricci::indices;
            (*out_)(x, y, c, b) = result(graph_.output)(x, y, c, b);
        }));
    }

    /// An operation's result, or some of its channels.
    view result(int n) { return result(n, 0, graph_.ops[n].channels); }
    view result(int n, int first, int channels) {
        const std::int64_t w = in_->extent(0) * graph_.ops[n].scale, h = in_->extent(1) * graph_.ops[n].scale;
        const place& at = schedule_.places[n];
        T* data = memories_[at.memory].data() + (at.first_channel + first) * w * h;
        return view(data, {w, h, channels, 1}, {1, w, w * h, w * h * channels}, device_);
    }

    void convolution(const step& s, const winograd<T>* by, const filters& F, const vector& bias) {
        const op& o = graph_.ops[s.op];
        view O = result(s.result);
        const view D = result(o.inputs[0]);
        const std::int64_t pad = (o.filter - 1) / 2;
        const auto then = s.relu ? activation::relu : activation::none;
        if (by)
            by->convolve(D, F, bias, O, {pad, pad}, then);
        else
            convolve(D, F, bias, O, {{pad, pad}, {1, 1}, {1, 1}}, then);
    }

    void statements(const step& s) {
        using namespace ricci::indices;
        const op& o = graph_.ops[s.op];
        const layer& l = layers_[s.op];
        view O = result(s.result);
        if (o.kind == op_kind::input) {
            O(x, y, c, b) = (*in_)(x, y, c, b);
            return;
        }
        const view D = result(o.inputs[0]);
        const std::int64_t f = o.factor;
        switch (o.kind) {
        case op_kind::conv:
            convolution(s, l.by, *l.F, *l.numbers);
            break;
        case op_kind::relu:
            O(x, y, c, b) = relu(D(x, y, c, b));
            break;
        case op_kind::prelu: {
            const vector& slope = *l.numbers;
            O(x, y, c, b) = max(D(x, y, c, b), 0) + slope(c) * min(D(x, y, c, b), 0);
            break;
        }
        case op_kind::add: {
            const view second = result(o.inputs[1]);
            O(x, y, c, b) = D(x, y, c, b) + second(x, y, c, b);
            for (std::size_t n = 2; n < o.inputs.size(); ++n) O(x, y, c, b) += result(o.inputs[n])(x, y, c, b);
            break;
        }
        case op_kind::concat: {
            int first = 0;
            for (const int input : o.inputs) {
                const int channels = graph_.ops[input].channels;
                if (!schedule_.in_place(input, s.result, first))
                    result(s.result, first, channels)(x, y, c, b) = result(input)(x, y, c, b);
                first += channels;
            }
            break;
        }
        case op_kind::upsample_nearest:
            O(f * x + i(0, f), f * y + j(0, f), c, b) = D(x, y, c, b);
            break;
        case op_kind::pixel_shuffle:
            O(f * x + j(0, f), f * y + i(0, f), c, b) = D(x, y, f * f * c + f * i + j, b);
            break;
        case op_kind::input:
            break;
        }
    }

    graph graph_;
    schedule schedule_;
    bool chooses_;
    ricci::device device_;
    std::map<int, std::vector<winograd<T>>> winograd_; ///< by filters' taps
    std::vector<layer> layers_;
    std::vector<ricci::tensor<T, dyn>> memories_;
    std::optional<image> in_, out_;
    std::vector<std::function<void()>> programs_;
};

} // namespace

std::unique_ptr<network> make_network(const graph& g, const weights& w, algorithm how, number_type type,
                                      const ricci::device& device) {
    if (type == number_type::f16) return std::make_unique<typed_network<ricci::half>>(g, w, how, device);
    return std::make_unique<typed_network<float>>(g, w, how, device);
}

} // namespace cnn
