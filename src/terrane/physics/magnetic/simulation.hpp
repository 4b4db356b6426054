// A simulation of magnetics, from a job file or from a model and a survey.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/job/config.hpp"
#include "terrane/model/earth_model.hpp"
#include "terrane/physics/gravity/frames.hpp"
#include "terrane/physics/gravity/run/planner.hpp"
#include "terrane/physics/magnetic/forward.hpp"
#include "terrane/simulation/simulation_of.hpp"
#include "terrane/simulation/station_fields.hpp"

namespace terrane::magnetic {

inline constexpr std::array<std::string_view, 2> anomaly_names{"projection", "exact"};

/// The settings in the job table [simulation].
struct Settings {
  std::vector<Channel> channels{Channel::tmi};
  MainField field;
  bool exact_anomaly = false;
  /// Settings of the sums; only accuracy, method and singular policy are used.
  gravity::Parameters parameters;
  std::string frame = "enu";
  UnitSystem units = UnitSystem::geo;

  template <class Self, class Field>
  static void fields(Self& s, Field& field) {
    field(
        "channels", s.channels, own_key("list of names", "[\"tmi\"]", "channels"),
        "b_e b_n b_u; tmi, the total-field anomaly; b_amplitude, the strength of the anomalous field; or the "
        "frame's own names.",
        "[\"tmi\"]");
    field("field", s.field, in_same_table());
    field("anomaly", s.exact_anomaly, one_of(anomaly_names),
          "tmi: the projection on the main field, as UBC and SimPEG have it; or exact, |F f + B| - F.");
    field("accuracy", s.parameters.accuracy, gravity::accuracy_rule,
          "Relative error allowed, from 1e-3 down to 2e-15, which is best.");
    field("method", s.parameters.method, one_of(gravity::method_names),
          "auto takes the cheapest that keeps the accuracy; direct, lattice, tree, fmm.");
    field("singular", s.parameters.singular, one_of(gravity::policy_names),
          "The field on faces, edges and corners of cells: nan, or on faces the mean, outside or inside "
          "limit.");
    field("frame", s.frame, own_key("text", "\"enu\"", "frame"),
          "Names and axes of the output: enu, harmonica, simpeg, ubc.");
    field("units", s.units, one_of(gravity::unit_system_names), "geo: nT; si: T.");
  }

  /// Throws InputError.
  static Settings read(const Config& job);
  static const Section& section();
  /// field_keys(): the keys of the main field. read_field(): the main field of a table that has these keys
  /// among its own.
  static std::span<const Key> field_keys();
  static MainField read_field(const Config& table);
};

class Simulation final : public SimulationOf<> {
 public:
  /// Uses the properties susceptibility and magnetization_east, _north, _up of the model. Throws InputError:
  /// the model has none of them.
  Simulation(EarthModel model, Survey survey, Settings settings, MemoryBudget memory = {});
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

  Result outline() const override;

 private:
  MemoryBudget choose(const Runtime& runtime) const override;
  void describe(RunFacts& facts, const MemoryBudget&, const Runtime&) const override;
  void foresee(Plan& plan, const MemoryBudget& memory, const Runtime& runtime) const override;
  bool plans_by_itself() const override { return true; }
  Dataset compute(Result& result, const MemoryBudget& memory, const Runtime& runtime) override;
  io::Content model(bool with_values) const override;
  double memory_needed() const;
  double memory_needed(const gravity::MethodPlan& chosen, const Runtime& runtime) const;
  gravity::Parameters parameters(const Runtime& runtime) const;
  gravity::Prisms prisms() const;
  Dataset fill(Result& result, const FluxDensity& field) const;

  EarthModel model_;
  Survey survey_;
  Settings settings_;
  MemoryBudget memory_;
  PrismSet prisms_;              ///< the magnetized prisms of the model
  Magnetization magnetization_;  ///< A/m
};

}  // namespace terrane::magnetic
