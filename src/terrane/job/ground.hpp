// The ground of a model, read from a file of elevations.
#pragma once

#include <optional>
#include <string_view>

#include "terrane/base/memory.hpp"
#include "terrane/job/config.hpp"
#include "terrane/mesh/grid.hpp"
#include "terrane/survey/projection.hpp"

namespace terrane {

/// The ground, as read_elevation() has it, for which points along a line are enough: it is the same across.
/// Gaps that reach the grid's edge have the height of the nearest node. Notes of the table say both.
/// Throws InputError at `key` also for gaps inside the grid.
Grid read_ground(const Config& table, std::string_view key, const std::optional<Projection>& projection,
                 const MemoryBudget& memory);

}  // namespace terrane
