// report_table: the parts of lines that the tables of all benches have.
#pragma once

#include "bench/report.hpp"

#include <string>
#include <vector>

namespace ricci::bench {

/// Those that are not missing, in the report's order.
std::vector<std::string> present_peers(const report& r);

/// "1.25x", the peer's time over ricci's; "1.25x!" where the peer's results are further off than the bound; "failed";
/// "-" where there is nothing to tell.
std::string ratio_cell(const row& r, const std::string& peer);

/// "geometric mean 1.5x, least 0.9x at 8x8x8"; `unit` follows a number: "x", " %".
std::string figures_of(const summary::figure& f, const char* unit);

} // namespace ricci::bench
