// random_statement: valid statements and data from a seed, and their run on any device against the oracle.
#pragma once

#include "lowering/statement.hpp"
#include "tests/host_memory.hpp"
#include "tests/oracle.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ricci::tests {

/// A statement over memory of its own.
struct random_case {
    std::uint64_t seed = 0;
    lowering::statement s;
    std::vector<host_buffer> memory; ///< operands may share a buffer with each other and with the left side
    std::string text;                ///< seed, statement, types, extents, strides and overlaps
};

/// The case of this seed; the same on every machine. About one in five is shaped like a matrix product.
random_case make_random_case(std::uint64_t seed);

/// Runs the case on a device (a copy of every buffer is taken there and back) and compares with the oracle. Empty if
/// right, else what was wrong, with the case's text. `how`: what runs the statement, runtime::run if empty. `known`:
/// what the oracle has said of the same memory with the same contents.
std::string run_and_compare(random_case& c, std::int32_t device_code,
                            const std::function<void(const lowering::statement&)>& how = {},
                            const oracle_result* known = nullptr);

/// Runs cases one after another; returns the reports of the first few that failed. RICCI_TEST_SEED sets the first
/// seed (1).
std::string run_random_cases(std::size_t count, std::int32_t device_code);

} // namespace ricci::tests
