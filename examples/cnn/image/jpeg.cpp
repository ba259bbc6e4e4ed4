// jpeg: by libjpeg, whose errors come back by longjmp: nothing with a destructor is made between.
#include "examples/cnn/image/formats.hpp"
#include "examples/cnn/image/orientation.hpp"
#include "examples/common/input_file.hpp"

#include <fmt/format.h>

#include <array>
#include <csetjmp>
#include <cstdio> // jpeglib.h wants it

#include <jerror.h>
#include <jpeglib.h>

namespace cnn {
namespace {

/// What libjpeg calls back, and what it had to say.
struct complaints {
    jpeg_error_mgr table; ///< the first, so that libjpeg's pointer to it is one to this
    std::jmp_buf back;
    std::array<char, JMSG_LENGTH_MAX> message;
    bool damaged; ///< some of the picture is missing, and libjpeg made something up
};

complaints& of(j_common_ptr jpeg) { return *reinterpret_cast<complaints*>(jpeg->err); }

void on_error(j_common_ptr jpeg) {
    jpeg->err->format_message(jpeg, of(jpeg).message.data());
    std::longjmp(of(jpeg).back, 1);
}

void on_warning(j_common_ptr jpeg, int level) {
    const int code = jpeg->err->msg_code;
    // Other warnings, such as bytes between markers, leave the picture as it is.
    if (level >= 0 || (code != JWRN_JPEG_EOF && code != JWRN_HIT_MARKER && code != JWRN_HUFF_BAD_CODE)) return;
    if (!of(jpeg).damaged) jpeg->err->format_message(jpeg, of(jpeg).message.data());
    of(jpeg).damaged = true;
}

/// Whether all went well; else `found.message` tells what did not. `exif` is where the data of the Exif marker go.
bool decode(std::string_view bytes, complaints& found, picture& result, std::string& exif) {
    jpeg_decompress_struct jpeg{};
    jpeg.err = jpeg_std_error(&found.table);
    found.table.error_exit = on_error;
    found.table.emit_message = on_warning;
    if (setjmp(found.back)) {
        jpeg_destroy_decompress(&jpeg);
        return false;
    }
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    constexpr unsigned longest_marker = 0xffff;
    jpeg_save_markers(&jpeg, JPEG_APP0 + 1, longest_marker);
    jpeg_read_header(&jpeg, TRUE);
    if (jpeg.num_components == 4) {
        fmt::format_to_n(found.message.data(), found.message.size() - 1, "{}",
                         "is in CMYK, but the networks are for RGB: convert it first, for example by "
                         "'convert IN -colorspace sRGB OUT'");
        jpeg_destroy_decompress(&jpeg);
        return false;
    }
    for (auto* marker = jpeg.marker_list; marker; marker = marker->next)
        if (exif.empty()) exif.assign(reinterpret_cast<const char*>(marker->data), marker->data_length);
    jpeg.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg);
    result = blank(jpeg.output_width, jpeg.output_height);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = result.at(0, jpeg.output_scanline);
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    return !found.damaged;
}

} // namespace

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }

picture read_jpeg(std::string_view bytes, const std::string& path) {
    complaints found{};
    picture result;
    std::string exif;
    if (!decode(bytes, found, result, exif)) {
        const std::string message = found.message.data();
        throw common::input_error(message.starts_with("is ")
                                      ? fmt::format("{}: {}", path, message)
                                      : fmt::format("{}: is cut short or damaged: {}", path, message));
    }
    return turned(result, orientation_of(exif));
}

} // namespace cnn
