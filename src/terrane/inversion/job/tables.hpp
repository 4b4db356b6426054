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
/// The section [model] of an inversion that uses only its ground.
const Section& ground_section();

/// Reads the table [joint], except the rocks, which each inversion has in its own table.
JointSettings read_joint(const Config& job);
/// inversion.rocks in SI units.
std::optional<TwoRocks> read_rocks(const Config& table, const std::string& property);
/// inversion.rocks as natural logarithms. Throws InputError: a value is not above zero.
std::optional<TwoRocks> read_rocks_of_logarithms(const Config& table, const std::string& property);

struct MeshOfJob {
  TensorMesh mesh;
  std::string file = {};                ///< the file that the mesh was read from; empty: none
  std::array<double, 3> smooth = {};    ///< smoothing lengths of a planned mesh, m; 0: from cell widths
  std::vector<std::string> notes = {};  ///< how it was planned
};
/// The mesh of the job: regular, tensor, from a file, or planned, where there is no [mesh] or kind =
/// "planned". Throws InputError.
MeshOfJob read_mesh(const Config& job, const MemoryBudget& memory,
                    const std::function<CellsPlan(const MeshWish& wish)>& plan);

/// Reads the settings of all physics; default lengths are the widths of the cells, unless the mesh was
/// planned.
Settings read_common_settings(const Config& table, const MeshOfJob& mesh);
/// Reads the settings of Gauss-Newton inversions, whose weights are none unless by sensitivity.
Settings read_steps(const Config& table, const MeshOfJob& mesh);
/// Reads the settings of linear physics without stations; weighting: the default.
Settings read_linear(const Config& table, const MeshOfJob& mesh, Weighting weighting);
/// Reads those of linear physics with stations.  exponent: of the fields' decay, for depth and distance
/// weights
Settings read_at_stations(const Config& table, double exponent, const MeshOfJob& mesh);

/// Cells whose centres lie below inversion.topography, or that inversion.active_file marks; empty: all.
std::vector<std::uint32_t> read_active(const Config& table, const TensorMesh& mesh,
                                       const std::string& mesh_file,
                                       const std::optional<Projection>& projection,
                                       const MemoryBudget& memory);

/// Gives the problem the ground that [model] describes, if it does: cells that hold any of it are active.
/// Returns its height. other, key: where a job may name a ground of its own. Throws InputError: that names
/// another; the whole mesh is air.
Ground take_ground(const Config& job, const Config& other, const char* key,
                   const std::optional<Projection>& projection, const MemoryBudget& memory, Problem& problem);
/// The same with a ground that was read already.
void put_ground(const Ground& height, std::string where, Problem& problem);

/// A number with a unit, or a file of a property, for every active cell; empty when the key is not there.
std::vector<double> read_cells(const Config& table, const char* key, const std::string& property,
                               const TensorMesh& mesh, const std::string& mesh_file,
                               std::span<const std::uint32_t> active);

/// Reads natural logarithms of a property that must be above zero, as read_cells(); then turns them back.
std::vector<double> read_logarithms(const Config& table, const char* key, const std::string& property,
                                    const TensorMesh& mesh, const std::string& mesh_file,
                                    std::span<const std::uint32_t> active);
std::vector<double> exponentials_of(std::vector<double> logarithms);

/// inversion.weights_file; nothing where there is none. Throws InputError: weights of octree cells.
std::optional<Factors> read_weights(const Config& table, const TensorMesh& mesh,
                                    const std::string& mesh_file);
/// The file that [mesh] names, where it holds an octree; empty: none.
std::string octree_file_of(const Config& job);

/// w of the active cells from a file of numbers; empty: none.
std::vector<double> read_own_weight(const Config& table, const Problem& problem,
                                    const std::string& mesh_file);
/// Completes bounds of which one side was given: the other one is set far away.
void complete(Bounds& bounds, std::size_t cells);

/// Whether the text of a key is the name of a file.
bool names_file(const Config& table, const char* key);

/// σ = floor + percent/100 |d| where the job gives one of the two, with a note where the survey has its own;
/// otherwise the survey's. Puts them into the columns.  data: where they were given, for messages
/// ("job.toml:12: survey.file").
void read_uncertainties(const Config& table, std::vector<ObservedColumn>& observed,
                        std::vector<std::string>& notes, const std::string& data);

}  // namespace terrane::inversion
