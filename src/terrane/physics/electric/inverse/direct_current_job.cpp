#include "terrane/physics/electric/inverse/direct_current_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "terrane/base/error.hpp"
#include "terrane/inversion/job/left_out.hpp"
#include "terrane/inversion/job/report.hpp"
#include "terrane/inversion/job/tables.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/mesh/companion.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/electric/grid/ground.hpp"
#include "terrane/physics/electric/mesh_plan.hpp"
#include "terrane/simulation/compare.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/field_facts.hpp"

namespace terrane::electric::inverse {

namespace {

constexpr std::array<std::string_view, 3> datum_names{"resistance", "apparent_resistivity",
                                                      "log_apparent_resistivity"};

Datum read_datum(const Config& table) {
  const auto given = table.choice(
      "datum", {"resistance", "apparent_resistivity", "log_apparent_resistivity", "chargeability"});
  const auto at = std::find(datum_names.begin(), datum_names.end(), given);
  return static_cast<Datum>(at - datum_names.begin());
}

/// The resistances of the survey or, if there are none, its apparent resistivities.
MeasuredArrays find_measured(const Measured& survey, const Config& job) {
  for (const char* name : {"resistance", "apparent_resistivity"})
    if (const auto* column = survey.find(name)) {
      refuse_written_for_none(job.table("survey"), "file", Column{name, "", "", column->values});
      return {name, column->values, column->uncertainty, {}, {}, {}};
    }
  throw InputError(job.table("survey").where(), "it has no measured resistances",
                   "Give kind = \"file\" and a file of UBC DCIP or BERT, or a table with a column "
                   "resistance_observed (V/A) or apparent_resistivity_observed (ohm m).");
}

/// Sets the uncertainties: floor + percent, or read from the file.
void complete_uncertainties(const Config& table, MeasuredArrays& measured, std::vector<std::string>& notes,
                            const std::string& data) {
  const std::string unit = measured.name == "resistance" ? "V/A" : "ohm m";
  std::vector<ObservedColumn> one{
      {measured.name, {measured.name + "_observed", unit, "", measured.values}, std::nullopt}};
  if (!measured.sigma.empty())
    one[0].uncertainty = Column{measured.name + "_uncertainty", unit, "", measured.sigma};
  inversion::read_uncertainties(table, one, notes, data);
  measured.sigma = one[0].uncertainty->values;
}

}  // namespace

// ---- from the job ----

std::unique_ptr<terrane::Simulation> ArrayData::from_job(const Config& job, const Runtime& runtime) {
  const auto table = job.table("inversion").describe({inversion::inversion_section().keys});
  if (table.text("datum") == "chargeability") return charges_from_job(job, runtime);
  return std::make_unique<inversion::InversionJob>(made_of(job, runtime, nullptr));
}

std::unique_ptr<ArrayData> ArrayData::made_of(const Config& job, const Runtime& runtime,
                                              const TensorMesh* instead) {
  const auto table = job.table("inversion").describe({inversion::inversion_section().keys});
  auto made = std::make_unique<ArrayData>();
  made->job_ = job;
  auto& p = made->problem_;
  inversion::MeshOfJob mesh;
  const auto survey = made->read_ground_and_arrays(job, runtime, mesh, instead);
  made->measured_ = find_measured(survey, job);
  complete_uncertainties(table, made->measured_, made->notes_, job.table("survey").where("file"));
  made->datum_ = read_datum(table);
  made->settings_ = inversion::read_steps(table, mesh);
  const auto cells = [&](const char* key) {
    return inversion::read_logarithms(table, key, "resistivity", p.mesh, mesh.file, p.active);
  };
  p.reference = cells("reference");
  p.start = cells("start");
  p.bounds = {cells("lower"), cells("upper")};
  p.weights = inversion::read_weights(table, p.mesh, mesh.file);
  inversion::complete(p.bounds, p.active.empty() ? p.mesh.size() : p.active.size());
  made->reference_is_median_ = p.reference.empty();
  made->take_data();
  made->joint_ = inversion::read_joint(job);
  made->rocks_ = inversion::read_rocks_of_logarithms(table, "resistivity");
  made->origin_ = {job.source(), {}};
  return made;
}

CellsPlan ArrayData::plan_cells(const Config& job, const MeshWish& wish) {
  auto ground = build_ground(job, std::nullopt, memory_);
  if (!ground) ground = topography_of(job, memory_);
  std::vector<Position> places;
  for (const auto& p : build_survey(job, ground).electrodes.place) places.push_back({p.e, p.n, p.u});
  return plan_cells_below(places, ground, wish, own_ground_);
}

Measured ArrayData::read_ground_and_arrays(const Config& job, const Runtime& runtime,
                                           inversion::MeshOfJob& mesh, const TensorMesh* instead) {
  memory_ = memory_budget(runtime);
  const auto simulation = electric::Settings::read(job);
  const auto table = job.table("inversion").describe({inversion::inversion_section().keys});
  const auto of_simulation = job.table("simulation");
  accuracy_ = errors_counted(of_simulation, table.text("datum") != "chargeability", plans_mesh(job));
  if (simulation.frequency > 0)
    throw of_simulation.wrong("frequency", "data of direct current are inverted", "Leave the key out.");
  if (simulation.parameters.potential == Potential::secondary)
    throw of_simulation.wrong("potential", "sensitivities are those of total potentials",
                              "Leave the key out.");
  if (simulation.parameters.volume.arrays() > 0)
    throw of_simulation.wrong("volume", "an inversion writes what arrays measure", "Leave the key out.");
  auto& p = problem_;
  mesh = inversion::read_mesh(job, memory_, [&](const MeshWish& wish) { return plan_cells(job, wish); });
  if (instead != nullptr) mesh.mesh = *instead;
  p.mesh = mesh.mesh;
  notes_.insert(notes_.end(), mesh.notes.begin(), mesh.notes.end());
  if (table.has("topography"))
    throw table.wrong("topography", "of direct current the ground is not named here",
                      "Name it as model.topography, from which all simulations of a job take it.");
  auto height = inversion::take_ground(job, of_simulation, "topography", std::nullopt, memory_, p);
  if (!height) {
    height = topography_of(job, memory_);
    if (height) inversion::put_ground(height, of_simulation.where("topography"), p);
  }
  if (!height && own_ground_) {
    height = own_ground_;
    inversion::put_ground(height, job.table("survey").where("file"), p);
  }
  auto survey = build_survey(job, height);
  if (!survey.note.empty()) notes_.push_back(survey.note);
  for (auto& place : survey.electrodes.place)
    if (std::isnan(place.u))
      place.u = height ? std::min(height(place.e, place.n), p.mesh.up().back()) : p.mesh.up().back();
  electric::expect_electrodes_inside(p.mesh, survey.electrodes, job.table("survey"));
  if (height && !even())
    if (auto text = lower_to_ground(p.mesh, p.ground, height, height_of_feet(survey.electrodes),
                                    survey.electrodes.place);
        !text.empty())
      notes_.push_back(std::move(text));
  electrodes_ = survey.electrodes;
  parameters_ = simulation.parameters;
  leave_out(table, survey);
  if (height && !even()) slopes_ = slopes_at(p.mesh, electrodes_.place, height);
  return survey;
}

void ArrayData::leave_out(const Config& table, Measured& survey) {
  const std::size_t count = electrodes_.arrays.size();
  std::vector<bool> left(count);
  for (const auto& word : table.texts("leave_out")) {
    if (word != "unusable") {
      const auto [first, last] = inversion::numbers_left_out(table, word, count, "arrays", "unusable");
      std::vector<std::size_t> named;
      for (std::size_t n = first; n < last; ++n) named.push_back(n), left[n] = true;
      left_out_.push_back(
          fmt::format("left out, as inversion.leave_out says: array {}", inversion::some_of(named)));
      continue;
    }
    const bool charges = table.text("datum") == "chargeability";
    const auto* resistance = charges ? nullptr : survey.find("resistance");
    const auto* column = charges      ? survey.find("chargeability")
                         : resistance ? resistance
                                      : survey.find("apparent_resistivity");
    const auto datum = charges ? Datum::log_apparent_resistivity : read_datum(table);
    std::vector<std::size_t> empty, without, negative;
    for (std::size_t n = 0; n < count; ++n) {
      const double k = geometric_factor(electrodes_, electrodes_.arrays[n], flat_surface());
      const double value = column == nullptr ? NAN : column->values[n];
      if (!std::isfinite(value)) empty.push_back(n);
      else if (std::isnan(k) && datum != Datum::resistance) without.push_back(n);
      else if (!charges && datum == Datum::log_apparent_resistivity &&
               !((resistance ? k * value : value) > 0))
        negative.push_back(n);
    }
    for (const auto& [of, why] : {std::pair{&empty, "no datum"},
                                  {&without, "no geometric factor below 1e6 m"},
                                  {&negative, "an apparent resistivity that is not above zero"}}) {
      for (const std::size_t n : *of) left[n] = true;
      if (!of->empty())
        left_out_.push_back(fmt::format("left out as unusable, {} of {} arrays with {}: {}", of->size(),
                                        count, why, inversion::some_of(*of)));
    }
  }
  inversion::keep(electrodes_.arrays, left);
  if (electrodes_.arrays.empty()) throw table.wrong("leave_out", "no array is left");
  survey.electrodes.arrays = electrodes_.arrays;
  for (auto& column : survey.columns) {
    inversion::keep(column.values, left);
    if (!column.uncertainty.empty()) inversion::keep(column.uncertainty, left);
  }
}

double ArrayData::flat_surface() const {
  if (even()) return problem_.mesh.up().back();
  double surface = 0;
  for (const auto& place : electrodes_.place)
    surface += place.u / static_cast<double>(electrodes_.place.size());
  return surface;
}

void ArrayData::take_factors() {
  const double surface = flat_surface();
  electrodes_.check();
  for (std::size_t n = 0; n < electrodes_.arrays.size(); ++n) {
    factor_.push_back(geometric_factor(electrodes_, electrodes_.arrays[n], surface));
    if (std::isnan(factor_.back()) && datum_ != Datum::resistance)
      throw InputError(
          fmt::format("array {}", n + 1), "it has no geometric factor below 1e6 m",
          "Leave it out (inversion.leave_out = \"unusable\"), or set inversion.datum = \"resistance\".");
  }
}

void ArrayData::take_factors_of(const DirectCurrent& physics) {
  factor_ = physics.unit();  // ΔV/I computed on the mesh, over uneven ground followed by values without the
                             // mesh's error (unit_transfers())
  if (factor_.size() > electrodes_.arrays.size())
    factor_.erase(factor_.begin(), factor_.begin() + static_cast<std::ptrdiff_t>(electrodes_.arrays.size()));
  for (double& k : factor_) k = 1 / k;
}

void ArrayData::take_medium(Medium medium) {
  medium.ground = problem_.ground;
  medium.slopes = slopes_;
  electric::Settings settings;
  settings.parameters = parameters_;
  arrays_ = std::make_unique<Simulation>(problem_.mesh, std::move(medium), electrodes_, settings);
}

/// Sets data and reference in terms of the datum that is inverted; until geometric factors that need a solve
/// are computed, those of a flat earth are used.
void ArrayData::take_data() {
  auto& p = problem_;
  if (factor_.empty()) take_factors();
  measured_.convert(factor_);
  measured_.as(datum_, p.data, p.sigma);
  p.sets = {{measured_.name, datum_ == Datum::resistance ? "V/A" : "ohm m", 0, p.data.size()}};
  const std::size_t n = p.active.empty() ? p.mesh.size() : p.active.size();
  if (reference_is_median_) p.reference.assign(n, std::log(measured_.median_resistivity()));
  if (p.forward) return;
  Medium medium;
  medium.conductivity.assign(p.mesh.size(), 1 / std::exp(p.reference.front()));
  take_medium(std::move(medium));
  p.forward = std::make_shared<inversion::LogarithmForward>(std::make_shared<DirectCurrent>(
      p.mesh, p.active, p.ground, electrodes_, parameters_, datum_, Device{Device::Kind::cpu, -1},
      settings_.threads, nullptr, nullptr, 0, slopes_));
}

// ---- memory and time ----

double ArrayData::entries_bytes() const {
  return 8 * static_cast<double>(problem_.rows()) * static_cast<double>(problem_.columns());
}

/// The memory of solves for all electrodes. For its layers a rank stores the potentials; for all cells it
/// stores factors of the columns of J (16 bytes) and the input of a product (8). While a step is searched, it
/// stores all this for the previous model as well, unless the entries of J replace it. A product needs a
/// change of all cells and its result.
Load ArrayData::fields(const Runtime& runtime) const {
  auto load = arrays_->load();
  load.solves = electrodes_.place.size();
  // Half of 8 bytes, because handed_over() doubles the value, but the sender makes no copy.
  load.bytes_found = 4 * load.nodes;
  const int ranks = runtime.comm ? runtime.comm->size() : 1;
  const auto potentials = [&](std::size_t electrodes) {
    return bytes_of_potentials(problem_.mesh, electrodes, false, ranks);
  };
  const auto cells = static_cast<double>(problem_.mesh.size());
  load.bytes_of_rank +=
      (settings_.jacobian_in_memory ? 1 : 2) * (potentials(electrodes_.place.size()) + 24 * cells) +
      8 * cells + bytes_of_product(problem_.mesh, false, ranks, thread_count(runtime.threads));
  return load;
}

/// Bytes on rank 0: entries of J, and the part of a minimisation's vectors that exceeds the memory of solver
/// and product, which are freed before.
double ArrayData::kept_on_rank_0(const Runtime& runtime) const {
  const auto load = arrays_->load();
  const int ranks = runtime.comm ? runtime.comm->size() : 1;
  const double gone = bytes_needed(load.nodes, load.complex, false, load.coarser) +
                      bytes_of_product(problem_.mesh, false, ranks, thread_count(runtime.threads)),
               vectors = static_cast<double>(problem_.columns()) * 8 * 20;
  return (settings_.jacobian_in_memory ? 3 * entries_bytes() : 0) + std::max(0.0, vectors - gone) +
         static_cast<double>(problem_.rows()) * 8 * 86;
}

Runtime ArrayData::within_budget(const Runtime& runtime) const {
  auto made = runtime;
  made.memory = budget(runtime).bytes;
  return made;
}

Sharing ArrayData::sharing(const Runtime& runtime) const {
  return terrane::share_ranks(solves_of(fields(runtime), kept_on_rank_0(runtime)),
                              ranks_of(within_budget(runtime)));
}

/// Stores the entries of J if three copies need at most a quarter of the memory: two exist while a step is
/// searched, and a third while the entries are computed.
void ArrayData::choose(const Runtime& runtime) {
  settings_.jacobian_in_memory = 3 * entries_bytes() < 0.25 * static_cast<double>(budget(runtime).bytes);
}

double ArrayData::memory_needed(const Runtime& runtime) const {
  return terrane::memory_needed(solves_of(fields(runtime), kept_on_rank_0(runtime)),
                                ranks_of(within_budget(runtime)));
}

double ArrayData::bytes_on_device(const Runtime& runtime) const {
  if (!(free_of_gpu(runtime) > 0)) return 0;
  return fields(runtime).part_of_gpu(sharing(runtime).fields_at_once,
                                     runtime.comm ? runtime.comm->size() : 1);
}

void ArrayData::describe_into(RunFacts& facts, const Runtime& runtime) const {
  facts.problem = fmt::format("{} of {} cells from {} arrays of {} electrodes: {}", property(),
                              grouped(problem_.columns()), grouped(problem_.rows()),
                              grouped(electrodes_.place.size()), problem_.sets.front().name);
  facts.method = method();
  facts.reason = fmt::format(
      "{} as data, sensitivities {}",
      problem_.forward ? datum_names[static_cast<std::size_t>(datum_)] : std::string_view(property()),
      settings_.jacobian_in_memory ? "in memory" : "as sums over potentials");
  const int ranks = runtime.comm ? runtime.comm->size() : 1;
  facts.device = device_text(runtime);
  facts.memory_bytes = static_cast<std::size_t>(memory_needed(runtime));
  facts.add("cells", std::uint64_t{problem_.columns()}, "", "cells");
  facts.add("data", std::uint64_t{problem_.rows()}, "", "arrays");
  facts.add("electrodes", std::uint64_t{electrodes_.place.size()}, "", "electrodes");
  describe_model(facts);
  if (ranks > 1) {
    const auto shared = sharing(runtime);
    facts.add("fields_at_once", std::uint64_t(shared.fields_at_once), "", "ranks", text_of(shared, ranks));
  }
  RunFacts arrays;
  Runtime on_cpu;
  on_cpu.device = {Device::Kind::cpu, -1};
  arrays_->describe_into(arrays, on_cpu);
  facts.notes = std::move(arrays.notes);
  facts.notes.insert(facts.notes.end(), notes_.begin(), notes_.end());
  facts.notes.insert(facts.notes.end(), left_out_.begin(), left_out_.end());
  facts.warnings = std::move(arrays.warnings);
}

void ArrayData::describe_model(RunFacts& facts) const {
  facts.add("reference", std::exp(problem_.reference.front()), "ohm m", "reference",
            fmt::format("{:.4g} ohm m{}", std::exp(problem_.reference.front()),
                        reference_is_median_ ? ", the median of the apparent resistivities" : ""));
}

double ArrayData::expected_seconds(const Runtime& runtime) {
  // For each model: a solve for every electrode, the entries of J row by row, and about 40 products with J.
  const double entries = entries_bytes() / 8, of_solve = arrays_->seconds_of_solve(resolve(runtime.device));
  const double at_once = sharing(runtime).fields_at_once;
  return models() * (of_solve * std::ceil(static_cast<double>(electrodes_.place.size()) / at_once) +
                     entries * (settings_.jacobian_in_memory ? 6e-8 : 4e-7) / thread_count(runtime.threads));
}

Fingerprint ArrayData::fingerprint(const Runtime& runtime) const {
  Fingerprint all;
  std::vector<double> places;
  for (const auto& p : electrodes_.place) places.insert(places.end(), {p.e, p.n, p.u});
  for (const auto& a : electrodes_.arrays)
    for (const int n : {a.a, a.b, a.m, a.n}) places.push_back(n);
  const auto& mesh = problem_.mesh;
  all.push_back({"mesh", hash({mesh.easting(), mesh.northing(), mesh.up()}), true});
  all.push_back({"electrodes or arrays", hash({places}), true});
  all.push_back({"ground", hash({problem_.ground}), true});
  all.push_back({"datum", std::string(datum_names[static_cast<std::size_t>(datum_)])});
  add_determinants(all, "simulation.", parameters_);
  all.push_back({"kind of device", fmt::format("{}", static_cast<int>(resolve(runtime.device).kind))});
  return all;
}

// ---- the run ----

std::shared_ptr<DirectCurrent> ArrayData::currents(const Runtime& runtime) const {
  return std::make_shared<DirectCurrent>(problem_.mesh, problem_.active, problem_.ground, electrodes_,
                                         parameters_, datum_, runtime.device, settings_.threads, runtime.comm,
                                         workers_, sharing(runtime).fields_at_once, slopes_);
}

void ArrayData::make(const Runtime& runtime) {
  const auto physics = currents(runtime);
  problem_.forward = std::make_shared<inversion::LogarithmForward>(physics);
  if (even()) return;
  take_factors_of(*physics);
  take_data();
}

/// Data of a model on a finer mesh. Over uneven ground, the fraction of ground in each finer cell is computed
/// anew.
std::vector<double> ArrayData::data_on(const std::vector<double>& model, const std::array<double, 3>& factor,
                                       bool moves_walls, const Runtime& runtime) const {
  const auto& p = problem_;
  std::vector<double> rho(p.mesh.size(), NAN);
  for (std::size_t c = 0; c < model.size(); ++c) rho[p.active.empty() ? c : p.active[c]] = std::exp(model[c]);
  const std::vector<double>* const media[] = {&rho, &p.ground};
  const auto wish = arrays_->wish_of_mesh();
  const auto cells =
      finer_mesh(p.mesh, media, moves_walls ? wish : wish.with_its_walls(), factor, KeptFaces::all);
  Runtime alone = runtime;
  alone.comm = nullptr;
  if (!even()) {
    const auto other = made_of(*job_, alone, &cells);
    const auto there = inversion::model_on(other->problem_, p, model);
    return inversion::LogarithmForward(other->currents(alone)).at(there).data;
  }
  const DirectCurrent other(cells, {}, {}, electrodes_, parameters_, datum_, runtime.device,
                            settings_.threads);
  return other.at(values_on(cells, p.mesh, rho)).data;
}

std::vector<double> ArrayData::scale_of_errors(const std::vector<double>& data) const {
  if (datum_ == Datum::log_apparent_resistivity) return std::vector<double>(data.size(), 1.0);
  double largest = 0;
  for (const double d : data) largest = std::max(largest, std::abs(d));
  std::vector<double> scale(data.size());
  for (std::size_t n = 0; n < data.size(); ++n) scale[n] = std::max(std::abs(data[n]), 1e-6 * largest);
  return scale;
}

/// Near edges of bodies, errors are proportional to the cell width. Halving the width removes half of the
/// error, so the error is twice the difference.
std::vector<double> ArrayData::errors_by(const std::vector<double>& data,
                                         const std::vector<double>& difference) const {
  constexpr double of_first_order = 2;
  JudgedData judged{
      "datum", {},          scale_of_errors(data), {}, [](std::size_t n) { return std::to_string(n + 1); },
      true,    least_stated};
  for (std::size_t n = 0; n < data.size(); ++n) {
    const auto& array = electrodes_.arrays[n];
    judged.difference.push_back(of_first_order * std::abs(difference[n]));
    judged.source.push_back(static_cast<std::size_t>(array.a != Array::far_away ? array.a : array.b));
  }
  return StatedErrors{Accuracy{}}.of(judged);
}

std::unique_ptr<inversion::Dependence> ArrayData::on_finer(const std::vector<double>& model,
                                                           const FinerWish& wish,
                                                           const Runtime& runtime) const {
  const auto& p = problem_;
  const std::vector<double>* const media[] = {&p.ground};
  auto keeps = arrays_->wish_of_mesh();
  if (!wish.walls) keeps = keeps.with_its_walls();
  const auto cells = finer_mesh(p.mesh, media, keeps, wish.factor, KeptFaces::every_second);
  auto next = made_of(*job_, runtime, &cells);
  next->problem_.start = inversion::model_on(next->problem_, p, model);
  return next;
}

std::string ArrayData::computed() const {
  return fmt::format("data and sensitivities of {} models", outcome_.forwards);
}

/// Adds positions of the electrodes, computed data as both resistance and apparent resistivity, and observed
/// data beside them.
void ArrayData::fill(Result& result) const {
  StationFields stations;
  stations.survey = places();
  MeasuredArrays computed;
  if (!outcome_.predicted.empty()) computed.from(datum_, factor_, outcome_.predicted);
  ObservedColumns columns;
  columns.others = stations.survey.columns;
  const auto add = [&](const std::string& name, const std::string& unit, const std::string& what,
                       const std::vector<double>& values, const std::vector<double>& observed, Datum datum) {
    stations.fields.push_back({name, unit, what, values});
    ObservedColumn column{name, {name + "_observed", unit, "observed " + what, observed}, std::nullopt};
    std::vector<double> sigma(observed.size());
    for (std::size_t n = 0; n < sigma.size(); ++n) sigma[n] = measured_.deviation_of(datum, n);
    column.uncertainty = Column{name + "_uncertainty", unit, "uncertainty of " + what, std::move(sigma)};
    columns.observed.push_back(std::move(column));
  };
  add("resistance", "V/A", "voltage per current", computed.resistance, measured_.resistance,
      Datum::resistance);
  add("apparent_resistivity", "ohm m", "apparent resistivity", computed.resistivity, measured_.resistivity,
      Datum::apparent_resistivity);
  stations.fields.push_back({"geometric_factor", "m", "geometric factor", factor_});
  if (settings_.huber > 0)
    stations.fields.push_back({"trust", "1", "below 1 where an outlier counts less", outcome_.trust});
  compare(stations, result.report, columns);
  result.data = to_dataset(std::move(stations));
}

}  // namespace terrane::electric::inverse
