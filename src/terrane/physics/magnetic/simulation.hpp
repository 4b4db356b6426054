// Magnetics from a job file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/job/config.hpp"
#include "terrane/model/earth_model.hpp"
#include "terrane/physics/magnetic/forward.hpp"
#include "terrane/simulation/provenance.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::magnetic {

/// The [simulation] table.
struct Settings {
  std::vector<Channel> channels{Channel::tmi};
  MainField field;
  bool exact_anomaly = false;
  gravity::Parameters parameters;  ///< accuracy, method, singular policy
  std::string frame = "enu";
  UnitSystem units = UnitSystem::geo;

  /// Throws InputError.
  static Settings read(const Config& job);
  static const Section& section();
  /// Of the main field alone: keys, and what they say. table: described with them among its own.
  static std::span<const Key> field_keys();
  static MainField read_field(const Config& table);
};

class Simulation final : public terrane::Simulation {
 public:
  /// Takes susceptibility and magnetization_east, _north, _up of the model. Throws InputError: it has none of
  /// them.
  Simulation(EarthModel model, Survey survey, Settings settings, MemoryBudget memory = {});
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

  Plan check(const Runtime& runtime = {}) override;
  Result run(const Runtime& runtime = {}) override;
  Result outline() const override;
  void write_model(const std::string& path) const override;
  void check_model(const std::string& path) const override;

 private:
  double memory_needed() const;
  gravity::Parameters parameters(const Runtime& runtime) const;
  MemoryBudget budget(const Runtime& runtime) const;
  gravity::Prisms prisms() const;
  void fill(Result& result, const FluxDensity& field) const;

  EarthModel model_;
  Survey survey_;
  Settings settings_;
  MemoryBudget memory_;
  PrismSet prisms_;              ///< of the model, those that are magnetized
  Magnetization magnetization_;  ///< A/m
  JobOrigin job_;
  std::vector<std::string> notes_, warnings_;
};

}  // namespace terrane::magnetic
