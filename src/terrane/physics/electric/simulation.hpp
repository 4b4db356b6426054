// Direct-current resistivity from a job file, or from a mesh and electrodes: settings, plan, run, result.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/job/config.hpp"
#include "terrane/mesh/companion.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/model/bodies.hpp"
#include "terrane/physics/electric/forward.hpp"
#include "terrane/physics/electric/parameters.hpp"
#include "terrane/physics/electric/ranks.hpp"
#include "terrane/physics/electric/survey/files.hpp"
#include "terrane/simulation/refined_simulation.hpp"
#include "terrane/simulation/station_fields.hpp"

namespace terrane::electric {

/// The [simulation] table.
struct Settings {
  Parameters parameters;
  double frequency = 0;  ///< Hz; 0: direct current
  Accuracy accuracy = {};

  template <class Self, class Field>
  static void fields(Self& s, Field& field) {
    field("parameters", s.parameters, in_same_table());
    field("frequency", s.frequency, number(Quantity::frequency, not_negative),
          "Frequency of the current, for a medium with chargeability, cole_cole_time and cole_cole_exponent: "
          "data have a phase. 0: steady currents, and data have a chargeability.");
    field("accuracy", s.accuracy, in_same_table());
  }
  /// Throws InputError.
  static Settings read(const Config& job);
  static const Section& section();
};

/// The [sides] table of a job, which Settings::read() reads.
const Section& sides_section();
/// Describes the conditions: "top insulated, bottom mixed, …"
std::string text_of(const Boundaries& boundary);

/// The [survey] table of a job, for each kind of survey.
std::span<const Section> survey_sections();

/// Builds the survey of a job. height: of the ground, m, if there is a topography; the job then gives heights
/// of electrodes on lines relative to it. Electrodes of height NaN lie on the ground. Throws InputError,
/// FileError.
Measured build_survey(const Config& job, const std::function<double(double, double)>& height = {});

/// The ground of simulation.topography; empty if the job has none. Throws InputError (also if
/// model.topography is a different ground), FileError.
std::optional<Surface> named_ground(const Config& job, const MemoryBudget& memory);
/// The height of this ground as a function of easting and northing, or empty; outside its grid, that at the
/// grid's edge.
std::function<double(double, double)> topography_of(const Config& job, const MemoryBudget& memory);

/// Height above the ground, m, up to which an electrode counts as lying on it: a twentieth of the distance
/// between electrodes, because the heights of a survey and of the ground's grid differ.
double height_of_feet(const Electrodes& electrodes);

/// Throws InputError at the key of [survey] that specifies an electrode outside of the mesh.
void expect_electrodes_inside(const TensorMesh& mesh, const Electrodes& electrodes, const Config& survey);

/// The smallest relative error that is ever reported.
inline constexpr double least_stated = 3e-5;

/// Warnings before a run: walls that are near, cells wider than the distance between electrodes, media in
/// which total potentials are inaccurate.
std::vector<std::string> warnings_of(const TensorMesh& mesh, const Medium& medium,
                                     const Electrodes& electrodes, const Parameters& parameters);
/// Warnings after a run: arrays without a geometric factor, solves that did not converge.
std::vector<std::string> warnings_of(const DirectCurrentReport& found);

/// The data of a run, the report of its solves, and the device on which they were computed.
struct Found {
  DirectCurrentData data;
  DirectCurrentReport report;
  Device device;
};

class Simulation final : public RefinedSimulation<Simulation, Found> {
 public:
  /// medium: properties of the cells, [up, north, east].  Throws ShapeError, InputError.
  Simulation(TensorMesh mesh, Medium medium, Electrodes electrodes, Settings settings);
  /// Makes the simulation from the job tables [mesh], [model], [survey] and [simulation].
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);
  /// instead: replaces the planned mesh; null: the planned mesh is used
  static std::unique_ptr<Simulation> from_job_on(const Config& job, const Runtime& runtime,
                                                 const TensorMesh* instead);

  Result outline() const override;
  /// The plotting points of the arrays, with the positions of their electrodes.
  Survey places() const;

  /// The solves to distribute over ranks, and the memory that they need.
  Load load() const;
  /// Estimated time of the solve for one electrode on one rank, s.
  double seconds_of_solve(const Device& device) const;
  /// What the mesh of the companion (a second run, for error estimates) must keep of this mesh: positions of
  /// electrodes, and the sides beyond which the earth continues.
  CompanionWish wish_of_mesh() const;
  /// Estimated time of all solves, s.
  double seconds_of_run(const Runtime& runtime) const;
  using RefinedSimulation::describe_into;

 private:
  MemoryBudget choose(const Runtime& runtime) const override;
  void describe(RunFacts& facts, const MemoryBudget&, const Runtime& runtime) const override;
  void foresee(Plan& plan, const MemoryBudget&, const Runtime& runtime) const override;
  Dataset compute(Result& result, const MemoryBudget&, const Runtime& runtime) override;
  io::Content model(bool with_values) const override;
  std::vector<Column> cells(bool with_values) const;
  double medium_bytes() const;
  double volume_bytes(double solver) const;
  double volume_bytes_of_solve() const;
  /// Bytes of the results on rank 0.
  double found_bytes() const;
  SolvesToShare solves_to_share() const;
  std::size_t sources() const;
  std::size_t solves_of_source() const;
  std::size_t solves() const;

  friend RefinedSimulation<Simulation, Found>;
  static constexpr auto errors_beside = ErrorsBeside::walls;
  static bool converged(const Found& found) { return found.report.converged(); }
  std::uint64_t cells_of_run() const { return mesh_.size(); }
  Found solved(const Runtime& runtime) const;
  std::unique_ptr<Simulation> on_companion(std::array<bool, 3> coarser, bool moves_walls) const;
  std::unique_ptr<Simulation> on_companion(const CompanionWish& wish, Potential potential) const;
  std::unique_ptr<Simulation> finer(const FinerWish& wish, const Runtime& runtime) const;
  /// The columns of estimated errors, which follow those of fields_of().
  std::vector<Column> errors_of(const Solved& solved, StatedErrors& stated) const;

  double part_of_difference() const;
  std::vector<const std::vector<double>*> values_of_medium() const;
  /// Whether the medium varies along one horizontal axis only, so that it has no edges or corners. Near edges
  /// and corners, errors decrease more slowly than with the square of the cell width.
  bool has_contacts_alone() const;
  std::unique_ptr<Simulation> split_into(const TensorMesh& cells) const;
  StationFields fields_of(const DirectCurrentData& data) const;
  /// Adds observed data beside the computed ones, if the survey has data.
  void compare_with_measured(StationFields& stations, Report& report) const;
  void add_cells(Dataset& data, std::vector<CellValues> volume) const;
  void add_attributes(Result& result) const;

  TensorMesh mesh_;
  Medium medium_;
  Electrodes electrodes_;
  std::vector<MeasuredColumn> measured_;
  Settings settings_;
  std::size_t sources_ = 0;       // number of current electrodes of the arrays as_solved()
  std::size_t held_against_ = 0;  // sources that need a second solve, over homogeneous ground
  /// Makes the same job on other cells, with mean properties computed anew from the described earth; empty:
  /// there is no description, and new cells get the values of the cells that they lie in.
  std::function<std::unique_ptr<Simulation>(const TensorMesh&, const Runtime&)> on_cells_;
};

}  // namespace terrane::electric
