// factor_report: the rows of `ricci bench factor` as a table, JSON and CSV: those of every bench, with what is said
// of factorizations alone.
#pragma once

#include "bench/report.hpp"

#include <string>

namespace ricci::bench::factor {

// In a row of factorizations kind is the routine, size.k the number of right-hand sides (0: none), and % is of the
// bound: the longer of bytes / triad and flops / peak.

/// Of the triad of the same run, whatever the bound is.
double percent_of_triad(const report& r, const row& of, const measured& m);

std::string table_head(const report& r);
std::string table_line(const report& r, const row& of);
/// Means by routine, then over all.
std::string table_foot(const report& r);

/// With percent_of_triad and joules_each, those of one matrix.
std::string to_json(const report& r);
std::string to_csv(const report& r);

} // namespace ricci::bench::factor
