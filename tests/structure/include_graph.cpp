// include_graph: who may include whom, that every source file says first what it is, and every kernel first waits.
//
// kernels -> kernels. lowering -> the standard library, fmt. runtime -> lowering, kernels. dsl, ricci.hpp -> what
// lowering/statement.hpp and runtime/run.hpp give; dsl/c_*.cpp -> ricci.h too, which has C's headers alone. tools,
// examples, bench -> <ricci/...>; tools -> bench. tests -> anything. CUDA's headers stay in runtime/cuda_*, nvrtc_*
// and cublas*, and in cuda_* of bench/peers, bench/conv and bench/factor, which see runtime/cuda_* too.

#include "tests/catch.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct inclusion {
    std::string name;
    bool quoted = false;
};

/// Paths from the root of the repository to what each file includes.
using include_graph = std::map<std::string, std::vector<inclusion>>;

constexpr const char* folders[] = {"bench",    "cmake",   "dsl",   "examples", "kernels",
                                   "lowering", "runtime", "tests", "tools"};

std::string folder_of(const std::string& path) {
    const auto slash = path.find('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

bool begins_with(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

bool is_cuda_header(const std::string& name) {
    static const std::regex pattern(
        "(cuda|cuda_.*|cudart.*|cublas.*|cublasLt|cudnn.*|cutensor.*|library_types|nvml|nvrtc|nvJitLink|"
        "device_launch_parameters)\\.h"
        "|(cuda|cub|thrust|cooperative_groups|mma)(/.*|\\.h)?");
    return std::regex_match(name, pattern);
}

bool may_use_cuda(const std::string& path) {
    static const std::regex pattern("runtime/(cuda_|nvrtc_|cublas)[^/]*|bench/(conv|factor|peers)/cuda_[^/]*");
    return std::regex_match(path, pattern);
}

/// What `start` includes in quotes, and what that includes, and so on; `start` too.
std::set<std::string> closure(const include_graph& graph, const std::string& start) {
    std::set<std::string> seen;
    std::vector<std::string> open{start};
    while (!open.empty()) {
        const std::string path = open.back();
        open.pop_back();
        const auto file = graph.find(path);
        if (file == graph.end() || !seen.insert(path).second) continue;
        for (const auto& i : file->second)
            if (i.quoted) open.push_back(i.name);
    }
    return seen;
}

/// Why `path` may not include `i`; empty if it may.
std::string refusal(const include_graph& graph, const std::string& path, const inclusion& i) {
    if (is_cuda_header(i.name) && !may_use_cuda(path))
        return folder_of(path) == "tests" ? ""
                                          : "CUDA's headers are private to runtime/cuda_*, nvrtc_* and cublas*, and "
                                            "to cuda_* of the bench's peers";
    const std::string from = folder_of(path);
    if (from == "tests") return "";
    if (path == "ricci.h")
        return !i.quoted && std::regex_match(i.name, std::regex("std[a-z]+\\.h")) ? ""
                                                                                  : "ricci.h has C's headers alone";
    if (!i.quoted) {
        if (from == "lowering" && !std::regex_match(i.name, std::regex("[a-z_]+|fmt/.*")))
            return "lowering includes the standard library and fmt only";
        if (from == "kernels" && path != "kernels/embedded.hpp")
            return "a kernel includes no header from outside kernels/";
        if (begins_with(path, "bench/kernels/") && path.ends_with(".cuh"))
            return "a kernel of the bench includes nothing";
        return "";
    }
    if (!graph.contains(i.name)) return "there is no such file below the repository's root";
    const std::string to = folder_of(i.name);
    if (to == from)
        return from == "bench" && may_use_cuda(i.name) && !may_use_cuda(path) ? "it has CUDA's headers" : "";
    if (from == "tools" && to == "bench") return may_use_cuda(i.name) ? "it has CUDA's headers" : "";
    if (from == "bench" && may_use_cuda(path) && begins_with(i.name, "runtime/cuda_")) return "";
    if (from == "runtime" && (to == "lowering" || to == "kernels")) return "";
    if (from == "dsl" || path == "ricci.hpp") {
        if (path == "ricci.hpp" && to == "dsl") return "";
        if (i.name == "ricci.h")
            return std::regex_match(path, std::regex("dsl/c_[a-z]+\\.cpp")) ? "" : "the C++ surface knows no C";
        return closure(graph, "lowering/statement.hpp").contains(i.name) ||
                       closure(graph, "runtime/run.hpp").contains(i.name)
                   ? ""
                   : "dsl sees what lowering/statement.hpp and runtime/run.hpp give, no more";
    }
    if (from == "tools" || from == "examples" || from == "bench") return "programs include <ricci/...>";
    return from + " may not include " + to;
}

bool is_cxx(const fs::path& file) {
    static const std::set<std::string> endings{".hpp", ".cpp", ".cuh", ".cu", ".h", ".c"};
    return endings.contains(file.extension().string());
}

std::vector<fs::path> source_files() {
    const fs::path root = RICCI_SOURCE_DIR;
    std::vector<fs::path> files{root / "CMakeLists.txt", root / "ricci.hpp", root / "ricci.h"};
    for (const char* folder : folders)
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const auto& path = entry.path();
            if (entry.is_regular_file() &&
                (is_cxx(path) || path.extension() == ".cmake" || path.filename() == "CMakeLists.txt"))
                files.push_back(path);
        }
    return files;
}

include_graph read_graph() {
    static const std::regex pattern(R"re(\s*#\s*include\s*(["<])([^">]+)[">].*)re");
    include_graph graph;
    for (const auto& file : source_files()) {
        if (!is_cxx(file)) continue;
        const std::string path = fs::relative(file, RICCI_SOURCE_DIR).generic_string();
        auto& found = graph[path];
        std::ifstream in(file);
        std::smatch match;
        for (std::string line; std::getline(in, line);) {
            if (!std::regex_match(line, match, pattern)) continue;
            const bool quoted = match[1] == "\"";
            // kernels/ is compiled as strings, without a root: there a file names its siblings.
            const bool sibling = quoted && folder_of(path) == "kernels" && folder_of(match[2]).empty();
            found.push_back({sibling ? "kernels/" + match[2].str() : match[2].str(), quoted});
        }
    }
    return graph;
}

} // namespace

TEST_CASE("no file includes what its folder may not") {
    const include_graph graph = read_graph();
    REQUIRE(graph.contains("lowering/plan.hpp"));
    for (const auto& [path, includes] : graph)
        for (const auto& i : includes) {
            const std::string why = refusal(graph, path, i);
            INFO(path << " includes " << i.name << ": " << why);
            CHECK(why.empty());
        }
}

TEST_CASE("no CUDA header reaches <ricci/ricci.hpp>") {
    const include_graph graph = read_graph();
    const auto reached = closure(graph, "ricci.hpp");
    REQUIRE(reached.size() > 5);
    for (const auto& path : reached) {
        INFO("ricci.hpp reaches " << path);
        CHECK_FALSE(may_use_cuda(path));
        for (const auto& i : graph.at(path)) {
            INFO(path << " includes " << i.name);
            CHECK_FALSE(is_cuda_header(i.name));
        }
    }
}

TEST_CASE("every source file begins with a comment") {
    for (const auto& file : source_files()) {
        std::ifstream in(file);
        std::string line;
        std::getline(in, line);
        INFO(file.string() << " begins with: " << line);
        CHECK(begins_with(line, is_cxx(file) ? "// " : "# "));
    }
}

TEST_CASE("every kernel waits for its stream before anything else") {
    const std::regex kernel("__global__[^;{]*\\{\\s*([^\n]*)");
    int kernels = 0;
    for (const auto& file : source_files()) {
        if (file.extension() != ".cuh" || file.parent_path().filename() != "kernels" ||
            file.parent_path().parent_path() != fs::path(RICCI_SOURCE_DIR))
            continue;
        std::ifstream in(file);
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        for (std::sregex_iterator found(text.begin(), text.end(), kernel), end; found != end; ++found, ++kernels) {
            INFO(file.string());
            CHECK((*found)[1] == "wait_for_stream();");
        }
    }
    CHECK(kernels >= 12);
}

TEST_CASE("the rule refuses what it should") {
    const include_graph graph{{"ricci.hpp", {}},
                              {"ricci.h", {}},
                              {"dsl/expr.hpp", {}},
                              {"kernels/direct.cuh", {}},
                              {"lowering/statement.hpp", {{"lowering/scalar_type.hpp", true}}},
                              {"lowering/scalar_type.hpp", {}},
                              {"lowering/plan.hpp", {}},
                              {"runtime/run.hpp", {{"runtime/device.hpp", true}}},
                              {"runtime/device.hpp", {}},
                              {"runtime/cuda_driver.hpp", {}},
                              {"bench/session.hpp", {}},
                              {"bench/peers/cuda_nvml_api.hpp", {}}};
    const auto allowed = [&](const std::string& path, const std::string& name, bool quoted) {
        return refusal(graph, path, {name, quoted}).empty();
    };
    CHECK(allowed("dsl/expr.hpp", "runtime/device.hpp", true));
    CHECK(allowed("dsl/expr.hpp", "lowering/scalar_type.hpp", true));
    CHECK(allowed("ricci.hpp", "dsl/expr.hpp", true));
    CHECK(allowed("dsl/c_api.cpp", "ricci.h", true));
    CHECK(allowed("ricci.h", "stdint.h", false));
    CHECK(allowed("runtime/run.cpp", "lowering/plan.hpp", true));
    CHECK(allowed("runtime/cuda_driver.cpp", "cuda.h", false));
    CHECK(allowed("lowering/plan.hpp", "vector", false));
    CHECK(allowed("lowering/print.cpp", "fmt/format.h", false));
    CHECK(allowed("tools/main.cpp", "ricci/ricci.hpp", false));
    CHECK(allowed("tools/bench_command.cpp", "bench/session.hpp", true));
    CHECK(allowed("bench/peers/cuda_facts.cpp", "runtime/cuda_driver.hpp", true));
    CHECK(allowed("bench/peers/cuda_facts.cpp", "nvml.h", false));
    CHECK(allowed("bench/peers/cuda_facts.cpp", "bench/peers/cuda_nvml_api.hpp", true));

    CHECK_FALSE(allowed("dsl/expr.hpp", "ricci.h", true));
    CHECK_FALSE(allowed("dsl/c_error.hpp", "ricci.h", true));
    CHECK_FALSE(allowed("ricci.h", "dsl/expr.hpp", true));
    CHECK_FALSE(allowed("ricci.h", "cuda_runtime.h", false));
    CHECK_FALSE(allowed("ricci.h", "vector", false));
    CHECK_FALSE(allowed("dsl/expr.hpp", "lowering/plan.hpp", true));
    CHECK_FALSE(allowed("dsl/expr.hpp", "runtime/cuda_driver.hpp", true));
    CHECK_FALSE(allowed("runtime/run.cpp", "dsl/expr.hpp", true));
    CHECK_FALSE(allowed("runtime/device.cpp", "cuda_runtime.h", false));
    CHECK_FALSE(allowed("lowering/plan.hpp", "runtime/run.hpp", true));
    CHECK_FALSE(allowed("lowering/plan.hpp", "boost/hana.hpp", false));
    CHECK_FALSE(allowed("kernels/direct.cuh", "cuda/std/array", false));
    CHECK_FALSE(allowed("kernels/direct.cuh", "vector", false));
    CHECK_FALSE(allowed("kernels/direct.cuh", "lowering/plan.hpp", true));
    CHECK_FALSE(allowed("tools/main.cpp", "runtime/run.hpp", true));
    CHECK_FALSE(allowed("bench/session.cpp", "runtime/run.hpp", true));
    CHECK_FALSE(allowed("bench/session.cpp", "runtime/cuda_driver.hpp", true));
    CHECK_FALSE(allowed("bench/session.cpp", "bench/peers/cuda_nvml_api.hpp", true));
    CHECK_FALSE(allowed("bench/session.cpp", "cutensor.h", false));
    CHECK_FALSE(allowed("bench/kernels/triad.cuh", "cuda.h", false));
    CHECK_FALSE(allowed("bench/kernels/triad.cuh", "vector", false));
    CHECK_FALSE(allowed("tools/bench_command.cpp", "bench/peers/cuda_nvml_api.hpp", true));
    CHECK_FALSE(allowed("runtime/run.cpp", "bench/session.hpp", true));
    CHECK_FALSE(allowed("runtime/run.cpp", "run.hpp", true));
}
