// Reads the keys of [inversion] into settings and problems.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/inversion/loop/joint.hpp"
#include "terrane/job/config.hpp"
#include "terrane/job/described.hpp"
#include "terrane/job/mesh_plan.hpp"
#include "terrane/model/description.hpp"
#include "terrane/survey/observed.hpp"
#include "terrane/survey/projection.hpp"

namespace terrane::inversion {

const Section& inversion_section();
const Section& joint_section();
/// The section [model] for inversions that use only the ground surface of it.
const Section& ground_section();

/// Reads the table [joint], except the rocks, which are in the table of each inversion.
JointSettings read_joint(const Config& job);
/// Reads inversion.rocks, in SI units.
std::optional<TwoRocks> read_rocks(const Config& table, const std::string& property);
/// Reads inversion.rocks as natural logarithms. Throws InputError if a value is not above zero.
std::optional<TwoRocks> read_rocks_of_logarithms(const Config& table, const std::string& property);

struct MeshOfJob {
  TensorMesh mesh;
  std::string file = {};                ///< the file that the mesh was read from; empty: none
  std::array<double, 3> smooth = {};    ///< smoothing lengths of a planned mesh, m; 0: from cell widths
  std::vector<std::string> notes = {};  ///< how the mesh was planned
};
/// The mesh of the job: regular, tensor, from a file, or planned, if there is no [mesh] or its kind is
/// "planned". Throws InputError.
MeshOfJob read_mesh(const Config& job, const MemoryBudget& memory,
                    const std::function<CellsPlan(const MeshWish& wish)>& plan);

/// Reads the settings that all physics have; default smoothing lengths are the widths of the cells, unless
/// the mesh was planned.
Settings read_common_settings(const Config& table, const MeshOfJob& mesh);
/// Reads the settings of Gauss-Newton inversions; cells are weighted by sensitivity or not at all.
Settings read_steps(const Config& table, const MeshOfJob& mesh);
/// Reads the settings of linear physics without stations; weighting: the default weighting of cells.
Settings read_linear(const Config& table, const MeshOfJob& mesh, Weighting weighting);
/// Reads the settings of linear physics with stations.  exponent: exponent of the fields' decay with
/// distance, for depth and distance weights
Settings read_at_stations(const Config& table, double exponent, const MeshOfJob& mesh);

/// Indices of active cells: those whose centres are below inversion.topography, or that inversion.active_file
/// marks; empty: all.
std::vector<std::uint32_t> read_active(const Config& table, const TensorMesh& mesh,
                                       const std::string& mesh_file,
                                       const std::optional<Projection>& projection,
                                       const MemoryBudget& memory);

/// If [model] describes the ground surface, sets it in the problem: cells that are at least partly below it
/// become active. Returns the surface's height. other, key: table and key that may also give a ground. Throws
/// InputError if both are given, or if the whole mesh is air.
Ground take_ground(const Config& job, const Config& other, const char* key,
                   const std::optional<Projection>& projection, const MemoryBudget& memory, Problem& problem);
/// Sets a ground surface that has been read before, as take_ground() does.
void put_ground(const Ground& height, std::string where, Problem& problem);

/// Reads a value for every active cell: a number with a unit, or a file of the property; empty if the key is
/// absent.
std::vector<double> read_cells(const Config& table, const char* key, const std::string& property,
                               const TensorMesh& mesh, const std::string& mesh_file,
                               std::span<const std::uint32_t> active);

/// The natural logarithm of the values of read_cells(), which must be above zero.
std::vector<double> read_logarithms(const Config& table, const char* key, const std::string& property,
                                    const TensorMesh& mesh, const std::string& mesh_file,
                                    std::span<const std::uint32_t> active);
std::vector<double> exponentials_of(std::vector<double> logarithms);

/// Reads inversion.weights_file; nothing if the key is absent. Throws InputError if weights are for octree
/// cells.
std::optional<Factors> read_weights(const Config& table, const TensorMesh& mesh,
                                    const std::string& mesh_file);
/// The file that [mesh] names, if it contains an octree mesh; else empty.
std::string octree_file_of(const Config& job);

/// Reads the weights w of the active cells from a file of numbers; empty: none.
std::vector<double> read_own_weight(const Config& table, const Problem& problem,
                                    const std::string& mesh_file);
/// If only lower or only upper bounds were given, sets the others to values that are never reached.
void complete(Bounds& bounds, std::size_t cells);

/// Whether the text of a key is the name of a file.
bool names_file(const Config& table, const char* key);

/// Sets the uncertainties of the columns: σ = floor + percent/100 |d| if the job gives at least one of the
/// two (with a note if the survey has uncertainties, too); otherwise those of the survey.  data: origin of
/// the data, for messages ("job.toml:12: survey.file").
void read_uncertainties(const Config& table, std::vector<ObservedColumn>& observed,
                        std::vector<std::string>& notes, const std::string& data);

}  // namespace terrane::inversion
