// cnn_network_test: graphs and weights are read or refused with one message; networks give what plain loops give.
#include "examples/cnn/network/enlarge.hpp"
#include "examples/cnn/network/network.hpp"
#include "examples/cnn/network/schedule.hpp"
#include "examples/common/input_file.hpp"
#include "tests/catch.hpp"
#include "tests/examples/cnn_graphs.hpp"
#include "tests/examples/files.hpp"

#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <string>

using namespace cnn_test;
using namespace examples_test;
using cnn::algorithm, cnn::number_type;

namespace {

std::string complaint_about_graph(const std::string& text) {
    try {
        cnn::parse_graph(text, "g");
    } catch (const common::input_error& error) {
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("random networks of whole numbers are exact, in memory that is used again") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        std::mt19937_64 random(seed);
        const auto made = make_random_network(random);
        const auto g = cnn::parse_graph(made.text, "random");
        INFO("seed " << seed << "\n" << made.text);
        const auto run = cnn::make_network(g, made.weights, seed % 2 ? algorithm::direct : algorithm::f2,
                                           number_type::f32, ricci::default_device());
        for (const auto& [width, height] : {std::pair{5, 4}, {3, 7}}) {
            std::vector<float> numbers(3 * width * height);
            for (float& number : numbers) number = static_cast<float>(random() % 4);
            const auto right = evaluate(g, made.weights, numbers, width, height);
            for (int again = 0; again < 2; ++again) {
                const auto found = (*run)(numbers, width, height);
                REQUIRE(std::vector<double>(found.begin(), found.end()) == right);
            }
        }
    }
}

TEST_CASE("memory is used again where nothing is read any more, and never before") {
    const auto schedule_of = [](const std::string& text) {
        return cnn::make_schedule(cnn::parse_graph("input in C=4\n" + text, "g"));
    };
    const auto conv = [](const std::string& name, const std::string& from, int channels = 4) {
        return fmt::format("conv {} {} K=4 C={} R=3 S=3 pad=1\n", name, from, channels);
    };
    // Two take turns in a chain; what is computed number by number stays where it is.
    CHECK(schedule_of(conv("a", "in") + conv("b", "a") + "prelu c b\n" + conv("d", "c") + "relu e d\noutput e\n")
              .memories == std::vector<std::int64_t>{4, 4});
    // What a concat puts together lies together from the beginning.
    const auto together =
        schedule_of(conv("a", "in") + conv("b", "a") + "concat c a b\n" + conv("d", "c", 8) + "output d\n");
    CHECK(together.in_place(1, 3, 0));
    CHECK(together.in_place(2, 3, 4));
    CHECK(together.memories == std::vector<std::int64_t>{4, 8});
    // A sum of three is added up in turns, and so must not begin in the place of the third.
    const std::string sum =
        "input in C=1\nprelu a in\nprelu b a\nupsample_nearest c a scale=1\nadd d a b c\noutput d\n";
    const cnn::weights w{{"a.slope", {{1}, {1}}}, {"b.slope", {{1}, {1}}}};
    const auto run = cnn::make_network(cnn::parse_graph(sum, "g"), w, algorithm::direct, number_type::f32,
                                       ricci::default_device());
    CHECK((*run)({1, 2, 3}, 3, 1) == std::vector<float>{3, 6, 9});
}

TEST_CASE("tiles make no difference") {
    std::mt19937_64 random(7);
    for (int n = 0; n < 8; ++n) {
        const auto made = make_random_network(random);
        const auto g = cnn::parse_graph(made.text, "random");
        INFO(made.text);
        cnn::picture photograph = cnn::blank(13, 9);
        for (auto& byte : photograph.rgb) byte = random() % 4;
        const auto run = cnn::make_network(g, made.weights, algorithm::f2, number_type::f32, ricci::default_device());
        const auto whole = cnn::enlarge(*run, g, photograph, 100, true);
        CHECK(whole.tiles == 1);
        for (const std::int64_t tile : {1, 4, 5, 9, 12}) {
            const auto parts = cnn::enlarge(*run, g, photograph, tile, true);
            CHECK(parts.tiles == ((13 + tile - 1) / tile) * ((9 + tile - 1) / tile));
            CHECK(parts.numbers == whole.numbers);
            CHECK(parts.image.rgb == whole.image.rgb);
        }
    }
}

TEST_CASE("what a graph says of itself") {
    const auto with = [](const std::string& comment, const std::string& attribute) {
        return cnn::parse_graph(comment + "\n\ninput in C=3 " + attribute + " # 3 colours\noutput in\n", "g").range;
    };
    CHECK(with("", "") == 255);
    CHECK(with("", "range=1") == 1);
    CHECK(with("# image range [0,1] in and out", "") == 1);
    CHECK(with("# image range [0,1] in and out", "range=255") == 255);
    const auto g = cnn::parse_graph("input in C=4\nconv c in K=4 C=4 R=5 S=5 pad=2\npixel_shuffle s c scale=2\n"
                                    "conv d s K=3 C=1 R=3 S=3 pad=1\nconv e d K=3 C=3 R=3 S=3 pad=1\n"
                                    "upsample_nearest u e scale=3\noutput u\n",
                                    "g");
    CHECK(g.scale() == 6);
    CHECK(g.halo() == 3); // 2 of the 5x5, and two of the 3x3 in half pixels
}

TEST_CASE("a graph that is wrong has one message with its line") {
    const std::string in = "input in C=3\n";
    const auto check = [&](const std::string& text, const std::string& message) {
        CHECK(complaint_about_graph(text) == "g: " + message);
    };
    check("", "there is no output");
    check(in, "there is no output");
    check("# nothing\n" + in + "swish s in\n", "line 3: there is no operation 'swish'");
    check("relu r in\n", "line 1: there is no 'in' above");
    check("output\n", "line 1: 1 more input is wanted");
    check("relu r\n", "line 1: the input must come first");
    check(in + "input again C=3\n", "line 2: a second input");
    check("input\n", "line 1: input without a name");
    check("input in\n", "line 1: 'C=' is missing");
    check("input in C=0\n", "line 1: C=0 is not between 1 and 1048576");
    check("input in C=3x\n", "line 1: 'C=3x': '3x' is no whole number");
    check("input in C=3 C=3\n", "line 1: 'C' is given twice");
    check("input in C=3 D=3\n", "line 1: input has no attribute 'D'");
    check("input in C=3 range=2\n", "line 1: range=2 is neither 1 nor 255");
    check(in + "relu in in\n", "line 2: 'in' is there already");
    check(in + "relu r in in\n", "line 2: 2 inputs are too many");
    check(in + "add a in\n", "line 2: 1 more input is wanted");
    check(in + "concat a\n", "line 2: 2 more inputs are wanted");
    check(in + "relu r later\nrelu later in\n", "line 2: there is no 'later' above");
    check(in + "output in\nrelu r in\n", "line 3: nothing may stand behind the output");
    check(in + "conv c in K=3 C=3 R=3 S=3\n", "line 2: 'pad=' is missing");
    check(in + "conv c in K=3 C=4 R=3 S=3 pad=1\n", "line 2: C=4, but 'in' has 3 channels");
    check(in + "conv c in K=3 C=3 R=3 S=3 pad=0\n",
          "line 2: R=3 S=3 pad=0: the picture must keep its size, with R = S odd and pad = (R-1)/2");
    check(in + "pixel_shuffle s in scale=2\n", "line 2: 3 channels are no multiple of scale^2 = 4");
    check(in + "upsample_nearest u in scale=17\n", "line 2: scale=17 is not between 1 and 16");
    check(in + "upsample_nearest u in scale=2\nadd a in u\n",
          "line 3: 'in' and 'u' have different sizes, 1 and 2 times the input's");
    check(in + "conv c in K=2 C=3 R=1 S=1 pad=0\nadd a in c\n", "line 3: 'in' has 3 channels, but 'c' has 2");
}

TEST_CASE("weights that are wrong have one message") {
    const scratch files;
    const auto complaint = [&](const std::string& bytes) -> std::string {
        try {
            cnn::read_safetensors(files.write("w", bytes));
        } catch (const common::input_error& error) {
            const std::string what = error.what();
            REQUIRE(what.starts_with(files.path("w") + ": "));
            return what.substr(files.path("w").size() + 2);
        }
        return {};
    };
    const auto with_header = [](const std::string& header, std::size_t bytes) {
        const std::uint64_t length = header.size();
        std::string file(sizeof length, '\0');
        std::memcpy(file.data(), &length, sizeof length);
        return file + header + std::string(bytes, '\0');
    };
    const std::string good = safetensors({{"a", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"b", {{}, {7}}}});
    const auto read = cnn::read_safetensors(files.write("w", good));
    CHECK(read.at("a").shape == std::vector<std::int64_t>{2, 3});
    CHECK(read.at("a").values == std::vector<float>{1, 2, 3, 4, 5, 6});
    CHECK(read.at("b").values == std::vector<float>{7});
    for (std::size_t length = 0; length < good.size(); ++length)
        CHECK(complaint(good.substr(0, length)).find("cut short") != std::string::npos);
    CHECK(complaint("1234567") == "has 7 bytes, too few for a safetensors file: it may be cut short");
    CHECK(complaint("PK\3\4 no such file") == "is no safetensors file: its header would be too long");
    CHECK(complaint(with_header("{\"a\":", 8)) == "is no safetensors file: its header is no JSON object");
    CHECK(complaint(with_header("[1]", 8)) == "is no safetensors file: its header is no JSON object");
    CHECK(complaint(with_header(R"({"a":{"dtype":"F32"}})", 8)) == "a: dtype, shape and data_offsets are wanted");
    const auto entry = [&](const std::string& dtype, const std::string& shape, const std::string& offsets) {
        return complaint(with_header(fmt::format(R"({{"__metadata__":{{"format":"pt"}},"a":{{"dtype":{},"shape":{},)"
                                                 R"("data_offsets":{}}}}})",
                                                 dtype, shape, offsets),
                                     8));
    };
    CHECK(entry("\"F32\"", "[2]", "[0,8]") == "");
    CHECK(entry("\"F16\"", "[4]", "[0,8]") == "a: its numbers are \"F16\", but F32 is wanted");
    CHECK(entry("\"F32\"", "[-2]", "[0,8]") == "a: its shape is no list of sizes: [-2]");
    CHECK(entry("\"F32\"", "2", "[0,8]") == "a: its shape is no list of sizes: 2");
    CHECK(entry("\"F32\"", "[2]", "[8,0]") == "a: its data_offsets are no begin and end: [8, 0]");
    CHECK(entry("\"F32\"", "[2]", "[0]") == "a: its data_offsets are no begin and end: [0]");
    CHECK(entry("\"F32\"", "[2]", "[4,12]") ==
          "a: its numbers end at byte 12 of the data, but the file has only 8: it may be cut short");
    CHECK(entry("\"F32\"", "[3]", "[0,8]") == "a: shape [3] does not fit 8 bytes of numbers");
    CHECK(entry("\"F32\"", "[4611686018427387904,4]", "[0,8]") ==
          "a: shape [4611686018427387904, 4] does not fit 8 bytes of numbers");

    const auto g = cnn::parse_graph("input in C=3\nconv c in K=2 C=3 R=1 S=1 pad=0\nprelu p c\noutput p\n", "g");
    const auto mismatch = [&](const cnn::weights& w) -> std::string {
        try {
            cnn::make_network(g, w, algorithm::direct, number_type::f32, ricci::default_device());
        } catch (const common::input_error& error) {
            return error.what();
        }
        return {};
    };
    cnn::weights w{{"c.weight", {{2, 3, 1, 1}, std::vector<float>(6)}}, {"c.bias", {{2}, {0, 0}}}};
    CHECK(mismatch(w) == "the weights have no 'p.slope', for line 3 of g");
    w["p.slope"] = {{3}, {0, 0, 0}};
    CHECK(mismatch(w) == "the weights' 'p.slope' has shape [3], but line 3 of g wants [2]");
    w["p.slope"] = {{2}, {0, 0}};
    CHECK(mismatch(w) == "");
    w["c.weight"].shape = {3, 2, 1, 1};
    CHECK(mismatch(w) == "the weights' 'c.weight' has shape [3, 2, 1, 1], but line 2 of g wants [2, 3, 1, 1]");
}

TEST_CASE("graphs and weights that are damaged anywhere are read or refused") {
    const scratch files;
    std::mt19937_64 random(3);
    for (int n = 0; n < 300; ++n) {
        const auto made = make_random_network(random);
        std::string text = made.text, bytes = safetensors(made.weights);
        for (auto changes = 1 + random() % 4; changes > 0; --changes) {
            text[random() % text.size()] = "0129=# \nabcdefin"[random() % 17];
            bytes[random() % std::min<std::size_t>(bytes.size(), 400)] = static_cast<char>(random() & 255);
        }
        const std::string path = files.write("w", bytes);
        for (const std::function<void()>& read : {std::function<void()>([&] { cnn::parse_graph(text, "g"); }),
                                                  std::function<void()>([&] { cnn::read_safetensors(path); })})
            try {
                read();
            } catch (const common::input_error& error) {
                REQUIRE(std::string(error.what()).size() > 3);
            }
    }
}
