// upscale: enlarges a photograph by a network of convolutions.
#include "examples/cnn/image/formats.hpp"
#include "examples/cnn/image/read_image.hpp"
#include "examples/cnn/network/enlarge.hpp"
#include "examples/cnn/program/reference.hpp"
#include "examples/common/input_file.hpp"
#include "examples/common/output_file.hpp"

#include <ricci/ricci.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <unistd.h>

namespace cnn {
namespace {

struct options {
    std::string photograph, result, model = RICCI_CNN_MODELS "/small_x2", device, before_after, reference;
    algorithm how = algorithm::best;
    number_type type = number_type::f32;
    std::int64_t tile = 512;
    std::optional<double> range;
    bool time = false;
};

/// An option's value that does not do. Exit code 1 with this message.
class usage_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Where a person looks on: which tile is computed, in one place.
class progress_line {
  public:
    void operator()(std::int64_t done, std::int64_t all) {
        if (!isatty(STDERR_FILENO) || all == 1) return;
        fmt::print(stderr, "\r  tile {} of {} ", done + 1, all);
        shown_ = true;
    }
    ~progress_line() {
        if (shown_) fmt::print(stderr, "\r{:40}\r", "");
    }

  private:
    bool shown_ = false;
};

ricci::device device_named(const std::string& name) {
    const ricci::device device = name.empty() ? ricci::default_device() : ricci::parse_device(name);
    const ricci::tensor<float, 1> probe(device); // a name is refused here only where there is no such device
    return device;
}

graph load_graph(const options& o) {
    graph g = read_graph(o.model + "/graph.txt");
    if (o.range) g.range = *o.range;
    if (g.ops[0].channels != 3 || g.ops[g.output].channels != 3)
        throw common::input_error(fmt::format("{}: takes {} channels and gives {}, but pictures have 3", g.path,
                                              g.ops[0].channels, g.ops[g.output].channels));
    return g;
}

void print_times(network& run) {
    const auto times = run.time_layers();
    double all = 0;
    for (const auto& t : times) all += t.seconds;
    fmt::print("Layers           of the last tile, each by itself\n");
    for (const auto& t : times)
        fmt::print("  {:<16} {:9.3f} ms {:5.1f} %{}\n", t.name, 1e3 * t.seconds, 100 * t.seconds / all,
                   t.products > 0 ? fmt::format(" {:9.1f} GFLOP/s  {}", 2e-9 * t.products / t.seconds, t.how) : "");
    fmt::print("  {:<16} {:9.3f} ms\n", "all", 1e3 * all);
}

void enlarge_file(const options& o) {
    const auto start = std::chrono::steady_clock::now();
    const graph g = load_graph(o);
    const auto w = read_safetensors(o.model + "/weights.safetensors");
    const picture photograph = read_image(o.photograph);
    const std::int64_t width = photograph.width * g.scale(), height = photograph.height * g.scale();
    std::optional<reference> right;
    if (!o.reference.empty()) right = read_reference(o.reference);
    if (right && (right->width != width || right->height != height))
        throw usage_error(fmt::format("{}: has {} x {} pixels, but the result will have {} x {}", right->path,
                                      right->width, right->height, width, height));
    const ricci::device device = device_named(o.device);
    const auto run = make_network(g, w, o.how, o.type, device);
    common::output_file file(o.result); // now, so that nothing is computed in vain
    std::optional<common::output_file> both;
    if (!o.before_after.empty()) both.emplace(o.before_after);
    if (both && both->same_file(file))
        throw usage_error(fmt::format("{} and {} are the same file", o.result, o.before_after));

    const auto ready = std::chrono::steady_clock::now();
    const enlarged result = [&] {
        progress_line line;
        return enlarge(*run, g, photograph, o.tile, right && !right->numbers.empty(),
                       [&](std::int64_t done, std::int64_t all) { line(done, all); });
    }();
    const auto computed = std::chrono::steady_clock::now();
    const picture plain = both || right ? bicubic(photograph, g.scale()) : picture{};
    write_png(result.image, file);
    if (both) write_png(beside(plain, result.image), *both);
    file.finish();
    if (both) both->finish();

    const auto seconds = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
    fmt::print("Photograph       {}: {} x {} pixels\n", o.photograph, photograph.width, photograph.height);
    fmt::print("Network          {}: {} x {} pixels from each, on {}\n", o.model, g.scale(), g.scale(),
               device.name());
    if (o.time) {
        fmt::print("  reading        {:8.3f} s  with transforming the filters\n", seconds(start, ready));
        fmt::print("  network        {:8.3f} s  in {} tile{}, with compiling what was not compiled\n",
                   seconds(ready, computed), result.tiles, result.tiles == 1 ? "" : "s");
        fmt::print("  writing        {:8.3f} s\n", seconds(computed, std::chrono::steady_clock::now()));
        print_times(*run);
    }
    if (right) print_comparison(*right, result, plain, g.range);
    fmt::print("written          {}: {} x {} pixels\n", o.result, width, height);
    if (both) fmt::print("written          {}: bicubic on the left, the network's on the right\n", o.before_after);
}

/// An option whose text is one of the names.
template <class Value>
void add_choice(CLI::App& app, const char* name, const std::map<std::string, Value>& names, Value& chosen,
                const char* description) {
    std::vector<std::string> texts;
    for (const auto& [text, value] : names) texts.push_back(text);
    app.add_option_function<std::string>(
           name, [&chosen, names](const std::string& text) { chosen = names.at(text); }, description)
        ->check(CLI::IsMember(texts));
}

void add_options(CLI::App& app, options& o) {
    const CLI::Validator not_empty(
        [](const std::string& text) { return text.empty() ? std::string("must not be empty") : std::string(); }, "");
    const std::map<std::string, algorithm> algorithms{{"direct", algorithm::direct},
                                                      {"f2", algorithm::f2},
                                                      {"f4", algorithm::f4},
                                                      {"f6", algorithm::f6},
                                                      {"best", algorithm::best}};
    const std::map<std::string, number_type> types{{"f32", number_type::f32}, {"f16", number_type::f16}};
    app.add_option("PHOTO", o.photograph, "PNG or JPEG")->required()->check(not_empty);
    app.add_option("RESULT", o.result, "the PNG file to write")->required()->check(not_empty);
    app.add_option("--model", o.model, "folder with graph.txt and weights.safetensors")
        ->check(not_empty)
        ->capture_default_str();
    app.add_option("--device", o.device, "cpu, cuda or cuda:N (default: a GPU where there is one)")->check(not_empty);
    add_choice(app, "--algorithm", algorithms, o.how,
               "of 3x3 layers: direct, or f2, f4, f6 for F(2x2), F(4x4), F(6x6); best: of each layer the one that is "
               "expected to be the fastest (default: best)");
    add_choice(app, "--type", types, o.type, "f32, or f16: half with sums in float (default: f32)");
    app.add_option("--tile", o.tile, "side of the parts that are computed at a time, in pixels of PHOTO")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20))
        ->capture_default_str();
    app.add_option("--range", o.range, "1 or 255: white for the network (default: what its graph says, else 255)")
        ->check(CLI::IsMember({1.0, 255.0}));
    app.add_option("--before-after", o.before_after, "write the bicubic enlargement and the result side by side")
        ->check(not_empty);
    app.add_option("--reference", o.reference,
                   "compare the result with this PNG or JPEG, or .npy of float32 [3][height][width]")
        ->check(not_empty);
    app.add_flag("--time", o.time, "print seconds, and each layer's");
}

int refuse(const char* message, int exit_code) {
    std::fflush(stdout);
    fmt::print(stderr, "upscale: {}\n", message);
    return exit_code;
}

} // namespace
} // namespace cnn

int main(int argc, char** argv) {
    CLI::App app("Enlarges a photograph by a network of convolutions, in ricci's notation.");
    app.footer("Exit codes: 0 done, 1 a file or an argument is wrong, 2 the environment is wrong, or memory does not "
               "suffice.\nExamples:\n"
               "  upscale photo.jpg large.png\n"
               "  upscale photo.png large.png --algorithm f6 --type f16 --time\n"
               "  upscale small.png large.png --before-after both.png --reference truth.png\n"
               "  upscale photo.png large.png --model FOLDER --range 1 --tile 256 --device cpu");
    cnn::options o;
    cnn::add_options(app, o);
    try {
        app.parse(argc, argv);
        cnn::enlarge_file(o);
        return 0;
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        cnn::refuse(error.what(), 1);
        fmt::print(stderr, "Run with --help for more information.\n");
        return 1;
    } catch (const common::input_error& error) {
        return cnn::refuse(error.what(), 1);
    } catch (const common::output_error& error) {
        return cnn::refuse(error.what(), 1);
    } catch (const cnn::usage_error& error) {
        return cnn::refuse(error.what(), 1);
    } catch (const ricci::error& error) {
        return cnn::refuse(error.what(), error.blame() == ricci::blame::environment ? 2 : 1);
    } catch (const std::bad_alloc&) {
        return cnn::refuse("there is not enough memory: a smaller --tile takes less", 2);
    } catch (const std::exception& error) { // what no mistake of a user should lead to
        return cnn::refuse(error.what(), 2);
    }
}
