// The [mesh] and [model] tables of a job: the earth model they describe.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/job/config.hpp"
#include "terrane/model/earth_model.hpp"
#include "terrane/survey/projection.hpp"

namespace terrane {

struct Earth {
  EarthModel model;
  std::vector<std::string> notes, warnings;  ///< lines for the user
};

/// Tables [mesh] and [model] and all their kinds, in the order of the reference.
std::span<const Section> earth_sections();

/// mesh.projection; nothing when the job's coordinates are local.
std::optional<std::string> projection_definition(const Config& job);

/// Of them the table [mesh] and its kinds regular and tensor, for a physics on the cells of a mesh.
std::span<const Section> mesh_sections();
/// The mesh that they describe. Throws InputError.
TensorMesh build_mesh(const Config& job);

/// Throws InputError, FileError, MemoryError (before anything large is made).
Earth build_earth(const Config& job, const std::optional<Projection>& projection,
                  const MemoryBudget& memory = {});

/// An elevation grid in the job's coordinates. A geographic one is projected onto even nodes.
/// window: longitudes and latitudes to keep (west, east, south, north); region: the rectangle to cover, m.
/// Throws InputError at `key` of `table` when it is geographic and there is no projection.
Grid read_elevation(const Config& table, std::string_view key, const std::optional<Projection>& projection,
                    const MemoryBudget& memory, const std::string& field = {}, const Region* window = nullptr,
                    const Region* region = nullptr, std::array<double, 2> spacing = {0, 0});

}  // namespace terrane
