// routine: the table of the routines.
#include "bench/factor/routine.hpp"

#include <algorithm>
#include <cstddef>

namespace ricci::bench::factor {

namespace {

constexpr routine_facts all_facts[] = {
    {"cholesky", "info(e) = cholesky(A(i,j,e), i, j)", outcome::factors, routine::cholesky, false, false, false,
     true},
    {"lu", "v(k,e), info(e) = lu(A(i,j,e), i, j)", outcome::factors, routine::lu, false, false, true},
    {"qr", "v(k,e), info(e) = qr(A(i,j,e), i, j)", outcome::factors, routine::qr, false, false, true, false,
     vector_kind::tau},
    {"solve", "info(e) = solve(original(i,j,e), i, j, X(j,r,e))", outcome::in_place, routine::lu, false, true},
    {"solve_positive", "info(e) = solve(original(i,j,e), i, j, X(j,r,e), positive_definite)", outcome::in_place,
     routine::cholesky, false, true, false, true},
    {"least_squares", "info(e) = least_squares(original(i,j,e), i, j, X(j,r,e), given(i,r,e))", outcome::apart,
     routine::qr, false, true, true, false, vector_kind::tau},
    {"inverse", "info(e) = inverse(original(i,j,e), i, j, X(j,i,e))", outcome::apart, routine::lu},
    {"triangular_solve", "info(e) = triangular_solve(original(i,j,e), i, j, X(j,r,e), lower)", outcome::in_place,
     routine::cholesky, false, true, false, true},
    {"cholesky_solve", "info(e) = cholesky_solve(A(i,j,e), i, j, X(j,r,e))", outcome::in_place, routine::cholesky,
     true, true, false, true},
    {"lu_solve", "info(e) = lu_solve(A(i,j,e), i, j, v(k,e), X(j,r,e))", outcome::in_place, routine::lu, true, true},
    {"qr_solve", "info(e) = qr_solve(A(i,j,e), i, j, v(k,e), X(j,r,e), given(i,r,e))", outcome::apart, routine::qr,
     true, true, true, false, vector_kind::tau}};

} // namespace

const routine_facts& facts_of(routine r) { return all_facts[static_cast<std::size_t>(r)]; }

const std::vector<std::string>& routine_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const routine_facts& f : all_facts) all.emplace_back(f.name);
        return all;
    }();
    return names;
}

routine routine_of(std::string_view name) {
    const auto found = std::find_if(std::begin(all_facts), std::end(all_facts),
                                    [&](const routine_facts& f) { return f.name == name; });
    return static_cast<routine>(found - std::begin(all_facts));
}

} // namespace ricci::bench::factor
