// factor_report: the rows of `ricci bench factor` as a table, JSON and CSV: those of every bench, with what is said
// of factorizations alone.
#pragma once

#include "bench/report.hpp"

#include <string>
#include <string_view>

namespace ricci::bench::factor {

// In a row of factorizations kind is the routine, size.k the number of right-hand sides (0: none), and % is of the
// bound: the longer of what has to be moved at the triad's rate and the flops at the peak's. What has to be moved is
// each matrix once to and once from the chip, of Cholesky and of triangles the half that counts: the memory bound of
// A. Haidar, T. Dong, P. Luszczek, S. Tomov, J. Dongarra, Batched matrix computations on hardware accelerators based
// on GPUs, IJHPCA 29 (2015), taken strictly.

/// Of the triad of the same run, whole matrices counted, whatever the bound is.
double percent_of_triad(const report& r, const row& of, const measured& m);

/// Of a solve: its time over that of the factorization that it contains or whose factors it takes, by the same peer,
/// for each matrix, in the row with the same type and size, and the batch nearest; 0 where there is none.
double times_factorization(const report& r, const row& of, std::string_view peer);

/// Of what is not f64: its flop rate over that of f64, by the same peer, in the row that is the same otherwise, and
/// the batch nearest; 0 where there is none.
double times_f64(const report& r, const row& of, std::string_view peer);

std::string table_head(const report& r);
std::string table_line(const report& r, const row& of);
/// Means by routine, then over all.
std::string table_foot(const report& r);

/// With percent_of_triad, joules_each of one matrix, times_factorization and times_f64, of peers too.
std::string to_json(const report& r);
std::string to_csv(const report& r);

} // namespace ricci::bench::factor
