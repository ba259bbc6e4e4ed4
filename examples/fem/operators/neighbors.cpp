// neighbors: which nodes two elements share is found on the host, the blocks are one statement.
#include "examples/fem/operators/neighbors.hpp"

#include "examples/fem/operators/shaped.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fem {
namespace {

/// The places at which each number stands in a table, in compressed rows: those of number g are
/// [first[g], first[g+1]) of `places`.
struct places_of_numbers {
    places_of_numbers(const std::vector<std::int64_t>& numbers, std::int64_t count)
        : first(count + 1), places(numbers.size()) {
        for (const std::int64_t number : numbers) ++first[number + 1];
        for (std::int64_t g = 0; g < count; ++g) first[g + 1] += first[g];
        std::vector<std::int64_t> next = first;
        for (std::int64_t at = 0; at < static_cast<std::int64_t>(numbers.size()); ++at)
            places[next[numbers[at]]++] = at;
    }

    std::vector<std::int64_t> first, places;
};

/// f(n,e), same(i,n,e) and has(i,n,e). Elements with fewer neighbors than others have themselves in the place of the
/// rest, with no node shared.
struct neighbor_tables {
    explicit neighbor_tables(const h1_space& space) {
        const std::int64_t nodes = space.nodes(), elements = space.elements();
        const std::vector<std::int64_t>& numbers = space.numbers();
        const places_of_numbers where(numbers, space.dofs());
        const auto for_each_sharer = [&](std::int64_t e, const auto& work) {
            for (std::int64_t i = 0; i < nodes; ++i) {
                const std::int64_t number = numbers[i + nodes * e];
                for (std::int64_t n = where.first[number]; n < where.first[number + 1]; ++n)
                    work(i, where.places[n] / nodes, where.places[n] % nodes);
            }
        };

        std::vector<std::vector<std::int64_t>> of_element(elements);
        for (std::int64_t e = 0; e < elements; ++e) {
            auto& own = of_element[e];
            for_each_sharer(e, [&](std::int64_t, std::int64_t other, std::int64_t) {
                if (std::find(own.begin(), own.end(), other) == own.end()) own.push_back(other);
            });
            std::sort(own.begin(), own.end()); // sums in the order in which the whole matrix has them
            most = std::max(most, static_cast<std::int64_t>(own.size()));
        }
        element.resize(most * elements);
        same.resize(nodes * most * elements);
        has.resize(same.size());
        for (std::int64_t e = 0; e < elements; ++e) {
            const auto& own = of_element[e];
            std::fill_n(&element[most * e], most, e);
            std::copy(own.begin(), own.end(), &element[most * e]);
            for_each_sharer(e, [&](std::int64_t i, std::int64_t other, std::int64_t there) {
                const std::int64_t n = std::lower_bound(own.begin(), own.end(), other) - own.begin();
                same[i + nodes * (n + most * e)] = there;
                has[i + nodes * (n + most * e)] = 1;
            });
        }
    }

    std::int64_t most = 0; ///< of the elements that share nodes with one
    std::vector<std::int64_t> element, same;
    std::vector<double> has;
};

} // namespace

vector assembled_blocks(const h1_space& space, const vector& element_matrices) {
    using namespace ricci::indices;
    const auto& device = element_matrices.device();
    const std::int64_t P = space.nodes(), E = space.elements();
    const neighbor_tables host(space);
    const index_table elements = to_device(host.element, device), nodes = to_device(host.same, device);
    const vector shared = to_device(host.has, device);
    vector blocks(ricci::uninitialized, P * P * E, device);

    const auto K = shaped<3>(element_matrices, {P, P, E});
    const auto A = shaped<3>(blocks, {P, P, E});
    const auto f = shaped<2>(elements, {host.most, E});
    const auto same = shaped<3>(nodes, {P, host.most, E});
    const auto has = shaped<3>(shared, {P, host.most, E});
    A(i, j, e) = has(i, n, e) * has(j, n, e) * K(same(i, n, e), same(j, n, e), f(n, e));
    return blocks;
}

} // namespace fem
