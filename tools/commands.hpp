// commands: the subcommands of `ricci`. Each returns the exit code or throws ricci::error, whose blame is the exit
// code.
#pragma once

#include "tools/tuning_list.hpp"

#include <string>
#include <vector>

namespace ricci::tools {

struct run_options {
    std::string statements;
    std::vector<std::string> operands; ///< NAME=FILE.npy
    std::string device;                ///< empty: default_device()
    int time = 0;                      ///< timed repetitions of each statement
    bool explain = false;
};
int run_command(const run_options& options);

struct explain_options {
    std::string statements;
    std::vector<std::string> operands; ///< NAME=TYPE[EXTENT,...] or NAME=FILE.npy
    std::string device;
};
int explain_command(const explain_options& options);

struct tune_options {
    std::string statements;
    std::vector<std::string> operands; ///< as explain's
    std::string file;                  ///< a statement and its operands a line
    sweep sizes;                       ///< of which `sizes` is empty: none
    std::string tolerance, json, export_file, device, chip;
    int most = 64; ///< candidates measured for each kernel
    bool dry_run = false, all = false;
};
int tune_command(const tune_options& options);

int cache_path_command();
int cache_list_command(bool verbose);
int cache_clear_command();

int doctor_command();

} // namespace ricci::tools
