// sparse_matrix: the pattern is found on the host, the values are added by a statement.
#include "examples/fem/operators/sparse_matrix.hpp"

#include "examples/fem/operators/shaped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fem {

sparse_matrix::sparse_matrix(const h1_space& space, ricci::device device)
    : nodes_(space.nodes()), elements_(space.elements()), values_(0, device), places_(0, device) {
    const std::int64_t dofs = space.dofs();
    const std::vector<std::int64_t>& numbers = space.numbers();
    const double pairs = static_cast<double>(nodes_) * static_cast<double>(nodes_) * static_cast<double>(elements_);
    check_memory("the mesh", fmt::format("a matrix of order {}", space.order()), 3 * 8.0 * pairs);

    // Which elements have each node, in compressed rows too.
    std::vector<std::int64_t> first(dofs + 1), elements(numbers.size());
    for (const std::int64_t number : numbers) ++first[number + 1];
    for (std::int64_t r = 0; r < dofs; ++r) first[r + 1] += first[r];
    std::vector<std::int64_t> next = first;
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(numbers.size()); ++at)
        elements[next[numbers[at]]++] = at / nodes_;

    row_starts_.assign(dofs + 1, 0);
    std::vector<std::int64_t> row;
    for (std::int64_t r = 0; r < dofs; ++r) {
        row.clear();
        for (std::int64_t n = first[r]; n < first[r + 1]; ++n)
            row.insert(row.end(), &numbers[elements[n] * nodes_], &numbers[elements[n] * nodes_] + nodes_);
        std::sort(row.begin(), row.end());
        row.erase(std::unique(row.begin(), row.end()), row.end());
        columns_.insert(columns_.end(), row.begin(), row.end());
        row_starts_[r + 1] = static_cast<std::int64_t>(columns_.size());
    }

    std::vector<std::int64_t> places(nodes_ * nodes_ * elements_);
    std::int64_t* place = places.data();
    for (std::int64_t e = 0; e < elements_; ++e) {
        const std::int64_t* own = &numbers[e * nodes_];
        for (std::int64_t j = 0; j < nodes_; ++j)
            for (std::int64_t i = 0; i < nodes_; ++i) {
                const auto begin = columns_.begin() + row_starts_[own[i]];
                const auto end = columns_.begin() + row_starts_[own[i] + 1];
                *place++ = std::lower_bound(begin, end, own[j]) - columns_.begin();
            }
    }
    places_ = to_device(places, device);
    values_ = vector(entries(), device);
}

void sparse_matrix::assemble(const vector& element_matrices) {
    using namespace ricci::indices;
    const auto A = shaped<2>(element_matrices, {nodes_ * nodes_, elements_});
    const auto place = shaped<2>(places_, {nodes_ * nodes_, elements_});
    values_.fill(0);
    values_(place(i, e)) += A(i, e);
}

double sparse_matrix::trace() const {
    const std::vector<double> host = values_.download();
    double sum = 0;
    for (std::int64_t r = 0; r < rows(); ++r)
        sum += host[std::lower_bound(columns_.begin() + row_starts_[r], columns_.begin() + row_starts_[r + 1], r) -
                    columns_.begin()];
    return sum;
}

double sparse_matrix::frobenius_norm() const {
    using namespace ricci::indices;
    const double squares = values_(n) * values_(n);
    return std::sqrt(squares);
}

} // namespace fem
