// panel_shifts: tall-skinny A^T B whose columns start anywhere, as boxes bring their panels: kernels/panel_shifts.cuh.
#pragma once

#include "lowering/batched_layout.hpp"
#include "lowering/box_layout.hpp"
#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <array>
#include <cstdint>

namespace ricci::lowering {

inline constexpr std::int64_t moved_stages = 2; ///< panels that have been moved to where they are multiplied
/// Of panels as they come: two barriers for each stage of both kinds have room.
inline constexpr std::int64_t most_raw_stages = barrier_bytes / 16 - moved_stages;

/// Whether X and Y are columns of 2-, 4- or 8-byte numbers, at least as many as start differently.
bool has_shifted_panels(const step& st, const machine& chip);

/// Warps of a block that multiply nothing: one asks for boxes; where products of split numbers keep the others busy,
/// four that move what has come too (by 10 % on an H100 in f32 64; f16 64 by all others is 13 % faster).
std::int64_t shifting_warps(const step& st, const batched_tile& t);

/// Panels of t.k_panel steps as they come, of a tile that is `realigned`.
struct shifted_panel_layout {
    std::array<std::int64_t, 3> region{};    ///< bytes: of X and Y, from the start of a stage
    std::array<std::int64_t, 3> box_bytes{}; ///< multiples of 128
    std::int64_t steps = 1;                  ///< of a box
    std::int64_t boxes = 0, stage_bytes = 0; ///< of a panel
};
shifted_panel_layout shifted_panel_layout_of(const step& st, const batched_tile& t);

/// The maps of X's (o: 1) and Y's (2) boxes: of residues that have the most lines, or one less.
enum class shifted_columns : std::uint8_t { most, fewer };
inline constexpr int shifted_panel_maps = 5;
constexpr int shifted_panel_map(int o, shifted_columns columns) { return columns == shifted_columns::most ? o : o + 2; }
box_layout shifted_panel_boxes(const step& st, int o, const batched_tile& t, shifted_columns columns);
/// Whether there are residues with fewer columns.
bool has_fewer_columns(const step& st, int o);

} // namespace ricci::lowering
