// print: both IRs as text, for error messages, explain and the golden dumps of the tests.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <string>
#include <vector>

namespace ricci::lowering {

/// The statement as it was written, ranges where an index first stands: C(i, j) -= A(i, k, m(1, 9), 0)*A(k, j, 0, n).
std::string to_string(const statement& s);

/// One access of it: A(i, k, m, 0).
std::string to_string(const statement& s, const access& a);

/// One position of it: 2*i + 1.
std::string to_string(const statement& s, const position& p);

/// A name for every access: its own, else a capital letter for each distinct memory.
std::vector<std::string> operand_names(const statement& s);

/// The steps, temporaries and notes of a plan for `s`: all, or notes from one on.
std::string to_string(const plan& p, const statement& s);
std::string print_steps(const plan& p, const statement& s);
std::string print_notes(const plan& p, std::size_t first = 0);

/// What a step computes in: its type, or tf32.
std::string_view arithmetic_of(const step& st);
std::string_view name_of(form f);
std::string_view name_of(family f);
std::string_view name_of(matrix_method m);
/// "the model", "measurements": where a tile comes from.
std::string_view name_of(tile_origin o);
/// "mma 2x1, 16 products, 128 threads", on a CPU "2x9, sum unrolled by 4, 1 product ahead": the parameters that say
/// most; what they mean stands at the heads of the kernels, and of register_tile.hpp.
std::string to_string(const batched_tile& t, target where);
/// Of a step's kernel, or of the chain that it is a step of.
std::string to_string(const batched_tile& t, const step& st, target where);

} // namespace ricci::lowering
