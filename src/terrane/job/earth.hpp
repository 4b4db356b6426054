// The [mesh] and [model] tables of a job: the earth model they describe.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/io/content.hpp"
#include "terrane/job/config.hpp"
#include "terrane/model/description.hpp"
#include "terrane/survey/projection.hpp"

namespace terrane {

struct Earth {
  EarthModel model;
  std::vector<std::string> notes, warnings;  ///< lines for the user
  /// Height of the ground that [model] describes, m; empty if it describes none.
  std::function<double(double easting, double northing)> ground;
};

/// The user's settings for a mesh that the physics plans (mesh.kind = "planned", or no [mesh]).
struct MeshWish {
  std::optional<double> cell, depth;  ///< m
  std::optional<Prism> box;
};
struct MeshPlan {
  TensorMesh mesh;
  std::vector<std::string> reasons;  ///< lines for the user: the choices made, and why
};

/// The requirements of a physics on the earth model.
struct EarthRequest {
  /// Plans a mesh from the survey, which the physics knows, and the earth; empty: the job must have a table
  /// [mesh].
  std::function<MeshPlan(const Description& earth, const MeshWish& wish)> plan = {};
  double reference_density = 0;  ///< kg/m³; is subtracted from densities of rock
  /// Whether cells with several materials get conductivity_east, _north and _up.
  bool along_axes = false;
  bool along_axes_of_layers = false;  ///< like along_axes, but only for cells whose media are layers
  /// Outside the mesh of model.file, the rock at the sides of that mesh continues sideways, with air above
  /// it.
  bool cells_go_on = false;
  /// Returns warnings about bodies that the mesh does not represent. The mesh may be planned or given in the
  /// job; tables: for each body, its table in the job.
  std::function<std::vector<std::string>(const Description& earth, const TensorMesh& mesh,
                                         const std::vector<std::string>& tables)>
      warn = {};
  /// The mesh of the physics is itself cut at the ground: cells above it have properties of rock, too.
  bool cuts_ground = false;
  /// The ground that a table of the physics gives; used if [model] gives none.
  std::optional<Surface> ground = {};
  /// The properties of rock that the physics reads; the run notes other properties that a model has. Empty:
  /// no note.
  std::vector<std::string_view> reads = {};
  /// Pairs {property, other}: the property is read only if the model has the other one, too: {"density",
  /// "specific_heat"}.
  std::vector<std::array<std::string_view, 2>> reads_beside = {};
  /// Returns warnings about the description, once it has been transferred to the mesh; empty: none.
  std::function<std::vector<std::string>(const Description& earth, const TensorMesh& mesh)> look = {};
};

/// Tables [mesh] and [model] and all their kinds, in the order of the reference.
std::span<const Section> earth_sections();

/// The value of mesh.projection; nothing if the job's coordinates are local.
std::optional<std::string> projection_definition(const Config& job);

/// Throws InputError at the key `file` of `table` if a cell width of `data` was guessed: too uncertain to
/// compute with.
void require_widths(const Config& table, const io::MeshData& data);

/// The sections of table [mesh] of kinds regular and tensor, for a physics on the cells of a mesh.
std::span<const Section> mesh_sections();
/// The mesh that the table [mesh] describes. Throws InputError.
TensorMesh build_mesh(const Config& job);
/// The value of mesh.kind, or the kind that other keys of [mesh] imply. Throws InputError: no such kind.
std::string kind_of_mesh(const Config& mesh);
/// Whether the physics plans the mesh: there is no [mesh], or [mesh] has only the key `projection`, or its
/// kind is "planned".
bool plans_mesh(const Config& job);
/// The user's settings for a planned mesh. Throws InputError.
MeshWish read_wish(const Config& job);

/// The earth model of a job. Throws InputError, FileError, or MemoryError before large arrays are allocated.
Earth build_earth(const Config& job, const std::optional<Projection>& projection,
                  const MemoryBudget& memory = {}, const EarthRequest& request = {});

/// The earth models of a job on several planned meshes, for requests that differ only in `plan`; the files
/// that [model] names are read once. take: receives one model after another, so that they need not all be in
/// memory at once
void build_earths(const Config& job, const std::optional<Projection>& projection, const MemoryBudget& memory,
                  std::span<const EarthRequest> requests,
                  const std::function<void(std::size_t number, Earth earth)>& take);

/// An elevation grid in the job's coordinates. A geographic grid is projected onto evenly spaced nodes.
/// window: longitudes and latitudes to keep (west, east, south, north); region: the rectangle to cover, m.
/// Throws InputError at `key` of `table` if the grid is geographic and the job has no projection.
Grid read_elevation(const Config& table, std::string_view key, const std::optional<Projection>& projection,
                    const MemoryBudget& memory, const std::string& field = {}, const Region* window = nullptr,
                    const Region* region = nullptr, std::array<double, 2> spacing = {0, 0});

}  // namespace terrane
