// cnn_program_test: upscale, the program: what it writes and prints, and that it writes nothing when it refuses.
#include "examples/cnn/image/read_image.hpp"
#include "tests/catch.hpp"
#include "tests/examples/cnn_graphs.hpp"
#include "tests/examples/cnn_image_files.hpp"
#include "tests/examples/files.hpp"

#include <filesystem>

using namespace cnn_test;
using namespace examples_test;
using Catch::Contains;

namespace {

outcome upscale(const std::string& arguments) { return run_program(RICCI_UPSCALE_PROGRAM " " + arguments); }

/// A network of nearest neighbours, x2, that makes red blue and adds 1 to green; a photograph of 3 x 2 pixels.
class small_case {
  public:
    small_case() {
        std::filesystem::create_directory(files.path("model"));
        files.write("model/graph.txt", "input in C=3\nconv c in K=3 C=3 R=1 S=1 pad=0\n"
                                       "upsample_nearest u c scale=2\noutput u\n");
        weights["c.weight"] = {{3, 3, 1, 1}, {0, 0, 1, 0, 1, 0, 1, 0, 0}};
        weights["c.bias"] = {{3}, {0, 1, 0}};
        files.write("model/weights.safetensors", safetensors(weights));
        files.write("photo", png(3, 2, rgb, {}));
    }
    outcome run(const std::string& photo, const std::string& more) const {
        return upscale(files.path(photo) + " " + files.path("out.png") + " --model " + files.path("model") + " " +
                       more);
    }

    scratch files;
    cnn::weights weights;
    std::vector<std::uint8_t> rgb{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 250, 254, 255};
};

} // namespace

TEST_CASE("upscale enlarges, compares and times") {
    const small_case c;
    for (const std::string options : {"", "--tile 1", "--algorithm f6 --type f16", "--time --device cpu"}) {
        const auto ran = c.run("photo", options);
        INFO(ran.output);
        CHECK(ran.exit_code == 0);
        CHECK_THAT(ran.output, Contains("out.png: 6 x 4 pixels"));
        const auto result = cnn::read_image(c.files.path("out.png"));
        REQUIRE((result.width == 6 && result.height == 4));
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 6; ++x) {
                const std::uint8_t *now = result.at(x, y), *from = &c.rgb[3 * (3 * (y / 2) + x / 2)];
                CHECK((now[0] == from[2] && now[1] == from[1] + 1 && now[2] == from[0]));
            }
    }
    const auto timed = c.run("photo", "--time --reference " + c.files.path("out.png") + " --before-after " +
                                          c.files.path("both.png"));
    CHECK(timed.exit_code == 0);
    CHECK_THAT(timed.output, Contains("largest error  0 of 255") && Contains("PSNR           inf dB") &&
                                 Contains("GFLOP/s") && Contains("reading") && Contains("bicubic"));
    const auto both = cnn::read_image(c.files.path("both.png"));
    CHECK((both.width == 12 && both.height == 4));
    CHECK(both.at(11, 3)[0] == 255);
    CHECK(upscale("--help").exit_code == 0);
    CHECK_THAT(upscale("--help").output, Contains("upscale photo.jpg large.png") && Contains("Exit codes: 0 "));
}

TEST_CASE("upscale refuses with one message, exit code 1, and without a file") {
    const small_case c;
    const auto check = [&](const outcome& ran, const std::string& message) {
        INFO(ran.output);
        CHECK(ran.exit_code == 1);
        CHECK_THAT(ran.output, Catch::Matchers::StartsWith("upscale: ") && Contains(message));
        CHECK(std::filesystem::exists(c.files.path("out.png")) == false);
    };
    const std::string pictures = c.files.path("photo") + " " + c.files.path("out.png");
    const auto photo = [&](const std::string& content, const std::string& message) {
        c.files.write("bad", content);
        check(c.run("bad", ""), c.files.path("bad") + ": " + message);
    };
    check(c.run("missing", ""), "missing: there is no such file");
    photo("no picture", "is neither a PNG nor a JPEG file");
    photo("", "is empty");
    photo(png(3, 2, c.rgb, {}).substr(0, 60), "is no whole PNG file: it may be cut short");
    photo(jpeg(3, 2, c.rgb, 3).substr(0, 500), "is cut short or damaged");
    photo(replaced(png(3, 2, c.rgb, {}), std::string("\0\0\0\3\0\0\0\2", 8), std::string("\0\0\0\0\0\0\0\2", 8)),
          "has 0 x 2 pixels: nothing to enlarge");
    photo(png(1, 1, {1, 2, 3, 4, 5, 6}, {2, 16, false, {}, {}}), "has 16 bits a channel");
    photo(png(1, 1, {1, 2, 3, 4}, {6, 8, false, {}, {}}), "has transparent pixels");

    check(upscale(""), "required");
    check(c.run("photo", "--algorithm f3"), "--algorithm: f3 not in {best,direct,f2,f4,f6}");
    check(c.run("photo", "--type f64"), "--type: f64 not in {f16,f32}");
    check(c.run("photo", "--tile 0"), "--tile");
    check(c.run("photo", "--range 2"), "--range");
    check(c.run("photo", "--device tpu"), "tpu");
    check(upscale(pictures + " --model \"\""), "--model: must not be empty");
    check(c.run("photo", "--before-after " + c.files.path("./out.png")), "are the same file");
    check(c.run("photo", "--before-after " + c.files.path("none/both.png")), "none/both.png: cannot be written");
    check(c.run("photo", "--reference " + c.files.path("photo")), "has 3 x 2 pixels, but the result will have 6 x 4");
    check(upscale(c.files.path("photo") + " " + c.files.path("none/out.png") + " --model " + c.files.path("model")),
          "none/out.png: cannot be written");
    c.files.write("reference.npy", "\x93NUMPY");
    check(c.run("photo", "--reference " + c.files.path("reference.npy")), "is no whole .npy file of version 1.0");

    check(upscale(pictures + " --model " + c.files.path("none")), "none/graph.txt: there is no such file");
    const auto weights = read_file(c.files.path("model/weights.safetensors"));
    c.files.write("model/weights.safetensors", weights.substr(0, weights.size() - 1));
    check(c.run("photo", ""), "cut short");
    cnn::weights other = c.weights;
    other["c.bias"] = {{4}, {0, 0, 0, 0}};
    c.files.write("model/weights.safetensors", safetensors(other));
    check(c.run("photo", ""), "the weights' 'c.bias' has shape [4], but line 2 of ");
    c.files.write("model/weights.safetensors", weights);
    c.files.write("model/graph.txt", "input in C=3\nblur b in\noutput b\n");
    check(c.run("photo", ""), "line 2: there is no operation 'blur'");
    c.files.write("model/graph.txt", "input in C=1\noutput in\n");
    check(c.run("photo", ""), "takes 1 channels and gives 1, but pictures have 3");

    for (const auto& entry : std::filesystem::directory_iterator(c.files.path(""))) {
        const std::string name = entry.path().filename().string();
        INFO(name);
        CHECK((name == "photo" || name == "bad" || name == "model" || name == "reference.npy"));
    }
}
