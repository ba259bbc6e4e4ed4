// cnn_image_files: see cnn_image_files.hpp.
#include "tests/examples/cnn_image_files.hpp"

#include <png.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <jpeglib.h>

namespace cnn_test {

std::string png(std::uint32_t width, std::uint32_t height, const std::vector<std::uint8_t>& rows,
                const png_options& o) {
    std::string bytes;
    png_structp file = png_create_write_struct(
        PNG_LIBPNG_VER_STRING, nullptr, [](png_structp, png_const_charp what) { throw std::runtime_error(what); },
        nullptr);
    png_infop info = png_create_info_struct(file);
    png_set_write_fn(
        file, &bytes,
        [](png_structp f, png_bytep data, std::size_t count) {
            static_cast<std::string*>(png_get_io_ptr(f))->append(reinterpret_cast<char*>(data), count);
        },
        nullptr);
    png_set_IHDR(file, info, width, height, o.bits, o.colour_type,
                 o.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    std::vector<png_color> palette;
    for (std::size_t n = 0; n < o.palette.size(); n += 3)
        palette.push_back({o.palette[n], o.palette[n + 1], o.palette[n + 2]});
    if (!palette.empty()) png_set_PLTE(file, info, palette.data(), static_cast<int>(palette.size()));
    if (!o.transparency.empty())
        png_set_tRNS(file, info, o.transparency.data(), static_cast<int>(o.transparency.size()), nullptr);
    std::vector<png_bytep> at(height);
    for (std::uint32_t y = 0; y < height; ++y)
        at[y] = const_cast<png_bytep>(rows.data()) + y * (rows.size() / height);
    png_set_rows(file, info, at.data());
    png_write_png(file, info, PNG_TRANSFORM_IDENTITY, nullptr);
    png_destroy_write_struct(&file, &info);
    return bytes;
}

std::string jpeg(std::uint32_t width, std::uint32_t height, const std::vector<std::uint8_t>& rows, int channels) {
    jpeg_compress_struct file{};
    jpeg_error_mgr errors{};
    file.err = jpeg_std_error(&errors);
    jpeg_create_compress(&file);
    unsigned char* memory = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&file, &memory, &size);
    file.image_width = width, file.image_height = height, file.input_components = channels;
    file.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&file);
    jpeg_set_quality(&file, 100, TRUE);
    for (int c = 0; c < file.num_components; ++c)
        file.comp_info[c].h_samp_factor = file.comp_info[c].v_samp_factor = 1;
    jpeg_start_compress(&file, TRUE);
    while (file.next_scanline < height) {
        auto* row = const_cast<JSAMPROW>(&rows[std::size_t{file.next_scanline} * width * channels]);
        jpeg_write_scanlines(&file, &row, 1);
    }
    jpeg_finish_compress(&file);
    jpeg_destroy_compress(&file);
    std::string bytes(reinterpret_cast<char*>(memory), size);
    std::free(memory);
    return bytes;
}

std::string with_orientation(const std::string& jpeg, int orientation, bool big_endian) {
    std::string tiff;
    const auto put = [&](std::uint32_t value, int bytes) {
        for (int n = 0; n < bytes; ++n)
            tiff += static_cast<char>(value >> 8 * (big_endian ? bytes - 1 - n : n) & 255);
    };
    tiff += big_endian ? "MM" : "II";
    put(42, 2), put(8, 4);                           // the directory follows at byte 8
    put(2, 2);                                       // two entries:
    put(0x0100, 2), put(4, 2), put(1, 4), put(7, 4); // a width
    put(0x0112, 2), put(3, 2), put(1, 4), put(static_cast<std::uint32_t>(orientation), 2), put(0, 2);
    put(0, 4); // no other directory
    const std::string marker = std::string("Exif\0\0", 6) + tiff;
    const std::size_t length = marker.size() + 2;
    std::string app1("\xff\xe1");
    app1 += static_cast<char>(length >> 8), app1 += static_cast<char>(length & 255);
    return jpeg.substr(0, 2) + app1 + marker + jpeg.substr(2);
}

} // namespace cnn_test
