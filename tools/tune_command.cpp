// tune_command: measures the kernels of statements on this machine, or says what would be measured.
#include "bench/output_files.hpp"
#include "tools/commands.hpp"
#include "tools/tuning_run.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/lowering/known_chips.hpp>
#include <ricci/runtime/backend.hpp>
#include <ricci/runtime/tuning_database.hpp>
#include <ricci/runtime/tuning_json.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

namespace ricci::tools {

namespace {

std::vector<tuning_request> requests_of(const tune_options& options, const lowering::machine& chip) {
    const int given = !options.statements.empty() + !options.file.empty() + !options.sizes.sizes.empty();
    if (given > 1) throw error("a statement, --file and --sizes are three ways to say what to tune: give one");
    if (!options.file.empty()) return read_tuning_list(options.file);
    if (!options.sizes.sizes.empty()) {
        auto sizes = options.sizes;
        if (sizes.bytes.empty()) sizes.bytes = chip.kind == lowering::target::cpu ? "1MB" : "1GB";
        return expand(sizes);
    }
    if (!options.statements.empty()) return {{options.statements, options.operands}};
    if (options.export_file.empty())
        throw error("nothing to tune: give a statement with its operands, --file or --sizes");
    return {};
}

lowering::machine chip_of(const tune_options& options, device where) {
    if (options.chip.empty()) return runtime::backend_of(where).machine();
    if (!options.dry_run) throw error("--chip says what the model is to think of: it goes with --dry-run");
    const auto chip = lowering::known_chip(options.chip);
    if (!chip)
        throw error(fmt::format("--chip {}: known are {}; this machine's own needs no --chip", options.chip,
                                lowering::known_chip_names));
    return *chip;
}

/// What stands in `file` and is to stay there; nothing where it is not there. Throws ricci::error where it is no
/// table of this chip's.
lowering::tuning_table table_to_extend(const std::filesystem::path& file, const lowering::machine& chip) {
    std::error_code ignored;
    if (file == "-" || !std::filesystem::is_regular_file(file, ignored)) return {};
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) throw error(fmt::format("--export {}: it is there, and cannot be read", file.string()));
    auto found = runtime::read_tuning(text);
    if (!found.problem.empty())
        throw error(fmt::format("--export {}: what stands there is no tuning table to add to: {}", file.string(),
                                found.problem));
    if (found.architecture != lowering::tables_of(chip) || found.chip != lowering::model_of(chip))
        throw error(fmt::format("--export {}: that table is of {} ({}), and this chip is {} ({}): give another file",
                                file.string(), found.chip, found.architecture, lowering::model_of(chip),
                                lowering::tables_of(chip)));
    return std::move(found.table);
}

void export_table(std::FILE* text, const std::string& file, const lowering::machine& chip) {
    const auto measured = runtime::tuning_database_of(chip).measured();
    auto table = table_to_extend(file, chip);
    const auto before = table.entries().size();
    for (const auto& [key, best] : measured->entries()) table.put(key, best);
    bench::write_outputs({{file, runtime::write_tuning(table, chip)}});
    const auto stayed = table.entries().size() - measured->entries().size();
    fmt::print(text, "{} for {} in {}{}\n",
               table.entries().size() == 1 ? "1 entry" : fmt::format("{} entries", table.entries().size()), chip.name,
               file == "-" ? "the standard output" : file,
               before == 0 ? ""
                           : fmt::format(": {} that stood there, {} measured", stayed, measured->entries().size()));
}

/// Before anything is measured: refuses, or warns where a file is to have it, if the database takes nothing.
void check_database(const tune_options& options, const lowering::machine& chip, tuning_output& output) {
    const auto problem = runtime::tuning_database_of(chip).problem();
    if (problem.empty()) return;
    if (options.export_file.empty() && options.json.empty())
        throw error(fmt::format("what is measured could not be kept ({}): mend that, or give --export or --json to "
                                "have it in a file",
                                problem));
    fmt::print(stderr, "ricci: what is measured is in {} alone, and no later run takes it ({})\n",
               options.export_file.empty() ? "--json's file" : "--export's file", problem);
    output.kept = options.export_file.empty() ? "in --json's file alone" : "in --export's file alone";
}

} // namespace

int tune_command(const tune_options& options) {
    tuning_output output;
    if (!options.tolerance.empty()) output.tolerance = parse_percentage(options.tolerance, "--tolerance");
    output.json = options.json;
    bench::check_outputs({{"--json", options.json}, {"--export", options.export_file}});
    if (options.json == "-" || options.export_file == "-") output.text = stderr; // the other is for programs
    runtime::tuning_effort effort;
    effort.most = static_cast<std::size_t>(options.most);
    if (options.all) {
        effort.prune = std::numeric_limits<double>::infinity();
        effort.most = std::numeric_limits<std::size_t>::max();
    }
    const device where = options.device.empty() ? default_device() : parse_device(options.device);
    const auto chip = chip_of(options, where);
    const auto requests = requests_of(options, chip);
    if (!options.export_file.empty()) table_to_extend(options.export_file, chip); // now, not after an hour
    int code = 0;
    if (!requests.empty()) {
        if (!chip.has_compiler && !options.dry_run)
            throw error(
                fmt::format("{} has no compiler of kernels, so there is nothing to tune: ricci doctor says why",
                            where.name()),
                blame::environment);
        const auto work = work_of(requests, chip, where);
        if (!options.dry_run && !work.jobs.empty()) check_database(options, chip, output);
        if (work.jobs.empty()) {
            fmt::print(output.text, "nothing to tune: none of the kernels has parameters to choose\n");
        } else if (options.dry_run) {
            fmt::print(output.text, "on {} ({}), by the model:\n", chip.name, chip.architecture);
            print_candidates(output.text, work.jobs, chip, effort);
        } else {
            code = run_tuning(work.jobs, where, effort, output);
        }
        if (!options.dry_run && code != stopped_by_signal) compile_ahead(output.text, work);
    }
    if (!options.export_file.empty()) export_table(output.text, options.export_file, chip);
    return code;
}

} // namespace ricci::tools
