// Gravity from a job file, or from a model and a survey: settings, plan, run, result.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/job/config.hpp"
#include "terrane/model/earth_model.hpp"
#include "terrane/physics/gravity/frames.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/run/planner.hpp"
#include "terrane/simulation/simulation_of.hpp"
#include "terrane/simulation/station_fields.hpp"

namespace terrane::gravity {

/// The [simulation] table.
struct Settings {
  Parameters parameters;
  Frame frame = Frame::enu;
  UnitSystem units = UnitSystem::geo;
  /// "WGS84" or "GRS80": adds normal gravity at the stations and, where gravity was observed, the
  /// disturbance.
  std::string normal_gravity;
  /// Treats the model's downward attraction as the terrain effect and removes it from the disturbance.
  bool subtract_terrain = false;

  friend bool operator==(const Settings&, const Settings&) = default;
  template <class Self, class Field>
  static void fields(Self& s, Field& field) {
    field("parameters", s.parameters, in_same_table());
    field("frame", s.frame, one_of(frame_names).same_bits(),
          "Names, axes and signs of the output: enu, harmonica, simpeg, ubc, tomofast.");
    field("units", s.units, one_of(unit_system_names).same_bits(),
          "geo: J/kg, mGal, E; si: m2/s2, m/s2, 1/s2.");
    field("normal_gravity", s.normal_gravity, own_key("text", "none", {}),
          "WGS84 or GRS80: adds normal gravity at the stations and, with survey.observed_column, the "
          "disturbance.");
    field("subtract_terrain", s.subtract_terrain, flag(),
          "The model is terrain: adds its downward attraction, and the disturbance without it.");
  }

  /// Throws InputError.
  static Settings read(const Config& job);
  static const Section& section();
};

/// "channels: g_u", one setting per line.
std::string to_string(const Settings& settings);

class Simulation final : public SimulationOf<> {
 public:
  /// Uses the model's density. Throws InputError: the model has none; the survey lacks a column that a
  /// requested reduction needs.
  Simulation(EarthModel model, Survey survey, Settings settings, MemoryBudget memory = {});
  /// Makes the simulation from the job tables [mesh], [model], [survey] and [simulation].
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

  Result outline() const override;

  const Survey& survey() const noexcept { return survey_; }
  const EarthModel& model() const noexcept { return model_; }
  const Settings& settings() const noexcept { return settings_; }

 private:
  /// The memory limit of the run: that of `runtime`, or that of the job.
  MemoryBudget choose(const Runtime& runtime) const override;
  void describe(RunFacts& facts, const MemoryBudget&, const Runtime&) const override;
  void foresee(Plan& plan, const MemoryBudget& memory, const Runtime& runtime) const override;
  bool plans_by_itself() const override { return true; }
  Dataset compute(Result& result, const MemoryBudget& memory, const Runtime& runtime) override;
  io::Content model(bool with_values) const override;
  /// Parameters with all channels to compute: those requested, and those that the reductions need. Device,
  /// threads and memory limit are those of `runtime`, or of the settings if `runtime` leaves them open.
  Parameters needed(const Runtime& runtime = {}) const;
  double memory_needed() const;
  double memory_needed(const MethodPlan& chosen, const Runtime& runtime) const;
  double memory_to_write() const;
  /// Fills in everything of a result but its report.  values: [channels of needed()][stations], SI; with
  /// values of length zero the result is an outline.
  Dataset fill(Result& result, const std::vector<std::vector<double>>& values,
               std::vector<unsigned char> singular) const;
  /// Adds normal gravity and, if gravity was observed, the disturbance.  g_u [n] m/s²: caused by the terrain;
  /// empty in an outline
  void reduce(StationFields& stations, const std::vector<double>& g_u) const;
  std::map<std::string, std::string> attributes() const;

  EarthModel model_;
  Survey survey_;
  Settings settings_;
  MemoryBudget memory_;
};

}  // namespace terrane::gravity
