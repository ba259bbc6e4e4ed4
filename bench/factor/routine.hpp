// routine: what `ricci bench factor` measures, by the names of its option, and what tells the routines apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::bench::factor {

enum class routine : std::uint8_t {
    cholesky,
    lu,
    qr,
    solve,
    solve_positive,
    least_squares,
    inverse,
    triangular_solve,
    cholesky_solve,
    lu_solve,
    qr_solve
};

/// What becomes of the operands.
enum class outcome : std::uint8_t {
    factors,  ///< replace A
    in_place, ///< solutions replace the right-hand sides in X
    apart     ///< nothing is replaced
};

enum class vector_kind : std::uint8_t { pivots, tau };

struct routine_facts {
    std::string_view name;
    std::string_view text; ///< the statement that is measured
    outcome result = outcome::factors;
    routine factorization = routine::cholesky; ///< that it contains, or whose factors it takes
    bool takes_factors = false;
    bool has_sides = false;   ///< right-hand sides, as many as one likes
    bool rectangular = false; ///< may be
    bool triangle = false;    ///< the lower triangle alone is read
    vector_kind vector = vector_kind::pivots;
};

const routine_facts& facts_of(routine r);

inline std::string_view name_of(routine r) { return facts_of(r).name; }
inline bool factors_in_place(routine r) { return facts_of(r).result == outcome::factors; }

/// "cholesky", "lu", "qr", "solve" (by LU), ...
const std::vector<std::string>& routine_names();
/// Of one of these names.
routine routine_of(std::string_view name);

} // namespace ricci::bench::factor
