// run_command: runs a program on .npy files.
#include "bench/output_files.hpp"
#include "tools/commands.hpp"
#include "tools/npy.hpp"
#include "tools/own_info.hpp"
#include "tools/program.hpp"

#include <ricci/lowering/cost_model.hpp>
#include <ricci/lowering/lower.hpp>
#include <ricci/runtime/backend.hpp>
#include <ricci/runtime/environment.hpp>
#include <ricci/runtime/run.hpp>
#include <ricci/runtime/table_check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include <unistd.h>

namespace ricci::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view example = "FILE.npy";

/// A tensor's memory on the device of the run.
class memory {
  public:
    memory(device where, std::int64_t bytes, bool zeroed)
        : where_(where), data_(runtime::allocate(where, static_cast<std::size_t>(bytes), zeroed)) {}
    memory(const memory&) = delete;
    memory& operator=(const memory&) = delete;
    ~memory() { runtime::release(where_, data_); }
    void* data() const { return data_; }

  private:
    device where_;
    void* data_;
};

/// The tensors of a program by name: files to read first, to write last, and memory.
struct tensor_file {
    fs::path path; ///< empty: not given, so an intermediate
    std::optional<npy_header> header;
    std::unique_ptr<memory> storage;
};
using tensor_files = std::map<std::string, tensor_file, std::less<>>;

/// Bytes of memory that this process may use: the machine's, or its control group's where that is less.
std::int64_t host_memory() {
    std::int64_t bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
    for (const char* limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
        if (std::int64_t group = 0; std::ifstream(limit) >> group) bytes = std::min(bytes, group);
    return bytes;
}

/// Refuses before anything is allocated: Linux promises more memory than there is, and kills whoever uses it.
void check_memory(const resolved_program& program, device where) {
    const std::int64_t limit = host_memory();
    std::int64_t needed = 0;
    for (const auto& operand : program.operands) {
        const std::int64_t bytes = bytes_of(operand);
        // A GPU's tensors pass through the host one at a time.
        if (!where.is_cpu())
            needed = std::max(needed, bytes);
        else if (__builtin_add_overflow(needed, bytes, &needed))
            needed = std::numeric_limits<std::int64_t>::max();
        if (needed > limit)
            throw error(fmt::format("not enough memory: with '{}' the tensors take {} bytes, this machine has {}",
                                    operand.name, needed, limit),
                        blame::environment);
    }
}

/// Reads the headers of the files that exist.
std::vector<given> open_files(const std::vector<argument>& arguments, tensor_files& files) {
    std::vector<given> givens;
    for (const auto& a : arguments) {
        tensor_file& file = files[a.name];
        file.path = a.value;
        givens.push_back({a, std::nullopt});
        std::error_code ignored;
        if (!fs::exists(fs::symlink_status(file.path, ignored))) continue;
        file.header = read_npy_header(file.path);
        givens.back().operand = text_operand{a.name, file.header->type, file.header->extents, file.header->strides()};
    }
    return givens;
}

void check_outputs(const resolved_program& program, const tensor_files& files) {
    for (const auto& name : program.written) {
        const auto found = files.find(name);
        if (found == files.end()) {
            // An intermediate that nothing reads is a result whose file was forgotten.
            const auto& statements = program.statements;
            const auto made =
                std::find_if(statements.begin(), statements.end(), [&](const auto& s) { return s.writes(name); });
            const auto& accesses = made->unbound.accesses;
            std::size_t n = 0; // of the accesses that it writes, the one with this name
            while (accesses[n].name != name || !made->writes(n)) ++n;
            if (!is_read_later(program, *made, name))
                fail_in_text(made->source, made->number, made->access_columns[n],
                             fmt::format("'{}' is not given: add {}={}", name, name, example));
            continue;
        }
        bench::check_target(found->second.path);
        for (const auto& [other, file] : files) {
            std::error_code ignored;
            if (other != name && (bench::real_path(file.path) == bench::real_path(found->second.path) ||
                                  fs::equivalent(file.path, found->second.path, ignored)))
                throw error(fmt::format("{} is given for '{}' and for '{}', and '{}' is written: use one name for "
                                        "both in the statement, or give '{}' a file of its own",
                                        file.path.string(), name, other, name, name));
        }
    }
}

void load(resolved_program& program, tensor_files& files, device where) {
    for (auto& operand : program.operands) {
        tensor_file& file = files[operand.name];
        operand.device = where.code();
        if (program.locals.count(operand.name) > 0) continue;
        const std::int64_t bytes = bytes_of(operand);
        const bool created = program.created.count(operand.name) > 0;
        file.storage = std::make_unique<memory>(where, bytes, created);
        operand.data = file.storage->data();
        if (created) continue;
        if (where.is_cpu()) {
            read_npy_data(file.path, *file.header, operand.data);
        } else {
            const memory host(cpu(), bytes, false);
            read_npy_data(file.path, *file.header, host.data());
            runtime::copy(where, operand.data, cpu(), host.data(), static_cast<std::size_t>(bytes));
        }
    }
}

void save(const resolved_program& program, const tensor_files& files, device where) {
    bench::output_files outputs;
    for (const auto& operand : program.operands) {
        const fs::path& path = files.at(operand.name).path;
        if (path.empty() || program.written.count(operand.name) == 0) continue;
        const fs::path temporary = outputs.add(path);
        if (where.is_cpu()) {
            write_npy(temporary, operand.type, operand.extents, operand.strides, operand.data, path);
        } else {
            const std::int64_t bytes = bytes_of(operand);
            const memory host(cpu(), bytes, false);
            runtime::copy(cpu(), host.data(), where, operand.data, static_cast<std::size_t>(bytes));
            write_npy(temporary, operand.type, operand.extents, operand.strides, host.data(), path);
        }
    }
    outputs.commit();
}

/// Whether `s` would make what it writes in access n with another type or other extents than `old`, the file that is
/// there, has.
bool would_differ(text_statement s, std::size_t n, const npy_header& old, const resolved_program& program) {
    if (!s.writes(n) || s.reads(s.unbound.accesses[n].name)) return false; // it would not be made
    try {
        const text_operand made = create_written(s, n, program.operands);
        return made.type != old.type || made.extents != old.extents;
    } catch (const error&) {
        return false;
    }
}

/// f(statement) for each. A mistake may come of a result's old file, which the user did not think of: it is named.
template <class F>
void for_each_statement(const resolved_program& program, const tensor_files& files, F f) {
    for (const auto& s : program.statements) try {
            f(s);
        } catch (const error& e) {
            const error said = numbered(e, s, program);
            for (std::size_t n = 0; n < s.unbound.accesses.size() && e.blame() == blame::statement; ++n) {
                const std::string name(s.unbound.accesses[n].name);
                const auto& old = files.at(name);
                if (old.header && would_differ(s, n, *old.header, program))
                    throw error(
                        fmt::format("{}\n  note: '{}' was read from {}; without that file it would be made anew",
                                    said.what(), name, old.path.string()));
            }
            throw said;
        }
}

/// To stderr, what failed in calls whose info nobody asked for.
void print_failures(const resolved_program& program, const tensor_files& files, device where) {
    for (const auto& s : program.statements) {
        if (!has_own_info(s)) continue;
        const auto& name = s.unbound.accesses.back().name;
        const auto info = std::ranges::find_if(program.operands, [&](const auto& o) { return o.name == name; });
        std::vector<std::int32_t> codes(static_cast<std::size_t>(bytes_of(*info)) / sizeof(std::int32_t));
        runtime::copy(cpu(), codes.data(), where, files.at(info->name).storage->data(),
                      codes.size() * sizeof(std::int32_t));
        if (const auto said = failures(s, *info, codes); !said.empty())
            fmt::print(stderr, "warning: {}: {}\n", s.source, said);
    }
}

std::string shape_of(const text_operand& operand) {
    return fmt::format("{}[{}]", lowering::name_of(operand.type), fmt::join(operand.extents, ","));
}

/// Median seconds of `repetitions` warm runs of `run`.
template <class Run>
double median_seconds(const Run& run, device where, int repetitions) {
    using clock = std::chrono::steady_clock;
    std::vector<double> seconds;
    for (int n = -1; n < repetitions; ++n) { // one more to warm up
        const auto begin = clock::now();
        run();
        synchronize(where);
        if (n >= 0) seconds.push_back(std::chrono::duration<double>(clock::now() - begin).count());
    }
    const auto middle = seconds.begin() + repetitions / 2;
    std::nth_element(seconds.begin(), middle, seconds.end());
    return *middle;
}

std::string median_of(double seconds, int repetitions) {
    const auto [scale, unit] = seconds < 1e-3 ? std::pair(1e6, "us")
                               : seconds < 1  ? std::pair(1e3, "ms")
                                              : std::pair(1.0, "s");
    return fmt::format("{:.2f} {} (median of {})", seconds * scale, unit, repetitions);
}

void print_time(const text_statement& text, const lowering::statement& s, device where, int repetitions) {
    const double seconds = median_seconds([&] { runtime::run(s); }, where, repetitions);
    const auto& machine = runtime::backend_of(where).machine();
    double bytes = 0, flops = 0;
    for (const auto& step : lowering::lower(s, machine).steps) {
        const auto estimate = lowering::cost_model(step, machine);
        bytes += estimate.bytes;
        flops += estimate.flops;
    }
    fmt::print("{}, {:.2f} GB/s, {:.2f} GF/s: {}\n", median_of(seconds, repetitions), bytes / seconds * 1e-9,
               flops / seconds * 1e-9, text.source);
}

/// Runs statements, whose locals are the program's own, as one program.
void run_as_program(const resolved_program& program, const tensor_files& files,
                    const std::vector<lowering::statement>& statements, device where) {
    try {
        runtime::run_program(statements);
    } catch (const error&) { // of which statement?
        auto next = statements.begin();
        for_each_statement(program, files, [&](const text_statement&) {
            lowering::lower(*next++, runtime::backend_of(where).machine());
        });
        throw;
    }
}

} // namespace

int run_command(const run_options& options) {
    // Files come from anywhere: what they hold as tables and pivots is looked at, unless RICCI_CHECK says otherwise.
    runtime::check_all(runtime::variable("RICCI_CHECK") == nullptr);
    tensor_files files;
    const auto givens = open_files(parse_arguments(options.operands, example), files);
    resolved_program program = resolve(
        options.statements, givens, [](int, bool) { return std::string(example); }, true);
    check_outputs(program, files);
    const device where = options.device.empty() ? default_device() : parse_device(options.device);
    check_memory(program, where);
    std::set<std::string> given;
    for (const auto& g : givens) given.insert(g.source.name);
    find_locals(program, given);
    load(program, files, where);

    std::vector<lowering::statement> statements;
    for_each_statement(program, files, [&](const text_statement& s) { statements.push_back(bind(s, program)); });
    const bool is_program = !program.locals.empty() || runtime::fuses_something(statements);
    if (options.explain && is_program) {
        fmt::print("{}\n", runtime::explain(statements));
    } else if (options.explain) {
        auto each = statements.begin();
        for_each_statement(program, files,
                           [&](const text_statement&) { fmt::print("{}\n", runtime::explain(*each++)); });
    }
    auto next = statements.begin();
    if (is_program)
        run_as_program(program, files, statements, where);
    else
        for_each_statement(program, files, [&](const text_statement&) { runtime::run(*next++); });
    synchronize(where);
    save(program, files, where);
    for (const auto& operand : program.operands)
        if (program.written.count(operand.name) > 0 && !files.at(operand.name).path.empty())
            fmt::print("{} = {} in {}\n", operand.name, shape_of(operand), files.at(operand.name).path.string());
    print_failures(program, files, where);

    // Only now, since running a statement again may change what it reads; and without what is not its own time.
    runtime::check_all(false);
    if (options.time > 0 && is_program) {
        const double seconds = median_seconds([&] { runtime::run_program(statements); }, where, options.time);
        fmt::print("{}: the program\n", median_of(seconds, options.time));
    }
    for (std::size_t n = 0; options.time > 0 && !is_program && n < statements.size(); ++n)
        print_time(program.statements[n], statements[n], where, options.time);
    return 0;
}

} // namespace ricci::tools
