// cnn_image_test: photographs of every kind are read right or refused with one message; PNG files are written.
#include "examples/cnn/image/formats.hpp"
#include "examples/cnn/image/read_image.hpp"
#include "examples/common/input_file.hpp"
#include "tests/catch.hpp"
#include "tests/examples/cnn_image_files.hpp"
#include "tests/examples/files.hpp"

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

using namespace cnn_test;
using namespace examples_test;
using bytes = std::vector<std::uint8_t>;

namespace {

bytes random_bytes(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    bytes result(count);
    for (auto& byte : result) byte = random() & 255;
    return result;
}

cnn::picture read(const std::string& content) {
    const scratch files;
    return cnn::read_image(files.write("photo", content));
}

/// The message without the file's name in front.
std::string complaint(const std::string& content) {
    const scratch files;
    const std::string path = files.write("photo", content);
    try {
        cnn::read_image(path);
    } catch (const common::input_error& error) {
        const std::string what = error.what();
        REQUIRE(what.starts_with(path + ": "));
        return what.substr(path.size() + 2);
    }
    return {};
}

int largest_difference(const bytes& a, const bytes& b) {
    REQUIRE(a.size() == b.size());
    int largest = 0;
    for (std::size_t n = 0; n < a.size(); ++n) largest = std::max(largest, std::abs(int{a[n]} - int{b[n]}));
    return largest;
}

/// Each number three times.
bytes tripled(const bytes& grey) {
    bytes rgb;
    for (const auto value : grey) rgb.insert(rgb.end(), 3, value);
    return rgb;
}

} // namespace

TEST_CASE("PNG files of every kind that 8-bit RGB holds") {
    const bytes rgb = random_bytes(7 * 5 * 3, 1), grey = random_bytes(7 * 5, 2);
    for (const bool interlaced : {false, true}) {
        const auto plain = read(png(7, 5, rgb, {2, 8, interlaced, {}, {}}));
        CHECK((plain.width == 7 && plain.height == 5));
        CHECK(plain.rgb == rgb);
        CHECK(read(png(7, 5, grey, {0, 8, interlaced, {}, {}})).rgb == tripled(grey));
    }
    CHECK(read(png(8, 1, {0b10100110}, {0, 1, false, {}, {}})).rgb == tripled({255, 0, 255, 0, 0, 255, 255, 0}));
    CHECK(read(png(2, 1, {1, 2, 3, 255, 4, 5, 6, 255}, {6, 8, false, {}, {}})).rgb == bytes{1, 2, 3, 4, 5, 6});
    CHECK(read(png(2, 1, {9, 255, 4, 255}, {4, 8, false, {}, {}})).rgb == tripled({9, 4}));
}

TEST_CASE("JPEG files, however the camera was held") {
    bytes smooth(24 * 16 * 3), grey(24 * 16);
    for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 24; ++x) {
            for (int c = 0; c < 3; ++c) smooth[3 * (24 * y + x) + c] = 40 + 5 * x + 3 * y + 10 * c;
            grey[24 * y + x] = 200 - 4 * x - 3 * y;
        }
    const std::string file = jpeg(24, 16, smooth, 3);
    CHECK(largest_difference(read(file).rgb, smooth) <= 2); // of rounding, in colour spaces and cosines
    CHECK(largest_difference(read(jpeg(24, 16, grey, 1)).rgb, tripled(grey)) <= 2);

    const auto stored = read(file);
    CHECK(read(with_orientation(file, 9, true)).rgb == stored.rgb);
    // Exif 2.32: which side of what is seen the stored first row is, and which the first column.
    const std::string first_row[]{"top", "top", "bottom", "bottom", "left", "right", "right", "left"},
        first_column[]{"left", "right", "right", "left", "top", "top", "bottom", "bottom"};
    for (int orientation = 1; orientation <= 8; ++orientation) {
        CAPTURE(orientation);
        const auto seen = read(with_orientation(file, orientation, orientation % 2 == 0));
        CHECK(seen.width == (orientation < 5 ? 24 : 16));
        CHECK(seen.height == (orientation < 5 ? 16 : 24));
        const std::string row = first_row[orientation - 1], column = first_column[orientation - 1];
        bool right = true;
        for (int y = 0; y < 16; ++y)
            for (int x = 0; x < 24; ++x) {
                const auto away = [&](const std::string& side, std::int64_t n) { // from the left or the top
                    return side == "left" || side == "top" ? n
                           : side == "right"               ? seen.width - 1 - n
                                                           : seen.height - 1 - n;
                };
                const bool rows_are_rows = row == "top" || row == "bottom";
                const auto* there =
                    rows_are_rows ? seen.at(away(column, x), away(row, y)) : seen.at(away(row, y), away(column, x));
                for (int c = 0; c < 3; ++c) right = right && there[c] == stored.at(x, y)[c];
            }
        CHECK(right);
    }
}

TEST_CASE("what is no photograph of 8-bit RGB has one message") {
    const bytes rgb = random_bytes(4 * 4 * 3, 3);
    const std::string good = png(4, 4, rgb, {}), photo = jpeg(4, 4, rgb, 3);
    CHECK(complaint("") == "is empty");
    CHECK(complaint("GIF89a") == "is neither a PNG nor a JPEG file");
    CHECK(complaint(std::string(100, '\0')) == "is neither a PNG nor a JPEG file");
    CHECK_THAT(complaint(png(2, 1, random_bytes(12, 4), {2, 16, false, {}, {}})),
               Catch::Matchers::StartsWith("has 16 bits a channel"));
    for (const auto& alpha : {png(2, 1, {1, 2, 3, 255, 4, 5, 6, 254}, {6, 8, false, {}, {}}),
                              png(2, 1, {9, 255, 4, 0}, {4, 8, false, {}, {}})})
        CHECK_THAT(complaint(alpha), Catch::Matchers::StartsWith("has transparent pixels"));
    for (const bytes& opacity : {bytes{}, bytes{255, 9}})
        CHECK_THAT(complaint(png(2, 1, {0, 1}, {3, 8, false, {1, 2, 3, 4, 5, 6}, opacity})),
                   Catch::Matchers::StartsWith("has a palette"));
    CHECK_THAT(complaint(jpeg(2, 2, random_bytes(16, 5), 4)), Catch::Matchers::StartsWith("is in CMYK"));
    for (const std::size_t place : {16, 20}) { // where width and height stand
        std::string none = good;
        none.replace(place, 4, 4, '\0');
        CHECK(complaint(none) ==
              (place == 16 ? "has 0 x 4 pixels: nothing to enlarge" : "has 4 x 0 pixels: nothing to enlarge"));
    }
    const scratch files;
    CHECK_THROWS_WITH(cnn::read_image(files.path("none")), files.path("none") + ": there is no such file");
    CHECK_THROWS_WITH(cnn::read_image(files.path("")), Catch::Contains("cannot be read: Is a directory"));

    // Cut short anywhere. (A PNG's last chunk, 12 bytes, has nothing of the picture; a JPEG's end is its last
    // marker.)
    for (std::size_t length = 1; length + 12 <= good.size(); ++length) {
        CAPTURE(length);
        CHECK(complaint(good.substr(0, length)) != "");
    }
    for (std::size_t length = 1; length < photo.size(); ++length) {
        CAPTURE(length);
        CHECK(complaint(photo.substr(0, length)) != "");
    }
    CHECK_THAT(complaint(good.substr(0, good.size() - 20)), Catch::Contains("cut short"));
    CHECK_THAT(complaint(photo.substr(0, photo.size() - 20)), Catch::Contains("cut short"));

    // Damaged anywhere: read or refused, but neither a crash nor another exception.
    std::mt19937 random(6);
    for (const std::string& file : {good, photo, with_orientation(photo, 6, true)})
        for (int n = 0; n < 2000; ++n) {
            std::string damaged = file;
            for (auto bytes = 1 + random() % 3; bytes > 0; --bytes)
                damaged[8 + random() % (damaged.size() - 8)] = static_cast<char>(random() & 255);
            try {
                const auto p = cnn::read_image(files.write("damaged", damaged));
                REQUIRE(p.rgb.size() == static_cast<std::size_t>(3 * p.width * p.height));
            } catch (const common::input_error&) {
            }
        }
}

TEST_CASE("PNG files are written as they are read") {
    const scratch files;
    cnn::picture p = cnn::blank(9, 4);
    p.rgb = random_bytes(p.rgb.size(), 7);
    common::output_file file(files.path("p.png"));
    cnn::write_png(p, file);
    file.finish();
    CHECK(cnn::read_image(files.path("p.png")).rgb == p.rgb);
}

TEST_CASE("numbers, bytes and bicubic enlargement") {
    CHECK(cnn::to_byte(0.5, 255) == 0); // halves to the even neighbour
    CHECK(cnn::to_byte(1.5, 255) == 2);
    CHECK(cnn::to_byte(-3, 255) == 0);
    CHECK(cnn::to_byte(255.4, 255) == 255);
    CHECK(cnn::to_byte(1e30, 1) == 255);
    CHECK(cnn::to_byte(0.5 / 255 * 3, 1) == 2);
    cnn::picture ramp = cnn::blank(12, 3);
    for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 12; ++x)
            for (int c = 0; c < 3; ++c) ramp.at(x, y)[c] = 20 * x + 2 * c;
    const auto numbers = cnn::to_numbers(ramp, 2, 1, 3, 2, 1);
    CHECK(numbers.size() == 18);
    CHECK(numbers[0] == 40 / 255.0f);
    CHECK(numbers[5] == 80 / 255.0f);
    CHECK(numbers[6] == 42 / 255.0f);
    // Cubic convolution is exact for straight lines, away from the border.
    const auto twice = cnn::bicubic(ramp, 2);
    CHECK((twice.width == 24 && twice.height == 6));
    for (int x = 4; x < 20; ++x) CHECK(twice.at(x, 3)[1] == cnn::to_byte(20 * ((x + 0.5) / 2 - 0.5) + 2, 255));
    CHECK(cnn::bicubic(ramp, 1).rgb == ramp.rgb);
    const auto two = cnn::beside(ramp, ramp);
    CHECK((two.width == 24 && two.at(15, 2)[0] == 60));
}
