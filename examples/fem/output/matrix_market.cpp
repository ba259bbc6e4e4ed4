// matrix_market: see https://math.nist.gov/MatrixMarket/formats.html.
#include "examples/fem/output/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

namespace fem {

void write_matrix_market(const sparse_matrix& a, symmetry form, common::output_file& file) {
    const bool half = form == symmetry::symmetric;
    const auto& starts = a.row_starts();
    const auto& columns = a.columns();
    std::int64_t entries = a.entries();
    if (half) { // the pattern is symmetric and has the diagonal
        std::int64_t diagonal = 0;
        for (std::int64_t row = 0; row < a.rows(); ++row)
            diagonal += std::binary_search(columns.begin() + starts[row], columns.begin() + starts[row + 1], row);
        entries = (entries + diagonal) / 2;
    }
    const std::vector<double> values = a.values().download();
    file.write(fmt::format("%%MatrixMarket matrix coordinate real {}\n{} {} {}\n", half ? "symmetric" : "general",
                           a.rows(), a.rows(), entries));
    std::string text;
    for (std::int64_t row = 0; row < a.rows(); ++row) {
        text.clear();
        for (std::int64_t n = starts[row]; n < starts[row + 1]; ++n)
            if (!half || columns[n] <= row)
                fmt::format_to(std::back_inserter(text), "{} {} {}\n", row + 1, columns[n] + 1, values[n]);
        file.write(text);
    }
}

} // namespace fem
