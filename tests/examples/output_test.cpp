// output_test: the files that the FEM example writes: MatrixMarket, VTU and PNG.
#include "examples/fem/mesh/read_mesh.hpp"
#include "examples/fem/operators/element_matrices.hpp"
#include "examples/fem/operators/sparse_matrix.hpp"
#include "examples/fem/output/matrix_market.hpp"
#include "examples/fem/output/plot.hpp"
#include "examples/fem/output/vtu.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <png.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace fem_test;

namespace {

/// The text between `begin` and `end`, from `from` on, which moves behind it.
std::string between(const std::string& text, const std::string& begin, const std::string& end, std::size_t& from) {
    const auto start = text.find(begin, from);
    REQUIRE(start != std::string::npos);
    const auto stop = text.find(end, start + begin.size());
    REQUIRE(stop != std::string::npos);
    from = stop + end.size();
    return text.substr(start + begin.size(), stop - start - begin.size());
}

std::string base64_decoded(const std::string& text) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    unsigned word = 0;
    int bits = 0;
    for (const char c : text) {
        const auto digit = digits.find(c);
        if (digit == std::string::npos) continue;
        word = word << 6 | static_cast<unsigned>(digit);
        if ((bits += 6) >= 8) bytes += static_cast<char>(word >> (bits -= 8) & 255);
    }
    return bytes;
}

/// The numbers of the DataArray whose tag holds `name`.
template <class T>
std::vector<T> array_named(const std::string& vtu, const std::string& name) {
    std::size_t at = vtu.find(name);
    REQUIRE(at != std::string::npos);
    const std::string bytes = base64_decoded(between(vtu, ">\n", "\n</DataArray>", at));
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    REQUIRE(bytes.size() == sizeof size + size);
    std::vector<T> values(size / sizeof(T));
    std::memcpy(values.data(), bytes.data() + sizeof size, size);
    return values;
}

/// Whether every tag is closed in order.
bool well_formed(const std::string& xml) {
    std::vector<std::string> open;
    for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
        const auto end = xml.find('>', at);
        if (end == std::string::npos) return false;
        const std::string tag = xml.substr(at + 1, end - at - 1);
        if (tag.starts_with("?") || tag.ends_with("/")) continue;
        if (tag.starts_with("/")) {
            if (open.empty() || open.back() != tag.substr(1)) return false;
            open.pop_back();
        } else {
            open.push_back(tag.substr(0, tag.find(' ')));
        }
    }
    return open.empty();
}

double linear(const fem::point& at) { return 1 + 2 * at[0] - 3 * at[1] + 0.5 * at[2]; }

/// The nodal values of `linear`.
fem::vector linear_on(const fem::mesh& m, const fem::h1_space& space) {
    const auto at =
        fem::mapped_points(m, fem::positions(fem::node_points::gauss_lobatto, space.order()), ricci::cpu());
    std::vector<double> values(space.dofs());
    for (std::int64_t e = 0; e < space.elements(); ++e)
        for (std::int64_t i = 0; i < space.nodes(); ++i) {
            fem::point here{};
            for (int d = 0; d < m.dimension; ++d) here[d] = at[i + space.nodes() * (d + m.dimension * e)];
            values[space.numbers()[i + space.nodes() * e]] = linear(here);
        }
    return fem::to_device(values, ricci::default_device());
}

} // namespace

TEST_CASE("MatrixMarket files read back as the same matrix, whole or as a triangle") {
    const scratch files;
    const auto m = fem::read_mesh(own_mesh("quarter_pipe.msh"));
    const auto device = ricci::default_device();
    const fem::h1_space space(m, 2);
    const fem::tables basis(fem::quadrature::gauss, 2, device);
    const fem::element_map map(m, basis.along, device);
    fem::sparse_matrix matrix(space, device);
    matrix.assemble(fem::element_diffusion_matrices(basis, 3, m.elements, map.diffusion(), fem::assembly::factored));
    const auto values = matrix.values().download();
    for (const auto form : {fem::symmetry::general, fem::symmetry::symmetric}) {
        const bool half = form == fem::symmetry::symmetric;
        const auto path = files.path("k.mtx");
        common::output_file file(path);
        fem::write_matrix_market(matrix, form, file);
        CHECK(!std::filesystem::exists(path) == !half); // not there before it is complete
        file.finish();
        std::istringstream text(read_file(path));
        std::string banner;
        std::getline(text, banner);
        CHECK(banner == std::string("%%MatrixMarket matrix coordinate real ") + (half ? "symmetric" : "general"));
        std::int64_t rows = 0, columns = 0, entries = 0;
        text >> rows >> columns >> entries;
        CHECK(rows == space.dofs());
        CHECK(columns == space.dofs());
        CHECK(entries == (half ? (matrix.entries() + rows) / 2 : matrix.entries()));
        std::map<std::pair<std::int64_t, std::int64_t>, std::string> read;
        std::int64_t row = 0, column = 0;
        std::string value;
        while (text >> row >> column >> value) CHECK(read.emplace(std::pair{row - 1, column - 1}, value).second);
        CHECK(static_cast<std::int64_t>(read.size()) == entries);
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t n = matrix.row_starts()[r]; n < matrix.row_starts()[r + 1]; ++n) {
                const std::int64_t c = matrix.columns()[n];
                if (half && c > r) continue;
                REQUIRE(read.contains({r, c}));
                REQUIRE(std::stod(read[{r, c}]) == values[n]); // to the last bit
            }
    }
}

TEST_CASE("VTK's order of nodes: corners, edges, faces, inside, each once") {
    for (const int dimension : {2, 3})
        for (int order = 1; order <= 8; ++order) {
            const auto nodes = fem::vtk_node_positions(dimension, order);
            CHECK(static_cast<std::int64_t>(nodes.size()) == fem::power(order + 1, dimension));
            CHECK(std::set<std::array<int, 3>>(nodes.begin(), nodes.end()).size() == nodes.size());
            for (int c = 0; c < 1 << dimension; ++c)
                for (int d = 0; d < 3; ++d) CHECK(nodes[c][d] == order * fem::corner_positions[c][d]);
        }
    // The biquadratic quadrilateral and the triquadratic hexahedron, where VTK's documentation has pictures; the
    // faces of Lagrange cells are x low and high, y, z, and the edges between bottom and top those of VTK 9.1 and
    // later.
    CHECK(fem::vtk_node_positions(2, 2) ==
          std::vector<std::array<int, 3>>{
              {0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {1, 0, 0}, {2, 1, 0}, {1, 2, 0}, {0, 1, 0}, {1, 1, 0}});
    const auto hexahedron = fem::vtk_node_positions(3, 2);
    const std::vector<std::array<int, 3>> behind_corners(hexahedron.begin() + 8, hexahedron.end());
    CHECK(behind_corners == std::vector<std::array<int, 3>>{{1, 0, 0},
                                                            {2, 1, 0},
                                                            {1, 2, 0},
                                                            {0, 1, 0},
                                                            {1, 0, 2},
                                                            {2, 1, 2},
                                                            {1, 2, 2},
                                                            {0, 1, 2},
                                                            {0, 0, 1},
                                                            {2, 0, 1},
                                                            {2, 2, 1},
                                                            {0, 2, 1},
                                                            {0, 1, 1},
                                                            {2, 1, 1},
                                                            {1, 0, 1},
                                                            {1, 2, 1},
                                                            {1, 1, 0},
                                                            {1, 1, 2},
                                                            {1, 1, 1}});
    // Inner nodes of an edge and of a face, order 3: along growing coordinates, the lower one fastest.
    const auto cubic = fem::vtk_node_positions(3, 3);
    CHECK(cubic[8 + 4] == std::array<int, 3>{1, 3, 0}); // the third edge, from corner 3 to corner 2
    CHECK(cubic[8 + 24 + 1] == std::array<int, 3>{0, 2, 1});
}

TEST_CASE("VTU files are well formed and hold the mesh and the function") {
    const scratch files;
    for (const std::string name : {"square.mesh", "cube.mesh", "quarter_pipe.msh", "quarter_ring.msh"})
        for (const int p : {1, 2, 5}) {
            INFO(name << ", p = " << p);
            const auto m = fem::read_mesh(own_mesh(name));
            const fem::h1_space space(m, p);
            const auto u = linear_on(m, space);
            common::output_file file(files.path("u.vtu"));
            fem::write_vtu(m, space, {{"u", &u}}, file);
            file.finish();
            const auto text = read_file(files.path("u.vtu"));
            CHECK(well_formed(text));
            CHECK_THAT(text, Catch::Contains("type=\"UnstructuredGrid\" version=\"2.2\""));
            const int order = std::max(p, m.order);
            const std::int64_t n = fem::power(order + 1, m.dimension);
            const auto points = array_named<double>(text, "NumberOfComponents=\"3\"");
            const auto values = array_named<double>(text, "Name=\"u\"");
            const auto connectivity = array_named<std::int64_t>(text, "Name=\"connectivity\"");
            const auto offsets = array_named<std::int64_t>(text, "Name=\"offsets\"");
            const auto types = array_named<std::uint8_t>(text, "Name=\"types\"");
            const auto attributes = array_named<std::int32_t>(text, "Name=\"attribute\"");
            CHECK(static_cast<std::int64_t>(points.size()) == 3 * n * m.elements);
            CHECK(static_cast<std::int64_t>(values.size()) == n * m.elements);
            CHECK(connectivity.size() == values.size());
            CHECK(offsets.back() == n * m.elements);
            CHECK(types == std::vector<std::uint8_t>(m.elements, m.dimension == 2 ? 70 : 72));
            CHECK(std::vector<int>(attributes.begin(), attributes.end()) == m.attributes);
            // A linear function is its values at the points, where the space has it: straight elements, or p >= k.
            if (p >= m.order)
                for (std::size_t k = 0; k < values.size(); ++k)
                    REQUIRE(values[k] ==
                            Approx(linear({points[3 * k], points[3 * k + 1], points[3 * k + 2]})).margin(1e-13));
            // Each cell's nodes lie where the element's polynomials put them.
            const auto places = fem::vtk_node_positions(m.dimension, order);
            const auto at = fem::mapped_points(m, fem::positions(fem::node_points::uniform, order), ricci::cpu());
            for (std::int64_t e = 0; e < m.elements; ++e)
                for (std::int64_t k = 0; k < n; ++k)
                    for (int d = 0; d < m.dimension; ++d)
                        REQUIRE(points[3 * (k + n * e) + d] ==
                                at[fem::lexicographic(places[k], order) + n * (d + m.dimension * e)]);
        }
}

TEST_CASE("pictures are PNG files that show the domain") {
    const scratch files;
    for (const std::string name : {"square.mesh", "quarter_pipe.msh"}) {
        const auto m = fem::read_mesh(own_mesh(name));
        const fem::h1_space space(m, 2);
        const auto path = files.path("u.png");
        common::output_file file(path);
        fem::plot(m, space, linear_on(m, space).download(), 240, 180).write(file);
        file.finish();
        png_image image{};
        image.version = PNG_IMAGE_VERSION;
        REQUIRE(png_image_begin_read_from_file(&image, path.c_str()));
        CHECK(image.width == 240);
        CHECK(image.height == 180);
        image.format = PNG_FORMAT_RGB;
        std::vector<unsigned char> pixels(PNG_IMAGE_SIZE(image));
        REQUIRE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr));
        std::set<std::array<unsigned char, 3>> colours;
        std::int64_t white = 0, beside_scale = 0;
        for (int y = 0; y < 180; ++y)
            for (int x = 0; x < 240; ++x) {
                const unsigned char* c = &pixels[3 * (y * 240 + x)];
                colours.insert({c[0], c[1], c[2]});
                const bool is_white = c[0] == 255 && c[1] == 255 && c[2] == 255;
                white += is_white;
                beside_scale += !is_white && x < 160;
            }
        CHECK(colours.size() > 500); // colours run
        CHECK(white > 240 * 180 / 4);
        CHECK(beside_scale > 240 * 180 / 8);
    }
}

TEST_CASE("an output file is there whole or not at all") {
    const scratch files;
    const auto path = files.write("kept.mtx", "old");
    {
        common::output_file file(path);
        file.write("new");
        CHECK(read_file(path) == "old");
    } // given up
    CHECK(read_file(path) == "old");
    std::set<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
        left.insert(entry.path().filename().string());
    CHECK(left == std::set<std::string>{"kept.mtx"});
    CHECK_THROWS_WITH(common::output_file(files.path("none/k.mtx")),
                      Catch::Contains("cannot be written: No such file"));
    CHECK_THROWS_WITH(common::output_file(files.path("")), Catch::Contains("is a folder"));
}

TEST_CASE("an output file goes where its path leads") {
    namespace fs = std::filesystem;
    const scratch files;
    const auto put = [](const std::string& path, std::string_view text) {
        common::output_file file(path);
        file.write(text);
        file.finish();
    };
    // Through links, also those that lead nowhere yet, and to a name in another folder.
    const auto target = files.write("target", "old");
    fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink("target", files.path("link"));
    put(files.path("link"), "new");
    CHECK(fs::is_symlink(files.path("link")));
    CHECK(read_file(target) == "new");
    CHECK(fs::status(target).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    fs::create_directory(files.path("folder"));
    fs::create_symlink("folder/later", files.path("dangling"));
    put(files.path("dangling"), "there");
    CHECK(fs::is_symlink(files.path("dangling")));
    CHECK(read_file(files.path("folder/later")) == "there");
    fs::create_symlink("loop", files.path("loop"));
    CHECK_THROWS_WITH(common::output_file(files.path("loop")), Catch::Contains("Too many levels of symbolic links"));
    CHECK_THROWS_WITH(common::output_file(files.path(std::string(300, 'a'))), Catch::Contains("File name too long"));
    put(files.path(std::string(255, 'a')), "the longest name");
    CHECK(read_file(files.path(std::string(255, 'a'))) == "the longest name");
    CHECK_THROWS_WITH(common::output_file(""), "an output file needs a name");

    // A pipe stays one, and a device.
    REQUIRE(mkfifo(files.path("pipe").c_str(), 0600) == 0);
    std::string piped;
    std::thread reader([&] { piped = read_file(files.path("pipe")); });
    put(files.path("pipe"), "through a pipe");
    reader.join();
    CHECK(piped == "through a pipe");
    CHECK(fs::is_fifo(files.path("pipe")));
    put("/dev/null", "nothing");
    CHECK(fs::is_character_file("/dev/null"));

    const common::output_file one(files.path("link")), same(files.path("folder/../target")),
        other(files.path("other"));
    CHECK(one.same_file(same));
    CHECK(!one.same_file(other));
}

TEST_CASE("a signal leaves no temporary file behind") {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
        INFO("signal " << number);
        const scratch files;
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            std::signal(number, SIG_DFL); // not what the test's framework does with it
            std::freopen("/dev/null", "w", stderr);
            execl(RICCI_FEM_PROGRAM, "fem", "poisson", "--device", "cpu", "--elements", "4096", "--order", "8",
                  "--vtu", files.path("u.vtu").c_str(), static_cast<char*>(nullptr));
            _exit(127);
        }
        const auto any = [&] {
            const auto folder = std::filesystem::path(files.path("x")).parent_path();
            return std::filesystem::directory_iterator(folder) != std::filesystem::directory_iterator();
        };
        for (int n = 0; n < 3000 && !any(); ++n) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        CHECK(any()); // it has begun
        kill(child, number);
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == number);
        CHECK(!any());
    }
}
