// tile_fields: a batched_tile's parameters by name, for whoever writes, reads or prints them.
#pragma once

#include "lowering/plan.hpp"

#include <cstdint>
#include <string_view>

namespace ricci::lowering {

// A tuning table leaves out what has its default: who changes a default changes what tables say.
static_assert(sizeof(batched_tile) == 60, "a parameter more or less: list it below");

/// Calls f(name, reference to the parameter) for each; a flag or the core is an integer to whoever reads.
template <class Tile, class F>
void for_each_field(Tile& t, const F& f) {
    f(std::string_view("products"), t.products);
    f(std::string_view("threads"), t.threads);
    f(std::string_view("core"), t.core);
    f(std::string_view("tile_m"), t.tile_m);
    f(std::string_view("tile_n"), t.tile_n);
    f(std::string_view("k_unrolled"), t.k_unrolled);
    f(std::string_view("panel"), t.panel);
    f(std::string_view("k_panel"), t.k_panel);
    f(std::string_view("stages"), t.stages);
    f(std::string_view("slices"), t.slices);
    f(std::string_view("rows_first"), t.rows_first);
    f(std::string_view("skewed"), t.skewed);
    f(std::string_view("c_transposed"), t.c_transposed);
    f(std::string_view("columns_apart"), t.columns_apart);
    f(std::string_view("k_apart"), t.k_apart);
    f(std::string_view("in_registers"), t.in_registers);
    f(std::string_view("rows_of_16"), t.rows_of_16);
    f(std::string_view("warpgroups"), t.warpgroups);
    f(std::string_view("realigned"), t.realigned);
    f(std::string_view("thread_products"), t.thread_products);
    f(std::string_view("boxed"), t.boxed);
    f(std::string_view("streamed"), t.streamed);
}

} // namespace ricci::lowering
