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
  /// Height of the ground that [model] describes; empty where it describes none.
  std::function<double(double easting, double northing)> ground;
};

/// What a job says of a mesh that its physics makes (mesh.kind = "planned", or no [mesh]).
struct MeshWish {
  std::optional<double> cell, depth;  ///< m
  std::optional<Prism> box;
};
struct MeshPlan {
  TensorMesh mesh;
  std::vector<std::string> reasons;  ///< lines for the user: what was chosen, and why
};

/// What a physics asks of the earth model.
struct EarthRequest {
  /// Makes a mesh from the survey, which the physics knows, and the earth; empty: the job has to have [mesh].
  std::function<MeshPlan(const Description& earth, const MeshWish& wish)> plan = {};
  double reference_density = 0;       ///< kg/m³; densities of rock are stored as differences from this
  bool along_axes = false;            ///< mixed cells have conductivity_east, _north, _up
  bool along_axes_of_layers = false;  ///< the same, for cells that mix horizontal layers alone
  bool cells_go_on = false;           ///< beyond model.file's mesh: rock as at its sides, air as above it
  /// Given the mesh, also one from the job, and the tables of the bodies: returns warnings about bodies that
  /// it does not hold.
  std::function<std::vector<std::string>(const Description& earth, const TensorMesh& mesh,
                                         const std::vector<std::string>& tables)>
      warn = {};
  bool cuts_ground = false;  ///< its mesh cuts the ground itself: cells above have rock, too
  /// The ground that a table of the physics names, where [model] names none.
  std::optional<Surface> ground = {};
  /// The properties of rock that the physics reads; a note names others that a model has. Empty: no note.
  std::vector<std::string_view> reads = {};
  /// Properties that it reads only where the model has another one, too: {"density", "specific_heat"}.
  std::vector<std::array<std::string_view, 2>> reads_beside = {};
  /// Warnings about what is described on the mesh that takes it; empty: none.
  std::function<std::vector<std::string>(const Description& earth, const TensorMesh& mesh)> look = {};
};

/// Tables [mesh] and [model] and all their kinds, in the order of the reference.
std::span<const Section> earth_sections();

/// mesh.projection; nothing when the job's coordinates are local.
std::optional<std::string> projection_definition(const Config& job);

/// Throws InputError at `file` of `table`: `data` is to be computed with, but a width of it is guessed.
void require_widths(const Config& table, const io::MeshData& data);

/// The sections of table [mesh] of kinds regular and tensor, for a physics on the cells of a mesh.
std::span<const Section> mesh_sections();
/// The mesh that they describe. Throws InputError.
TensorMesh build_mesh(const Config& job);
/// mesh.kind, or what other keys of the table [mesh] say. Throws InputError: no such kind.
std::string kind_of_mesh(const Config& mesh);
/// Whether the physics plans the mesh: there is no [mesh], or it names a projection alone, or its kind is
/// "planned".
bool plans_mesh(const Config& job);
/// The wishes for the mesh of such a job. Throws InputError.
MeshWish read_wish(const Config& job);

/// Throws InputError, FileError, MemoryError (before anything large is made).
Earth build_earth(const Config& job, const std::optional<Projection>& projection,
                  const MemoryBudget& memory = {}, const EarthRequest& request = {});

/// The same on several planned meshes, of requests that differ in their plan alone; what [model] names is
/// read once. take: gets one earth after the other, so that not all need be there at once
void build_earths(const Config& job, const std::optional<Projection>& projection, const MemoryBudget& memory,
                  std::span<const EarthRequest> requests,
                  const std::function<void(std::size_t number, Earth earth)>& take);

/// An elevation grid in the job's coordinates. A geographic one is projected onto even nodes.
/// window: longitudes and latitudes to keep (west, east, south, north); region: the rectangle to cover, m.
/// Throws InputError at `key` of `table` when it is geographic and there is no projection.
Grid read_elevation(const Config& table, std::string_view key, const std::optional<Projection>& projection,
                    const MemoryBudget& memory, const std::string& field = {}, const Region* window = nullptr,
                    const Region* region = nullptr, std::array<double, 2> spacing = {0, 0});

}  // namespace terrane
