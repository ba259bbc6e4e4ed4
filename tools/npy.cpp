// npy: NumPy's .npy files (numpy/lib/format.py describes them).
#include "tools/npy.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/lowering/statement.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

namespace ricci::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr std::uint64_t longest_dictionary = 1
                                             << 20; // 32 extents take less than 1 KiB; keeps nonsense from allocating
constexpr std::size_t alignment = 64;               // of the data in a file, as NumPy writes it

constexpr std::pair<std::string_view, lowering::scalar_type> type_codes[] = {{"f2", lowering::scalar_type::f16},
                                                                             {"f4", lowering::scalar_type::f32},
                                                                             {"f8", lowering::scalar_type::f64},
                                                                             {"c8", lowering::scalar_type::c64},
                                                                             {"c16", lowering::scalar_type::c128},
                                                                             {"i4", lowering::scalar_type::i32},
                                                                             {"i8", lowering::scalar_type::i64}};

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
    throw error(fmt::format("{}: {}", file.string(), why));
}

/// Reads the one literal that a header may be: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class dictionary_reader {
  public:
    dictionary_reader(std::string_view text, const fs::path& file) : text_(text), file_(file) {}

    npy_header read() {
        want('{');
        while (!take('}')) {
            const std::string_view key = quoted();
            want(':');
            if (key == "descr")
                set(has_type_, key), type();
            else if (key == "fortran_order")
                set(has_order_, key), order();
            else if (key == "shape")
                set(has_shape_, key), shape();
            else
                refuse(file_, fmt::format("the header has an unknown key '{}'", printable(key)));
            if (!take(',')) {
                want('}');
                break;
            }
        }
        skip_blanks();
        if (at_ != text_.size()) bad();
        if (!has_type_ || !has_order_ || !has_shape_)
            refuse(file_, "the header must have 'descr', 'fortran_order' and 'shape'");
        header_.data_bytes = lowering::size_of(header_.type);
        for (const std::int64_t extent : header_.extents) // at least 1 each, so that no stride overflows either
            if (__builtin_mul_overflow(header_.data_bytes, std::max<std::int64_t>(extent, 1), &header_.data_bytes))
                refuse(file_, "the size of its shape does not fit in 64 bits");
        if (std::count(header_.extents.begin(), header_.extents.end(), 0) > 0) header_.data_bytes = 0;
        return std::move(header_);
    }

  private:
    [[noreturn]] void bad() { refuse(file_, fmt::format("the header is malformed at byte {}", at_)); }

    void set(bool& seen, std::string_view key) {
        if (std::exchange(seen, true)) refuse(file_, fmt::format("the header has '{}' twice", key));
    }

    void skip_blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    }
    bool take(char c) {
        skip_blanks();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void want(char c) {
        if (!take(c)) bad();
    }
    bool take_word(std::string_view word) {
        skip_blanks();
        if (!text_.substr(at_).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }

    std::string_view quoted() {
        skip_blanks();
        if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) bad();
        const std::size_t begin = at_ + 1, end = text_.find(text_[at_], begin);
        if (end == text_.npos) bad();
        at_ = end + 1;
        return text_.substr(begin, end - begin);
    }

    void type() {
        skip_blanks();
        if (at_ < text_.size() && text_[at_] == '[')
            refuse(file_, "it holds records; the types f2, f4, f8, c8 and c16 are known, for index tables i4 and i8");
        const std::string_view code = quoted();
        const auto* known = std::find_if(std::begin(type_codes), std::end(type_codes), [&](const auto& t) {
            return code.size() > 1 && (code[0] == '<' || code[0] == '>') && t.first == code.substr(1);
        });
        if (known == std::end(type_codes))
            refuse(
                file_,
                fmt::format("it holds '{}'; the types f2, f4, f8, c8 and c16 are known, for index tables i4 and i8{}",
                            printable(code),
                            !is_real(code)   ? ""
                            : is_float(code) ? "; convert it: a.astype(float)"
                                             : "; convert it: a.astype(float), a table by a.astype('i8')"));
        header_.type = known->second;
        header_.swapped = (code[0] == '<') != (std::endian::native == std::endian::little);
    }

    void order() {
        if (take_word("True"))
            header_.fortran_order = true;
        else if (take_word("False"))
            header_.fortran_order = false;
        else
            bad();
    }

    void shape() {
        want('(');
        while (!take(')')) {
            skip_blanks();
            std::int64_t extent = 0;
            const char* first = text_.data() + at_;
            const auto [end, problem] = std::from_chars(first, text_.data() + text_.size(), extent);
            if (problem == std::errc::result_out_of_range) refuse(file_, "an extent does not fit in 64 bits");
            if (problem != std::errc()) bad();
            if (extent < 0) refuse(file_, fmt::format("an extent is {}", extent));
            at_ += static_cast<std::size_t>(end - first);
            header_.extents.push_back(extent);
            if (header_.extents.size() > lowering::max_axes)
                refuse(file_, fmt::format("it has more than {} axes", lowering::max_axes));
            const bool comma = take(',');
            if (take(')')) {
                if (!comma && header_.extents.size() == 1) bad(); // (3) is a number in Python
                return;
            }
            if (!comma) bad();
        }
    }

    /// Integers, booleans and other floating-point numbers: what becomes a double by conversion.
    static bool is_real(std::string_view code) {
        return code.size() > 1 && std::string_view("iubf").find(code[1]) != std::string_view::npos;
    }

    static bool is_float(std::string_view code) { return code[1] == 'f'; }

    static std::string printable(std::string_view text) {
        std::string result(text.substr(0, 40));
        for (char& c : result)
            if (c < ' ' || c > '~') c = '?';
        return result;
    }

    std::string_view text_;
    const fs::path& file_;
    std::size_t at_ = 0;
    npy_header header_;
    bool has_type_ = false, has_order_ = false, has_shape_ = false;
};

/// Bytes of what has a byte order: half an element where that is complex.
std::int64_t component_bytes(lowering::scalar_type type) { return lowering::size_of(lowering::real_of(type)); }

std::ifstream open(const fs::path& file) {
    std::error_code problem;
    const auto status = fs::status(file, problem);
    if (!fs::exists(status)) refuse(file, "there is no such file");
    if (!fs::is_regular_file(status)) refuse(file, "it is not a regular file");
    std::ifstream stream(file, std::ios::binary);
    if (!stream) refuse(file, fmt::format("it cannot be read: {}", std::strerror(errno)));
    return stream;
}

} // namespace

std::vector<std::int64_t> npy_header::strides() const {
    std::vector<std::int64_t> result(extents.size());
    std::int64_t stride = 1;
    for (std::size_t i = 0; i < extents.size(); ++i) {
        const std::size_t axis = fortran_order ? i : extents.size() - 1 - i;
        result[axis] = stride;
        stride *= std::max<std::int64_t>(extents[axis], 1);
    }
    return result;
}

npy_header parse_npy_dictionary(std::string_view dictionary, const fs::path& file) {
    return dictionary_reader(dictionary, file).read();
}

npy_header read_npy_header(const fs::path& file) {
    std::ifstream stream = open(file);
    const std::uint64_t size = fs::file_size(file);
    std::array<unsigned char, 12> start{}; // magic, version, and a length of 2 or 4 bytes
    stream.read(reinterpret_cast<char*>(start.data()), 8);
    if (!stream || std::memcmp(start.data(), magic.data(), magic.size()) != 0) refuse(file, "it is not an .npy file");
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        refuse(file, fmt::format("its format version is {}.{}; 1.0, 2.0 and 3.0 are known", start[6], start[7]));
    const int length_bytes = start[6] == 1 ? 2 : 4;
    stream.read(reinterpret_cast<char*>(start.data() + 8), length_bytes);
    if (!stream) refuse(file, "it is truncated in its header");
    std::uint64_t length = 0;
    for (int i = 0; i < length_bytes; ++i) length |= std::uint64_t{start[static_cast<std::size_t>(8 + i)]} << (8 * i);
    const std::uint64_t data_offset = 8 + static_cast<std::uint64_t>(length_bytes) + length;
    if (data_offset > size) refuse(file, "it is truncated in its header");
    if (length > longest_dictionary) refuse(file, fmt::format("its header has {} bytes", length));
    std::string dictionary(length, '\0');
    stream.read(dictionary.data(), static_cast<std::streamsize>(length));
    if (!stream) refuse(file, "it is truncated in its header");

    npy_header header = parse_npy_dictionary(dictionary, file);
    header.data_offset = static_cast<std::int64_t>(data_offset);
    if (static_cast<std::uint64_t>(header.data_bytes) > size - data_offset)
        refuse(file, fmt::format("it is truncated: its header says {} bytes of data, it holds {}", header.data_bytes,
                                 size - data_offset));
    return header;
}

void read_npy_data(const fs::path& file, const npy_header& header, void* target) {
    std::ifstream stream = open(file);
    stream.seekg(header.data_offset);
    char* bytes = static_cast<char*>(target);
    stream.read(bytes, header.data_bytes);
    if (!stream) refuse(file, "it is truncated");
    if (!header.swapped) return;
    const std::int64_t step = component_bytes(header.type);
    for (std::int64_t i = 0; i < header.data_bytes; i += step) std::reverse(bytes + i, bytes + i + step);
}

void write_npy(const fs::path& file, lowering::scalar_type type, const std::vector<std::int64_t>& extents,
               const std::vector<std::int64_t>& strides, const void* data, const fs::path& shown) {
    const auto* code =
        std::find_if(std::begin(type_codes), std::end(type_codes), [&](const auto& t) { return t.second == type; });
    if (code == std::end(type_codes))
        refuse(file, fmt::format("an .npy file cannot hold {}", lowering::name_of(type)));
    std::string dictionary = fmt::format("{{'descr': '{}{}', 'fortran_order': True, 'shape': ({}{}), }}",
                                         std::endian::native == std::endian::little ? '<' : '>', code->first,
                                         fmt::join(extents, ", "), extents.size() == 1 ? "," : "");
    const std::size_t before = magic.size() + 4; // version and length
    dictionary.resize((before + dictionary.size() + alignment) / alignment * alignment - before, ' ');
    dictionary.back() = '\n';

    errno = 0;
    std::ofstream stream(file, std::ios::binary);
    stream << magic << '\1' << '\0' << static_cast<char>(dictionary.size() & 0xff)
           << static_cast<char>(dictionary.size() >> 8) << dictionary;

    // Runs of elements that lie one after another in memory are written at once.
    const std::int64_t element = lowering::size_of(type);
    const char* bytes = static_cast<const char*>(data);
    std::int64_t run = 1, runs = 1;
    std::size_t first_axis = 0;
    while (first_axis < extents.size() && (strides[first_axis] == run || extents[first_axis] == 1))
        run *= extents[first_axis++];
    for (std::size_t axis = first_axis; axis < extents.size(); ++axis) runs *= extents[axis];
    if (run == 0) runs = 0;
    std::vector<std::int64_t> at(extents.size(), 0);
    std::int64_t offset = 0;
    for (std::int64_t i = 0; i < runs && stream; ++i) {
        stream.write(bytes + offset * element, run * element);
        for (std::size_t axis = first_axis; axis < extents.size(); ++axis) {
            offset += strides[axis];
            if (++at[axis] < extents[axis]) break;
            offset -= extents[axis] * strides[axis];
            at[axis] = 0;
        }
    }
    stream.close();
    if (!stream)
        throw error(fmt::format("{}: it cannot be written: {}", (shown.empty() ? file : shown).string(),
                                errno ? std::strerror(errno) : "unknown failure"),
                    blame::environment);
}

} // namespace ricci::tools
