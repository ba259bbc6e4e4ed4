// npy_test: .npy files as NumPy writes them, and as nobody should.
#include "bench/output_files.hpp"
#include "lowering/error.hpp"
#include "tests/catch.hpp"
#include "tests/tools/folder.hpp"
#include "tools/npy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>

using namespace ricci;
using namespace ricci::tools;
using lowering::scalar_type;
using ricci::bench::check_outputs;
using ricci::bench::check_target;
using ricci::bench::output_files;
using ricci::bench::write_outputs;
using tests::folder;
using tests::read_bytes;
using tests::write_bytes;

namespace {

/// A whole file of format version `major`.0, the dictionary padded as NumPy pads it.
std::string npy(std::string dictionary, const std::string& data, int major = 1) {
    const std::size_t length_bytes = major == 1 ? 2 : 4;
    while ((8 + length_bytes + dictionary.size()) % 64 != 63) dictionary += ' ';
    dictionary += '\n';
    std::string file = "\x93NUMPY";
    file += static_cast<char>(major);
    file += '\0';
    for (std::size_t i = 0; i < length_bytes; ++i) file += static_cast<char>(dictionary.size() >> (8 * i) & 0xff);
    return file + dictionary + data;
}

std::string bytes_of(const std::vector<double>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

std::string message(const std::string& file_bytes) {
    const folder f;
    write_bytes(f / "a.npy", file_bytes);
    try {
        std::vector<char> data(1 << 16);
        const auto header = read_npy_header(f / "a.npy");
        if (header.data_bytes <= static_cast<std::int64_t>(data.size()))
            read_npy_data(f / "a.npy", header, data.data());
    } catch (const error& e) {
        CHECK(e.blame() == blame::statement);
        CHECK_THAT(e.what(), Catch::Contains("a.npy: "));
        return e.what();
    }
    return "accepted";
}

std::string dictionary_message(const std::string& dictionary) {
    return message(npy(dictionary, bytes_of({1, 2, 3, 4, 5, 6})));
}

} // namespace

TEST_CASE("files that NumPy wrote are read") {
    // numpy.save of numpy.array([[1, 2, 3], [4, 5, 6]], '<f4'), byte for byte
    const char start[] = "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    std::string bytes(start, sizeof start - 1);
    bytes += std::string(127 - bytes.size(), ' ') + '\n';
    const float values[] = {1, 2, 3, 4, 5, 6};
    bytes.append(reinterpret_cast<const char*>(values), sizeof values);
    REQUIRE(bytes.size() == 128 + 24);
    const folder f;
    write_bytes(f / "a.npy", bytes);
    const auto header = read_npy_header(f / "a.npy");
    CHECK(header.type == scalar_type::f32);
    CHECK(header.extents == std::vector<std::int64_t>{2, 3});
    CHECK_FALSE(header.fortran_order);
    CHECK(header.strides() == std::vector<std::int64_t>{3, 1});
    CHECK(header.data_offset == 128);
    CHECK(header.data_bytes == 24);
    float read[6];
    read_npy_data(f / "a.npy", header, read);
    CHECK(std::equal(read, read + 6, values));
}

TEST_CASE("versions, orders, quotes, ranks and trailing bytes that are allowed") {
    const std::string data = bytes_of({1, 2, 3, 4, 5, 6});
    const folder f;
    const auto header = [&](const std::string& bytes) {
        write_bytes(f / "a.npy", bytes);
        return read_npy_header(f / "a.npy");
    };
    for (const int major : {1, 2, 3}) {
        const auto h = header(npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", data, major));
        CHECK(h.strides() == std::vector<std::int64_t>{1, 2});
        CHECK(h.data_offset % 64 == 0);
        double read[6];
        read_npy_data(f / "a.npy", h, read);
        CHECK(bytes_of({read, read + 6}) == data);
    }
    CHECK(header(npy(R"({"shape":(3,),"fortran_order":False,"descr":"<c16"})", data)).data_bytes == 48);
    CHECK(header(npy("{'descr': '<f2', 'fortran_order': True, 'shape': ()}", data)).extents.empty());
    CHECK(header(npy("{'descr': '<c8', 'fortran_order': True, 'shape': (2,0,5)}", "")).data_bytes == 0);
    CHECK(header(npy("{'descr': '<f8', 'fortran_order': True, 'shape': (-0,)}", "")).data_bytes == 0);
    CHECK(header(npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2,)}", data + "more")).data_bytes == 16);
}

TEST_CASE("the other byte order is swapped, complex numbers by halves") {
    const folder f;
    write_bytes(f / "a.npy", npy("{'descr': '>c16', 'fortran_order': True, 'shape': (1,)}",
                                 std::string("\x3f\xf0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0", 16)));
    const auto header = read_npy_header(f / "a.npy");
    CHECK(header.swapped);
    double value[2];
    read_npy_data(f / "a.npy", header, value);
    CHECK(value[0] == 1);
    CHECK(value[1] == 2);
}

TEST_CASE("what is written is read back, whatever the strides were") {
    const folder f;
    std::vector<double> memory(60);
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<double>(i);
    const std::vector<std::int64_t> extents{2, 3, 4};
    for (const std::vector<std::int64_t>& strides :
         {std::vector<std::int64_t>{1, 2, 6}, {12, 4, 1}, {1, 4, 15}, {4, 1, 15}, {1, 2, -6}, {0, 0, 0}}) {
        const double* first = memory.data() + (strides[2] < 0 ? 18 : 0);
        write_npy(f / "a.npy", scalar_type::f64, extents, strides, first);
        const auto header = read_npy_header(f / "a.npy");
        CHECK(header.fortran_order);
        CHECK(header.extents == extents);
        CHECK(header.data_offset == 128);
        std::vector<double> read(24);
        read_npy_data(f / "a.npy", header, read.data());
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 3; ++j)
                for (int k = 0; k < 4; ++k)
                    CHECK(read[static_cast<std::size_t>(i + 2 * (j + 3 * k))] ==
                          first[i * strides[0] + j * strides[1] + k * strides[2]]);
    }
    const std::pair<scalar_type, const char*> types[] = {{scalar_type::f16, "<f2"},
                                                         {scalar_type::f32, "<f4"},
                                                         {scalar_type::f64, "<f8"},
                                                         {scalar_type::c64, "<c8"},
                                                         {scalar_type::c128, "<c16"}};
    for (const auto& [type, code] : types) {
        write_npy(f / "a.npy", type, {1}, {1}, memory.data());
        CHECK_THAT(read_bytes(f / "a.npy"), Catch::Contains(code) && Catch::Contains("(1,), }"));
        CHECK(read_npy_header(f / "a.npy").type == type);
    }
    write_npy(f / "a.npy", scalar_type::f64, {}, {}, memory.data());
    CHECK_THAT(read_bytes(f / "a.npy"), Catch::Contains("'shape': (), }"));
    write_npy(f / "a.npy", scalar_type::f64, {3, 0}, {1, 3}, nullptr);
    CHECK(read_npy_header(f / "a.npy").extents == std::vector<std::int64_t>{3, 0});
    CHECK_THROWS_AS(write_npy(f / "b.npy", scalar_type::bf16, {1}, {1}, memory.data()), error);
    CHECK_THROWS_AS(write_npy(f / "none/b.npy", scalar_type::f64, {1}, {1}, memory.data()), error);
}

TEST_CASE("files that are not what they say are refused") {
    const std::string good =
        npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", bytes_of({1, 2, 3, 4, 5, 6}));
    REQUIRE(message(good) == "accepted");
    for (std::size_t length = 0; length < good.size(); ++length) {
        CAPTURE(length);
        CHECK_THAT(message(good.substr(0, length)), Catch::Contains(length < 8 ? "not an .npy file" : "truncated"));
    }
    CHECK_THAT(message("PK\3\4 a zip"), Catch::Contains("it is not an .npy file"));
    std::string version = good;
    version[6] = 4;
    CHECK_THAT(message(version), Catch::Contains("its format version is 4.0"));
    version = good;
    version[7] = 1;
    CHECK_THAT(message(version), Catch::Contains("its format version is 1.1"));
    std::string long_header("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12);
    CHECK_THAT(message(long_header), Catch::Contains("truncated in its header"));

    const std::string f8 = "'descr': '<f8', 'fortran_order': True, ";
    CHECK_THAT(dictionary_message("{" + f8 + "'shape': (1000000000000,)}"),
               Catch::Contains("its header says 8000000000000 bytes of data, it holds 48"));
    CHECK_THAT(dictionary_message("{" + f8 + "'shape': (4294967296,4294967296)}"),
               Catch::Contains("does not fit in 64 bits"));
    CHECK_THAT(dictionary_message("{" + f8 + "'shape': (0,4294967296,4294967296)}"),
               Catch::Contains("does not fit in 64 bits"));
    CHECK_THAT(dictionary_message("{" + f8 + "'shape': (9223372036854775808,)}"),
               Catch::Contains("does not fit in 64 bits"));
    CHECK_THAT(dictionary_message("{" + f8 + "'shape': (1152921504606846976,)}"),
               Catch::Contains("does not fit in 64 bits"));
    CHECK_THAT(dictionary_message("{" + f8 + "'shape': (-3,)}"), Catch::Contains("an extent is -3"));
    std::string ones;
    for (int i = 0; i < 33; ++i) ones += "1,";
    CHECK_THAT(dictionary_message("{" + f8 + "'shape': (" + ones + ")}"), Catch::Contains("more than 32 axes"));

    for (const char* type : {"<i2", "<u4", "|b1", "<U5", "|O", "<f16", "f8", "=f8", "<", "", "<M8[ns]"})
        CHECK_THAT(dictionary_message(std::string("{'descr': '") + type + "', 'fortran_order': True, 'shape': ()}"),
                   Catch::Contains("the types f2, f4, f8, c8 and c16 are known, for index tables i4 and i8"));
    CHECK_THAT(dictionary_message("{'descr': [('x', '<f8')], 'fortran_order': True, 'shape': ()}"),
               Catch::Contains("it holds records"));
    CHECK_THAT(dictionary_message("{'descr': '<f8', 'shape': ()}"), Catch::Contains("the header must have"));
    CHECK_THAT(dictionary_message("{" + f8 + "'shape': (), 'x': 1}"), Catch::Contains("an unknown key 'x'"));
    CHECK_THAT(dictionary_message("{" + f8 + f8 + "'shape': ()}"), Catch::Contains("the header has 'descr' twice"));
    for (const char* malformed :
         {"", "{", "[]", "{'descr'}", "{'descr': <f8}", "{'descr': '<f8", "{'descr': '<f8' 'shape': ()}",
          "{'fortran_order': 1}", "{'shape': 3}", "{'shape': (3)}", "{'shape': (3}", "{'shape': (,)}",
          "{'shape': (3 4)}", "{'shape': (3.5,)}", "{'shape': (3,,)}", "{,}", "{'shape': (),,}"})
        CHECK_THAT(dictionary_message(malformed), Catch::Contains("malformed"));
    CHECK_THAT(dictionary_message("{" + f8 + "'shape': ()} x"), Catch::Contains("malformed"));

    const folder f;
    CHECK_THROWS_WITH(read_npy_header(f / "a.npy"), Catch::Contains("there is no such file"));
    CHECK_THROWS_WITH(read_npy_header(f.path()), Catch::Contains("it is not a regular file"));
}

TEST_CASE("damaged headers never do worse than be refused") {
    const std::string good = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }";
    int accepted = 0, refused = 0;
    for (unsigned n = 0; n < 50'000; ++n) {
        std::mt19937 random(n);
        std::string text = good;
        for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t at = random() % text.size();
            if (random() % 2)
                text[at] = static_cast<char>(random());
            else
                text.insert(at, text.substr(random() % text.size(), random() % 8));
        }
        try {
            const auto header = parse_npy_dictionary(text, "a.npy");
            CHECK(header.strides().size() == header.extents.size());
            CHECK(header.data_bytes >= 0);
            ++accepted;
        } catch (const error&) {
            ++refused;
        }
    }
    CHECK(accepted > 500);
    CHECK(refused > 500);
}

TEST_CASE("outputs appear together, keep permissions and follow links") {
    const folder f;
    write_bytes(f / "old.npy", "old");
    std::filesystem::permissions(f / "old.npy", std::filesystem::perms(0640));
    std::filesystem::create_symlink("old.npy", f / "link.npy");
    {
        output_files outputs;
        write_bytes(outputs.add(f / "new.npy"), "1");
        write_bytes(outputs.add(f / "link.npy"), "2");
        CHECK_FALSE(std::filesystem::exists(f / "new.npy"));
        CHECK(read_bytes(f / "old.npy") == "old");
        outputs.commit();
    }
    CHECK(f.contents() == std::map<std::string, std::string>{{"new.npy", "1"}, {"old.npy", "2"}, {"link.npy", "2"}});
    CHECK(std::filesystem::is_symlink(f / "link.npy"));
    CHECK(std::filesystem::status(f / "old.npy").permissions() == std::filesystem::perms(0640));
}

TEST_CASE("outputs that cannot all appear leave everything as it was") {
    const folder f;
    write_bytes(f / "a.npy", "old a");
    {
        output_files outputs;
        write_bytes(outputs.add(f / "a.npy"), "new a");
        CHECK(f.contents().size() == 2);
    }
    CHECK(f.contents() == std::map<std::string, std::string>{{"a.npy", "old a"}});

    output_files outputs;
    for (const char* name : {"a.npy", "b.npy", "c.npy"}) write_bytes(outputs.add(f / name), "new");
    std::filesystem::create_directory(f / "c.npy"); // a file cannot replace it
    const auto failure = [&] {
        try {
            outputs.commit();
        } catch (const error& e) {
            CHECK(e.blame() == blame::environment);
            return std::string(e.what());
        }
        return std::string();
    }();
    CHECK_THAT(failure, Catch::Contains("c.npy: it cannot be replaced"));
    CHECK(read_bytes(f / "a.npy") == "old a");
    CHECK_FALSE(std::filesystem::exists(f / "b.npy"));
    CHECK_THROWS_WITH(check_target(f / "c.npy"), Catch::Contains("it is not a regular file"));
    CHECK_THROWS_WITH(check_target(f / "none/c.npy"), Catch::Contains("there is no folder"));
    CHECK_NOTHROW(check_target(f / "d.npy"));
}

TEST_CASE("what options name is checked before the work, and written after it together") {
    const folder f;
    const std::string a = f / "a.json", b = f / "b.csv";
    CHECK_NOTHROW(check_outputs({{"--json", a}, {"--csv", b}, {"--export", ""}}));
    CHECK_NOTHROW(check_outputs({{"--json", "-"}, {"--csv", b}}));
    CHECK_NOTHROW(check_outputs({{"--json", "/dev/null"}, {"--csv", b}}));
    CHECK_THROWS_WITH(check_outputs({{"--json", "-"}, {"--csv", "-"}}),
                      "--json and --csv cannot both go to the standard output: give one of them a file");
    CHECK_THROWS_WITH(check_outputs({{"--json", a}, {"--csv", (f / "./a.json").string()}}),
                      Catch::StartsWith("--json and --csv are both ") &&
                          Catch::EndsWith("a.json: give each a file of its own"));
    CHECK_THROWS_WITH(check_outputs({{"--csv", (f / "none/b.csv").string()}}), Catch::Contains("there is no folder"));
    CHECK(f.contents().empty());
    write_outputs({{a, "1"}, {"", "2"}, {"/dev/null", "3"}, {b, "4"}});
    CHECK(f.contents() == std::map<std::string, std::string>{{"a.json", "1"}, {"b.csv", "4"}});
    CHECK_THROWS_AS(write_outputs({{a, "5"}, {(f / "none/b.csv").string(), "6"}}), error);
    CHECK(f.contents() == std::map<std::string, std::string>{{"a.json", "1"}, {"b.csv", "4"}});
}
