// SPDX-License-Identifier: Apache-2.0
// The wall of the fleet: one cell for each node, in the order of the states, one picture a group.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/console/fleet.h"
#include "services/console/html.h"

namespace bunraku::console {

/// The nodes of a group by state. Unchanged nodes are only counted.
struct WallGroup {
    std::string value;  ///< of the fact; empty if the nodes do not have it
    StateCounts counts;
    std::array<std::vector<const store::NodeRow*>, kStates> nodes;  ///< at most kMostCells each

    /// If a group has more nodes of a state, the wall shows only their number.
    static constexpr std::size_t kMostCells = 400;
};

/// Groups the nodes that the viewer may see. The largest group comes first.
std::vector<WallGroup> wall_groups(const Fleet& fleet, const Grouping& grouping,
                                   const Viewer& viewer, std::string_view environment,
                                   std::int64_t now_ms);

/// Returns the rectangles that cover the cells from `first` to before `last`, as an SVG path.
std::string cells_path(std::int64_t first, std::int64_t last);

/// Writes one group. `fact` is the fact that the groups have in common.
void wall_group(Html& h, const WallGroup& group, std::string_view fact,
                std::string_view environment);
/// Writes the patterns that wall_group() uses. A page needs them once.
void wall_patterns(Html& h);

}  // namespace bunraku::console
