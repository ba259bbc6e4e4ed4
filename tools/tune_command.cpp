// tune_command: measures the kernels of statements on this machine, or says what would be measured.
#include "tools/commands.hpp"
#include "tools/output_files.hpp"
#include "tools/tuning_run.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/lowering/known_chips.hpp>
#include <ricci/runtime/backend.hpp>
#include <ricci/runtime/tuning_database.hpp>
#include <ricci/runtime/tuning_json.hpp>

#include <fmt/format.h>

#include <fstream>
#include <limits>

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

void export_table(const std::filesystem::path& file, const lowering::machine& chip) {
    const auto table = runtime::tuning_database_of(chip).measured();
    output_files outputs;
    std::ofstream out(outputs.add(file));
    out << runtime::write_tuning(*table, chip);
    if (!out.flush()) throw error(fmt::format("{} cannot be written", file.string()), blame::environment);
    outputs.commit();
    fmt::print("{} for {} in {}\n",
               table->entries().size() == 1 ? "1 entry" : fmt::format("{} entries", table->entries().size()),
               chip.name, file.string());
}

} // namespace

int tune_command(const tune_options& options) {
    tuning_output output;
    if (!options.tolerance.empty()) output.tolerance = parse_percentage(options.tolerance, "--tolerance");
    output.json = options.json;
    for (const auto& target : {options.json, options.export_file})
        if (!target.empty()) check_target(target);
    runtime::tuning_effort effort;
    effort.most = static_cast<std::size_t>(options.most);
    if (options.all) {
        effort.prune = std::numeric_limits<double>::infinity();
        effort.most = std::numeric_limits<std::size_t>::max();
    }
    const device where = options.device.empty() ? default_device() : parse_device(options.device);
    const auto chip = chip_of(options, where);
    const auto requests = requests_of(options, chip);
    int code = 0;
    if (!requests.empty()) {
        if (!chip.has_compiler && !options.dry_run)
            throw error(
                fmt::format("{} has no compiler of kernels, so there is nothing to tune: ricci doctor says why",
                            where.name()),
                blame::environment);
        const auto work = work_of(requests, chip, where);
        if (work.jobs.empty()) {
            fmt::print("nothing to tune: none of the kernels has parameters to choose\n");
        } else if (options.dry_run) {
            fmt::print("on {} ({}), by the model:\n", chip.name, chip.architecture);
            print_candidates(work.jobs, chip, effort);
        } else {
            code = run_tuning(work.jobs, where, effort, output);
        }
        if (!options.dry_run && code != stopped_by_signal) compile_ahead(work);
    }
    if (!options.export_file.empty()) export_table(options.export_file, chip);
    return code;
}

} // namespace ricci::tools
