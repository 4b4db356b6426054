// Direct-current resistivity from a job file, or from a mesh and electrodes: settings, plan, run, result.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/job/config.hpp"
#include "terrane/mesh/companion.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
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
          "Of the current, where the medium has chargeability, cole_cole_time and cole_cole_exponent: data "
          "have a phase. 0: currents that flow for long, and data have a chargeability.");
    field("accuracy", s.accuracy, in_same_table());
  }
  /// Throws InputError.
  static Settings read(const Config& job);
  static const Section& section();
};

/// The [sides] table, which Settings::read() reads.
const Section& sides_section();
/// "top insulated, bottom mixed, …"
std::string text_of(const Boundaries& boundary);

/// The [survey] table and its kinds.
std::span<const Section> survey_sections();

/// height: of the ground where there is a topography; electrodes of lines then lie so much above it. Heights
/// of NaN: on the ground. Throws InputError, FileError.
Measured build_survey(const Config& job, const std::function<double(double, double)>& height = {});

/// Height of the ground over easting and northing, where the job has simulation.topography; beyond the grid
/// it is as at its edge. Throws InputError, FileError.
std::function<double(double, double)> topography_of(const Config& job, const MemoryBudget& memory);

/// Throws InputError at the key of [survey] that places an electrode outside of the mesh.
void expect_electrodes_inside(const TensorMesh& mesh, const Electrodes& electrodes, const Config& survey);

/// Relative: what is stated at least.
inline constexpr double least_stated = 3e-5;

/// What a run of these is warned of before it solves: walls that are near, cells wider than electrodes are
/// apart, media in which total potentials err.
std::vector<std::string> warnings_of(const TensorMesh& mesh, const Medium& medium,
                                     const Electrodes& electrodes, const Parameters& parameters);
/// And of what it found: arrays without a geometric factor, solves that did not converge.
std::vector<std::string> warnings_of(const DirectCurrentReport& found);

/// Data of a mesh, how they were solved for, and where.
struct Found {
  DirectCurrentData data;
  DirectCurrentReport report;
  Device device;
};

class Simulation final : public RefinedSimulation<Simulation, Found> {
 public:
  /// medium: per cell [up, north, east].  Throws ShapeError, InputError.
  Simulation(TensorMesh mesh, Medium medium, Electrodes electrodes, Settings settings);
  /// From the tables [mesh], [model], [survey] and [simulation].
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);
  /// instead: cells to take in place of the planned ones; null: none
  static std::unique_ptr<Simulation> from_job_on(const Config& job, const Runtime& runtime,
                                                 const TensorMesh* instead);

  Result outline() const override;
  /// Of the arrays: their plotting points, with the places of their electrodes.
  Survey places() const;

  /// What ranks share.
  Load load() const;
  /// Of one electrode, on one rank.
  double seconds_of_solve(const Device& device) const;
  /// What a mesh of other cells keeps and where it goes on.
  CompanionWish wish_of_mesh() const;
  /// Of all solves.
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
  /// Of what is found, on rank 0.
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
  /// Columns that follow those of fields_of().
  std::vector<Column> errors_of(const Solved& solved, StatedErrors& stated) const;

  std::vector<const std::vector<double>*> values_of_medium() const;
  /// Whether the medium changes along one horizontal axis and no other: it has no edges, beside which errors
  /// fall with less than the square of the width of cells.
  bool has_contacts_alone() const;
  std::unique_ptr<Simulation> split_into(const TensorMesh& cells) const;
  StationFields fields_of(const DirectCurrentData& data) const;
  /// Observed beside computed, where the survey has data.
  void compare_with_measured(StationFields& stations, Report& report) const;
  void add_cells(Dataset& data, std::vector<CellValues> volume) const;
  void add_attributes(Result& result) const;

  TensorMesh mesh_;
  Medium medium_;
  Electrodes electrodes_;
  std::vector<MeasuredColumn> measured_;
  Settings settings_;
  std::size_t sources_ = 0;       // of currents, as arrays are solved for
  std::size_t held_against_ = 0;  // sources whose total potentials take a solve for homogeneous ground
  /// The same job on other cells, which take means of the earth anew; empty: cells are split.
  std::function<std::unique_ptr<Simulation>(const TensorMesh&, const Runtime&)> on_cells_;
};

}  // namespace terrane::electric
