// An inversion of induced polarization from a job file: as that of direct current (direct_current_job.hpp),
// with inversion.datum = "chargeability" and a known resistivity, inversion.resistivity.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/base/units.hpp"
#include "terrane/inversion/job/report.hpp"
#include "terrane/inversion/job/tables.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/physics/electric/inverse/chargeability.hpp"
#include "terrane/physics/electric/inverse/direct_current_job.hpp"
#include "terrane/simulation/compare.hpp"

namespace terrane::electric::inverse {

namespace {

constexpr const char* charge_property = "chargeability";
constexpr double thousandth = 1e-3;  // one mV/V in V/V

std::vector<double> times(double factor, std::vector<double> values) {
  for (double& value : values) value *= factor;
  return values;
}

/// Apparent chargeabilities of the survey, and their uncertainties if there are any, in mV/V, as in files of
/// arrays.
std::vector<ObservedColumn> find_charges(const Measured& survey, const Config& job) {
  const auto* column = survey.find(charge_property);
  if (column == nullptr)
    throw InputError(job.table("survey").where(), "it has no measured chargeabilities",
                     "Give kind = \"file\" and a table with a column chargeability_observed (V/V or mV/V), a "
                     "file of BERT with ip in mV/V, or of UBC with column = \"chargeability\".");
  refuse_written_for_none(job.table("survey"), "file", Column{charge_property, "", "", column->values});
  const auto in_thousandths = [&](std::vector<double> values) {
    for (double& value : values) value *= si_factor(Quantity::fraction, column->unit) / thousandth;
    return values;
  };
  ObservedColumn kept{
      charge_property,
      {"chargeability_observed", "mV/V", "observed apparent chargeability", in_thousandths(column->values)},
      std::nullopt};
  if (!column->uncertainty.empty())
    kept.uncertainty = Column{"chargeability_uncertainty", "mV/V", "uncertainty of apparent chargeability",
                              in_thousandths(column->uncertainty)};
  return {kept};
}

/// Chargeabilities of the active cells; empty if the key is missing.  Throws InputError: one below 0, or not
/// below 1.
std::vector<double> read_charges(const Config& table, const char* key, const inversion::Problem& p,
                                 const std::string& mesh_file) {
  if (!table.has(key)) return {};
  auto values = inversion::read_cells(table, key, charge_property, p.mesh, mesh_file, p.active);
  for (const double value : values)
    if (!(value >= 0 && value < 1))
      throw table.wrong(key, fmt::format("a chargeability is {:g} V/V", value),
                        "Allowed: from 0 to below 1 V/V; or with a unit, as \"20 mV/V\".");
  return values;
}

class ChargeData final : public ArrayData {
 public:
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

 private:
  std::string title() const override { return "inversion of induced polarization"; }
  std::string property() const override { return "chargeability"; }
  std::vector<double> values(const std::vector<double>& model) const override { return model; }
  int models() const override { return 1; }
  std::string method() const override;
  void describe_model(RunFacts& facts) const override;
  void make(const Runtime& runtime) override;
  void report_after(Report& report) const override;
  void fill(Result& result) const override;
  Fingerprint fingerprint(const Runtime& runtime) const override;
  void read_model(const Config& table, const std::string& mesh_file);

  std::vector<double> log_resistivity_;  ///< ln of the resistivity (Ω·m) of the active cells
  std::vector<double> apparent_, deviation_;
  std::vector<std::string> of_solves_;  ///< warnings about solves that did not converge
};

// ---- from the job ----

std::unique_ptr<terrane::Simulation> ChargeData::from_job(const Config& job, const Runtime& runtime) {
  auto made = std::make_unique<ChargeData>();
  const auto table = job.table("inversion").describe({inversion::inversion_section().keys});
  inversion::MeshOfJob mesh;
  const auto survey = made->read_ground_and_arrays(job, runtime, mesh);
  auto observed = find_charges(survey, job);
  inversion::read_uncertainties(table, observed, made->notes_, job.table("survey").where("file"));
  const auto& column = observed[0];
  made->apparent_ = times(thousandth, column.observed.values);
  made->deviation_ = times(thousandth, column.uncertainty->values);
  made->datum_ = Datum::log_apparent_resistivity;
  made->take_factors();
  made->read_model(table, mesh.file);
  made->settings_ = inversion::read_linear(table, mesh, inversion::Weighting::sensitivity);
  if (!table.has("tolerance")) made->settings_.tolerance = tolerance_of_charges;
  made->problem_.weights = inversion::read_weights(table, made->problem_.mesh, mesh.file);
  made->joint_ = inversion::read_joint(job);
  made->rocks_ = inversion::read_rocks(table, charge_property);
  made->origin_ = {job.source(), {}};
  return std::make_unique<inversion::InversionJob>(std::move(made));
}

/// Reads the known resistivities, and the reference and bounds of chargeability.
void ChargeData::read_model(const Config& table, const std::string& mesh_file) {
  auto& p = problem_;
  if (!table.has("resistivity") || (table.is_text("resistivity") && table.text("resistivity") == "none"))
    throw table.wrong(
        "resistivity", "missing",
        "Chargeabilities are found in a medium whose resistivity is known: a number, or the model "
        "that an inversion of the resistances has written.");
  log_resistivity_ =
      inversion::read_logarithms(table, "resistivity", "resistivity", p.mesh, mesh_file, p.active);
  auto ground = std::move(p.ground);
  auto ground_key = std::move(p.ground_key);
  p = problem_of_charges(std::move(p.mesh), std::move(p.active), apparent_, deviation_);
  p.ground = std::move(ground);
  p.ground_key = std::move(ground_key);
  p.reference = read_charges(table, "reference", p, mesh_file);
  for (auto [key, bound] : {std::pair{"lower", &p.bounds.lower}, {"upper", &p.bounds.upper}})
    if (auto given = read_charges(table, key, p, mesh_file); !given.empty()) *bound = std::move(given);
  p.g = std::make_shared<MeanOfCells>(apparent_.size(), p.bounds.lower.size());
  Medium medium;
  medium.conductivity.assign(p.mesh.size(), 1.0);
  for (std::size_t c = 0; c < log_resistivity_.size(); ++c)
    medium.conductivity[p.active.empty() ? c : p.active[c]] = std::exp(-log_resistivity_[c]);
  take_medium(std::move(medium));
}

// ---- the run ----

std::string ChargeData::method() const {
  return problem_.bounds.any() ? "lanczos, then within bounds" : "lanczos";
}

void ChargeData::describe_model(RunFacts& facts) const {
  const auto [least, most] = std::minmax_element(log_resistivity_.begin(), log_resistivity_.end());
  facts.add("resistivity_least", std::exp(*least), "ohm m");
  facts.add("resistivity_most", std::exp(*most), "ohm m", "rock",
            fmt::format("resistivity {:.4g} … {:.4g} ohm m", std::exp(*least), std::exp(*most)));
}

Fingerprint ChargeData::fingerprint(const Runtime& runtime) const {
  auto all = ArrayData::fingerprint(runtime);
  all.push_back({"resistivities", hash({log_resistivity_}), true});
  all.push_back({"entries in memory", fmt::format("{}", settings_.jacobian_in_memory)});
  return all;
}

/// Computes J for the known resistivities: the first half of a Gauss-Newton step of direct current.
void ChargeData::make(const Runtime& runtime) {
  // F: data as a function of resistivity ρ; J: its derivative. With m = ln ρ, the derivative of F(e^m) with
  // respect to m is J diag(ρ), which is minus the derivative with respect to ln σ.
  const auto physics = currents(runtime);
  if (!even()) take_factors_of(*physics);
  auto here = inversion::LogarithmForward(physics).at(log_resistivity_, runtime.progress);
  of_solves_ = std::move(here.warnings);
  problem_.g = settings_.jacobian_in_memory ? inversion::in_memory(*here.jacobian, settings_.threads)
                                            : std::move(here.jacobian);
}

void ChargeData::report_after(Report& report) const {
  report.warnings.insert(report.warnings.end(), of_solves_.begin(), of_solves_.end());
  const double largest = *std::max_element(outcome_.model.begin(), outcome_.model.end());
  if (largest > 0.3)
    report.warnings.push_back(fmt::format(
        "chargeabilities reach {:.2g}: apparent ones are no linear function of those above about 0.2",
        largest));
}

/// Adds positions of the electrodes, computed data, and observed data beside them.
void ChargeData::fill(Result& result) const {
  StationFields stations;
  stations.survey = places();
  ObservedColumns columns;
  columns.others = stations.survey.columns;
  stations.fields.push_back(
      {charge_property, "mV/V", "apparent chargeability", times(1 / thousandth, outcome_.predicted)});
  ObservedColumn column{
      charge_property,
      {"chargeability_observed", "mV/V", "observed apparent chargeability", times(1 / thousandth, apparent_)},
      Column{"chargeability_uncertainty", "mV/V", "uncertainty of apparent chargeability",
             times(1 / thousandth, deviation_)}};
  columns.observed.push_back(std::move(column));
  stations.fields.push_back({"geometric_factor", "m", "geometric factor", factor_});
  if (settings_.huber > 0)
    stations.fields.push_back({"trust", "1", "below 1 where an outlier counts less", outcome_.trust});
  compare(stations, result.report, columns);
  result.data = to_dataset(std::move(stations));
}

}  // namespace

std::unique_ptr<terrane::Simulation> charges_from_job(const Config& job, const Runtime& runtime) {
  return ChargeData::from_job(job, runtime);
}

}  // namespace terrane::electric::inverse
