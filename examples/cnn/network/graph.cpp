// graph: a line is split into words, NAME=NUMBER are attributes; then each kind of operation checks what it got.
#include "examples/cnn/network/graph.hpp"

#include "examples/common/input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <regex>
#include <sstream>
#include <utility>

namespace cnn {
namespace {

constexpr std::array<std::pair<const char*, op_kind>, 8> kinds{{{"input", op_kind::input},
                                                                {"conv", op_kind::conv},
                                                                {"relu", op_kind::relu},
                                                                {"prelu", op_kind::prelu},
                                                                {"add", op_kind::add},
                                                                {"concat", op_kind::concat},
                                                                {"upsample_nearest", op_kind::upsample_nearest},
                                                                {"pixel_shuffle", op_kind::pixel_shuffle}}};
constexpr int largest_scale = 16, largest_filter = 63, most_channels = 1 << 20;

class parser {
  public:
    explicit parser(const std::string& path) { result_.path = path; }

    graph parse(const std::string& text) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            ++line_;
            const std::string content = line.substr(0, line.find('#'));
            take_range(line.substr(content.size()));
            std::istringstream split(content);
            std::vector<std::string> words;
            for (std::string word; split >> word;) words.push_back(word);
            if (!words.empty()) add_line(words);
        }
        if (!finished_) fail_file("there is no output");
        return std::move(result_);
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw common::input_error(fmt::format("{}: line {}: {}", result_.path, line_, what));
    }
    [[noreturn]] void fail_file(const char* what) const {
        throw common::input_error(fmt::format("{}: {}", result_.path, what));
    }

    void take_range(const std::string& comment) {
        static const std::regex pattern(R"(image range \[0, *(1|255)\])");
        if (std::smatch found; result_.ops.empty() && std::regex_search(comment, found, pattern))
            result_.range = std::stod(found[1]);
    }

    void add_line(const std::vector<std::string>& words) {
        if (finished_) fail("nothing may stand behind the output");
        const auto kind =
            std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == words[0]; });
        if (kind == kinds.end() && words[0] != "output") fail(fmt::format("there is no operation '{}'", words[0]));
        split_words(words);
        const bool output = kind == kinds.end();
        if (output) {
            need_inputs(1, 1);
            result_.output = inputs_[0];
            finished_ = true;
        } else {
            add_op(kind->second);
        }
        if (!attributes_.empty()) fail(fmt::format("{} has no attribute '{}'", words[0], attributes_.begin()->first));
    }

    /// Name, inputs and attributes.
    void split_words(const std::vector<std::string>& words) {
        inputs_.clear(), attributes_.clear(), name_.clear();
        for (std::size_t n = 1; n < words.size(); ++n) {
            const auto equals = words[n].find('=');
            if (equals != std::string::npos) {
                const std::string attribute = words[n].substr(0, equals), value = words[n].substr(equals + 1);
                int number = 0;
                const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
                if (code != std::errc() || end != value.data() + value.size())
                    fail(fmt::format("'{}': '{}' is no whole number", words[n], value));
                if (!attributes_.emplace(attribute, number).second)
                    fail(fmt::format("'{}' is given twice", attribute));
            } else if (n == 1 && words[0] != "output") {
                name_ = words[n];
            } else {
                const auto found = numbers_.find(words[n]);
                if (found == numbers_.end()) fail(fmt::format("there is no '{}' above", words[n]));
                inputs_.push_back(found->second);
            }
        }
        if (words[0] != "output" && name_.empty()) fail(fmt::format("{} without a name", words[0]));
    }

    void add_op(op_kind kind) {
        auto& ops = result_.ops;
        if (kind == op_kind::input && !ops.empty()) fail("a second input");
        if (kind != op_kind::input && ops.empty()) fail("the input must come first");
        op o{kind, name_, inputs_, line_};
        if (kind == op_kind::input) {
            need_inputs(0, 0);
            o.channels = take("C", 1, most_channels);
            if (attributes_.contains("range")) {
                const int range = take("range", 1, 255);
                if (range != 1 && range != 255) fail(fmt::format("range={} is neither 1 nor 255", range));
                result_.range = range;
            }
        } else {
            const bool several = kind == op_kind::add || kind == op_kind::concat;
            need_inputs(several ? 2 : 1, several ? 1 << 20 : 1);
            o.channels = ops[inputs_[0]].channels, o.scale = ops[inputs_[0]].scale;
            complete(o);
        }
        if (!numbers_.emplace(name_, static_cast<int>(ops.size())).second)
            fail(fmt::format("'{}' is there already", name_));
        ops.push_back(std::move(o));
    }

    /// What the kinds have beyond channels and scale of their first input.
    void complete(op& o) {
        const auto& ops = result_.ops;
        switch (o.kind) {
        case op_kind::conv:
            complete_conv(o);
            break;
        case op_kind::add:
        case op_kind::concat:
            for (std::size_t n = 1; n < o.inputs.size(); ++n) {
                const op& other = ops[o.inputs[n]];
                if (other.scale != o.scale)
                    fail(fmt::format("'{}' and '{}' have different sizes, {} and {} times the input's",
                                     ops[o.inputs[0]].name, other.name, o.scale, other.scale));
                if (o.kind == op_kind::add && other.channels != o.channels)
                    fail(fmt::format("'{}' has {} channels, but '{}' has {}", ops[o.inputs[0]].name, o.channels,
                                     other.name, other.channels));
                if (o.kind == op_kind::concat) o.channels += other.channels;
            }
            break;
        case op_kind::upsample_nearest:
        case op_kind::pixel_shuffle:
            o.factor = take("scale", 1, largest_scale);
            o.scale *= o.factor;
            if (o.scale > largest_scale * largest_scale) fail("the picture becomes too large");
            if (o.kind == op_kind::upsample_nearest) break;
            if (o.channels % (o.factor * o.factor) != 0)
                fail(fmt::format("{} channels are no multiple of scale^2 = {}", o.channels, o.factor * o.factor));
            o.channels /= o.factor * o.factor;
            break;
        default:
            break;
        }
    }

    void complete_conv(op& o) {
        const op& from = result_.ops[o.inputs[0]];
        const int c = take("C", 1, most_channels), r = take("R", 1, largest_filter), s = take("S", 1, largest_filter),
                  pad = take("pad", 0, largest_filter);
        o.channels = take("K", 1, most_channels);
        o.filter = r;
        if (c != from.channels) fail(fmt::format("C={}, but '{}' has {} channels", c, from.name, from.channels));
        if (r != s || r % 2 == 0 || pad != (r - 1) / 2)
            fail(fmt::format("R={} S={} pad={}: the picture must keep its size, with R = S odd and pad = (R-1)/2", r,
                             s, pad));
    }

    void need_inputs(std::size_t least, std::size_t most) const {
        if (inputs_.size() < least)
            fail(fmt::format("{} more input{} wanted", least - inputs_.size(),
                             least - inputs_.size() > 1 ? "s are" : " is"));
        if (inputs_.size() > most) fail(fmt::format("{} inputs are too many", inputs_.size()));
    }

    int take(const char* attribute, int least, int most) {
        const auto found = attributes_.find(attribute);
        if (found == attributes_.end()) fail(fmt::format("'{}=' is missing", attribute));
        const int value = found->second;
        if (value < least || value > most)
            fail(fmt::format("{}={} is not between {} and {}", attribute, value, least, most));
        attributes_.erase(found);
        return value;
    }

    graph result_;
    int line_ = 0;
    bool finished_ = false;
    std::map<std::string, int> numbers_;
    std::string name_; ///< of the current line, and so are the next two
    std::vector<int> inputs_;
    std::map<std::string, int> attributes_;
};

} // namespace

const char* name_of(op_kind kind) {
    return std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.second == kind; })->first;
}

int graph::halo() const {
    std::vector<int> need(ops.size(), 0); // in each operation's own pixels
    for (auto n = static_cast<int>(ops.size()) - 1; n > 0; --n) {
        const op& o = ops[n];
        const int reach =
            o.kind == op_kind::conv ? need[n] + (o.filter - 1) / 2 : (need[n] + o.factor - 1) / o.factor;
        for (const int input : o.inputs) need[input] = std::max(need[input], reach);
    }
    return need[0];
}

graph parse_graph(const std::string& text, const std::string& path) { return parser(path).parse(text); }

graph read_graph(const std::string& path) { return parse_graph(common::read_whole(path), path); }

} // namespace cnn
