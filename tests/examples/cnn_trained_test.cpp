// cnn_trained_test: trained networks give what their authors' programs gave, within the gates of the reference data.
#include "examples/cnn/image/read_image.hpp"
#include "examples/cnn/network/enlarge.hpp"
#include "examples/cnn/network/network.hpp"
#include "tests/catch.hpp"
#include "tests/examples/files.hpp"
#include "tools/npy.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

using namespace examples_test;
using cnn::algorithm, cnn::number_type;

namespace {

std::vector<float> read_floats(const std::string& path) {
    const auto header = ricci::tools::read_npy_header(path);
    std::vector<float> values(header.data_bytes / sizeof(float));
    ricci::tools::read_npy_data(path, header, values.data());
    return values;
}

struct published {
    const char *model, *photograph, *result;
    int width; ///< of the photograph, which is square
};
const published models[] = {
    {"realesr_animevideov3_x4", "chelsea_lr_64", "realesr_animevideov3_x4__chelsea_lr_64", 64},
    {"esrgan_slim_x2", "hibiscus_128", "esrgan_slim_x2__hibiscus_128", 128},
    {"esrgan_medium_x2", "hibiscus_128", "esrgan_medium_x2__hibiscus_128", 128},
};

/// The network that the project trained; examples/cnn/train/README.md says what lies there.
const std::string own = RICCI_SOURCE_DIR "/examples/cnn/models/small_x2/";

/// The gates of the data's README: the largest error, where white is 255.
double gate(algorithm how, number_type type) {
    const double f32[]{5e-4, 5e-4, 2e-3, 4e-3, 4e-3}, f16[]{1, 1, 2, 4, 2}; // best: any of these, in half but f6
    return (type == number_type::f16 ? f16 : f32)[static_cast<int>(how)];
}

/// The largest difference from the published result, of 255, for the square of `size` pixels from (at, at) on, with
/// the pixels around it that it depends on, taken from the whole photograph.
double largest_error(const published& p, algorithm how, number_type type, std::int64_t at, std::int64_t size) {
    const std::string folder = std::string(p.model) + "/";
    const cnn::graph g = cnn::read_graph(reference_file("cnn", folder + "graph.txt"));
    const auto w = cnn::read_safetensors(reference_file("cnn", folder + "weights.safetensors"));
    const auto photograph = cnn::read_image(reference_file("cnn", std::string("images/") + p.photograph + ".png"));
    const auto right = read_floats(reference_file("cnn", std::string("reference/") + p.result + ".npy"));
    const auto run = cnn::make_network(g, w, how, type, ricci::default_device());
    const std::int64_t begin = std::max<std::int64_t>(0, at - g.halo()),
                       end = std::min<std::int64_t>(p.width, at + size + g.halo()), side = (end - begin) * g.scale(),
                       whole = p.width * g.scale();
    const auto found = (*run)(cnn::to_numbers(photograph, begin, begin, end - begin, end - begin, g.range),
                              end - begin, end - begin);
    double largest = 0;
    for (std::int64_t c = 0; c < 3; ++c)
        for (std::int64_t y = at * g.scale(); y < (at + size) * g.scale(); ++y)
            for (std::int64_t x = at * g.scale(); x < (at + size) * g.scale(); ++x) {
                const std::int64_t i = x - begin * g.scale(), j = y - begin * g.scale();
                const double error =
                    std::abs(double(found[i + side * (j + side * c)]) - right[x + whole * (y + whole * c)]);
                if (!(error <= largest)) largest = error;
            }
    return largest * 255 / g.range;
}

} // namespace

TEST_CASE("published networks give what they should, within their gates", "[reference]") {
    if (reference_file("cnn", "README.md").empty()) return;
    for (const published& p : models)
        for (const auto type : {number_type::f32, number_type::f16})
            for (const auto how : {algorithm::direct, algorithm::f2, algorithm::f4, algorithm::f6, algorithm::best}) {
                INFO(p.model << ", algorithm " << static_cast<int>(how) << ", type " << static_cast<int>(type));
                // The whole photograph by F(4,3), a part of it by the others.
                const bool whole = how == algorithm::f4;
                CHECK(largest_error(p, how, type, whole ? 0 : p.width / 2 - 6, whole ? p.width : 12) <=
                      gate(how, type));
            }
}

TEST_CASE("in tiles a published network draws its authors' picture, but for a grey level", "[reference]") {
    if (reference_file("cnn", "README.md").empty()) return;
    const cnn::graph g = cnn::read_graph(reference_file("cnn", "esrgan_slim_x2/graph.txt"));
    const auto w = cnn::read_safetensors(reference_file("cnn", "esrgan_slim_x2/weights.safetensors"));
    const auto photograph = cnn::read_image(reference_file("cnn", "images/hibiscus_128.png"));
    const auto right = cnn::read_image(reference_file("cnn", "reference/upstream_esrgan_slim_x2_hibiscus.png")).rgb;
    const auto run = cnn::make_network(g, w, algorithm::f4, number_type::f32, ricci::default_device());
    const auto found = cnn::enlarge(*run, g, photograph, 50, false);
    CHECK(found.tiles == 9);
    REQUIRE(found.image.rgb.size() == right.size());
    int largest = 0, different = 0;
    for (std::size_t n = 0; n < right.size(); ++n) {
        const int difference = std::abs(int{found.image.rgb[n]} - int{right[n]});
        largest = std::max(largest, difference), different += difference > 0;
    }
    CHECK(largest <= 1);
    CHECK(different <= 20); // 3 as the data's README counts, by rounding of numbers that are nearly halves
}

TEST_CASE("the project's own network gives what its training says") {
    const cnn::graph g = cnn::read_graph(own + "graph.txt");
    const auto w = cnn::read_safetensors(own + "weights.safetensors");
    const auto crop = cnn::read_image(own + "crop_in.png");
    const auto right = read_floats(own + "crop_out.npy");
    CHECK(g.range == 1);
    CHECK(std::filesystem::file_size(own + "weights.safetensors") < 1'000'000);
    const auto on_cpu = cnn::make_network(g, w, algorithm::f4, number_type::f32, ricci::cpu());
    const auto there = cnn::enlarge(*on_cpu, g, crop, 512, false).image.rgb;
    for (const auto type : {number_type::f32, number_type::f16})
        for (const auto how : {algorithm::direct, algorithm::f2, algorithm::f4, algorithm::f6, algorithm::best}) {
            INFO("algorithm " << static_cast<int>(how) << ", type " << static_cast<int>(type));
            const auto run = cnn::make_network(g, w, how, type, ricci::default_device());
            const auto [image, found, tiles] = cnn::enlarge(*run, g, crop, 512, true);
            // The same picture on every device, but for a grey level.
            for (std::size_t n = 0; type == number_type::f32 && n < there.size(); ++n)
                REQUIRE(std::abs(int{image.rgb[n]} - int{there[n]}) <= 1);
            REQUIRE(found.size() == right.size());
            double largest = 0;
            for (std::size_t n = 0; n < right.size(); ++n)
                if (const double error = std::abs(double(found[n]) - right[n]); !(error <= largest)) largest = error;
            CHECK(255 * largest <= gate(how, type));
        }
}

TEST_CASE("upscale's own network is closer to the truth than bicubic enlargement") {
    const scratch files;
    const auto ran = run_program(RICCI_UPSCALE_PROGRAM " " + own + "crop_in.png " + files.path("out.png") +
                                 " --reference " + own + "crop_gt.png");
    INFO(ran.output);
    CHECK(ran.exit_code == 0);
    const auto number_after = [&](const std::string& name) {
        const auto at = ran.output.find(name);
        REQUIRE(at != std::string::npos);
        return std::stod(ran.output.substr(at + name.size()));
    };
    CHECK(number_after("PSNR") > number_after("bicubic"));
}
