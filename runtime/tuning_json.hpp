// tuning_json: a tuning table as the text of a JSON file, the database's as the shipped ones'.
//
//     {"ricci_tuning": 1, "architecture": "sm_90", "chip": "NVIDIA H100 80GB HBM3",
//      "entries": [{"layout": "batched_small f64*f64->f64 in f64 +=, ...", "batch": "many", "m": 8, "n": 8, "k": 8,
//                   "strides": "C m1 n8 e64, ...", "tile": {"products": 16, "threads": 128, ...}, "us": 683.2}, ...]}
#pragma once

#include "lowering/machine.hpp"
#include "lowering/tuning_table.hpp"

#include <string>
#include <string_view>

namespace ricci::runtime {

struct tuning_file {
    lowering::tuning_table table;
    std::string architecture, chip;
    std::string problem; ///< why the text is not used, "" if it is; the table is empty then
    bool newer = false;  ///< the problem: a later version of ricci wrote it
};

/// Never throws for a bad text.
tuning_file read_tuning(std::string_view text);

/// {"products": 16, "threads": 128, ...}: every parameter. In a table those with their defaults are left out.
std::string to_json(const lowering::batched_tile& tile);

/// One entry a line, in the order of keys, so that two tables can be compared.
std::string write_tuning(const lowering::tuning_table& table, const lowering::machine& chip);

} // namespace ricci::runtime
