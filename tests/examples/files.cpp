// files: see files.hpp.
#include "tests/examples/files.hpp"

#include "tests/catch.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>

namespace examples_test {

namespace fs = std::filesystem;

std::string reference_file(const std::string& data, const std::string& name) {
    const char* given = std::getenv("RICCI_SHARED");
    const fs::path folder = fs::path(given ? given : RICCI_SOURCE_DIR "/../shared") / "data" / data,
                   path = folder / name;
    if (fs::exists(path)) return path.string();
    if (fs::exists(folder)) throw std::runtime_error("the reference data lack " + path.string());
    WARN("skipped: there is no " << folder);
    return {};
}

std::string python_with(const std::string& module) {
    for (const std::string python : {"python3", "/usr/bin/python3"}) // the system's packages are those of the latter
        if (run_program(python + " -c 'import " + module + "'").exit_code == 0) return python;
    WARN("skipped: Python has no " << module);
    return {};
}

scratch::scratch() {
    std::string name = (fs::temp_directory_path() / "ricci-examples-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no scratch folder");
    folder_ = name;
}

scratch::~scratch() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

std::string scratch::write(const std::string& name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
}

std::string read_file(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::string replaced(std::string text, std::string_view old, std::string_view with) {
    const auto at = text.find(old);
    if (at == std::string::npos) throw std::runtime_error("the text has no '" + std::string(old) + "'");
    return text.replace(at, old.size(), with);
}

outcome run_program(const std::string& command) {
    FILE* pipe = popen(("RICCI_DEVICE=cpu " + command + " 2>&1").c_str(), "r");
    if (!pipe) throw std::runtime_error("cannot run " + command);
    outcome result;
    char buffer[4096];
    while (const auto n = fread(buffer, 1, sizeof buffer, pipe)) result.output.append(buffer, n);
    const int status = pclose(pipe);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

} // namespace examples_test
