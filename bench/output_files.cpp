// output_files: files that appear all together or not at all.
#include "bench/output_files.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ricci::bench {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
    throw error(fmt::format("{}: {}: {}", file.string(), what, std::strerror(errno)), blame::environment);
}

/// A pipe or a device: nothing can be put in its place.
bool is_stream(const fs::path& file) {
    std::error_code ignored;
    const auto status = fs::status(file, ignored);
    return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

void write_text(std::FILE* to, const fs::path& name, const std::string& text) {
    if (to == nullptr) fail(name, "it cannot be written");
    std::fwrite(text.data(), 1, text.size(), to);
    errno = 0;
    const bool good = std::fflush(to) == 0 && !std::ferror(to);
    const int why = errno;
    if (to != stdout) std::fclose(to);
    errno = why;
    if (!good && to != stdout) fail(name, "it cannot be written"); // of the standard output main() speaks
}

} // namespace

fs::path real_path(const fs::path& file) {
    std::error_code ignored;
    const fs::path absolute =
        fs::absolute(file, ignored); // first: what begins with a missing name would stay relative
    const fs::path real = fs::weakly_canonical(absolute, ignored);
    return real.empty() ? absolute : real;
}

void check_target(const fs::path& target) {
    const fs::path file = real_path(target);
    const fs::path folder = file.parent_path();
    std::error_code ignored;
    const auto status = fs::status(file, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status))
        throw error(fmt::format("{}: it is not a regular file, so no result can be written to it", target.string()));
    if (!fs::is_directory(folder, ignored))
        throw error(fmt::format("{}: there is no folder {}", target.string(), folder.string()));
    if (access(folder.c_str(), W_OK | X_OK) != 0) fail(target, "no file can be written in " + folder.string());
}

output_files::~output_files() {
    for (const auto& f : files_) unlink(f.temporary.c_str());
}

fs::path output_files::add(const fs::path& target) {
    file f{{}, real_path(target)}; // renaming must not replace a link
    for (int attempt = 0;; ++attempt) {
        f.temporary = f.target;
        f.temporary.replace_filename(fmt::format(".{}.ricci-{}-{}", f.target.filename().string(), getpid(), attempt));
        const int descriptor = open(f.temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
        if (descriptor >= 0) {
            struct stat existing {};
            if (stat(f.target.c_str(), &existing) == 0)
                static_cast<void>(fchmod(descriptor, existing.st_mode & 0777));
            close(descriptor);
            break;
        }
        if (errno != EEXIST) fail(target, "it cannot be written");
    }
    files_.push_back(f);
    return f.temporary;
}

void output_files::commit() {
    std::vector<fs::path> backups; // of each target already replaced; empty: there was none
    const auto roll_back = [&] {
        for (std::size_t n = backups.size(); n-- > 0;)
            if (backups[n].empty())
                unlink(files_[n].target.c_str());
            else
                rename(backups[n].c_str(), files_[n].target.c_str());
    };
    for (const auto& f : files_) {
        fs::path backup;
        if (access(f.target.c_str(), F_OK) == 0) {
            backup = f.temporary.string() + ".old";
            if (link(f.target.c_str(), backup.c_str()) != 0)
                backup = f.target; // no hard links here: nothing to put back
        }
        if (rename(f.temporary.c_str(), f.target.c_str()) != 0) {
            const int why = errno;
            if (!backup.empty() && backup != f.target) unlink(backup.c_str());
            roll_back();
            errno = why;
            fail(f.target, "it cannot be replaced");
        }
        backups.push_back(backup);
    }
    for (std::size_t n = 0; n < backups.size(); ++n)
        if (!backups[n].empty() && backups[n] != files_[n].target) unlink(backups[n].c_str());
    files_.clear();
}

void check_outputs(const std::vector<output_option>& options) {
    for (std::size_t n = 0; n < options.size(); ++n) {
        const auto& [name, file] = options[n];
        if (file.empty()) continue;
        for (std::size_t other = 0; other < n; ++other) {
            if (options[other].file == "-" && file == "-")
                throw error(fmt::format("{} and {} cannot both go to the standard output: give one of them a file",
                                        options[other].name, name));
            std::error_code ignored;
            const fs::path& before = options[other].file;
            if (!before.empty() && before != "-" && file != "-" &&
                (real_path(before) == real_path(file) || fs::equivalent(before, file, ignored)))
                throw error(fmt::format("{} and {} are both {}: give each a file of its own", options[other].name,
                                        name, file));
        }
        if (file == "-") continue;
        if (!is_stream(file))
            check_target(file);
        else if (access(file.c_str(), W_OK) != 0)
            fail(file, "it cannot be written");
    }
}

void write_outputs(const std::vector<std::pair<std::string, std::string>>& files_and_texts) {
    output_files outputs;
    for (const auto& [file, text] : files_and_texts)
        if (!file.empty() && file != "-" && !is_stream(file))
            write_text(std::fopen(outputs.add(file).c_str(), "w"), file, text);
    outputs.commit();
    for (const auto& [file, text] : files_and_texts)
        if (file == "-")
            write_text(stdout, file, text);
        else if (!file.empty() && is_stream(file))
            write_text(std::fopen(file.c_str(), "w"), file, text);
}

} // namespace ricci::bench
