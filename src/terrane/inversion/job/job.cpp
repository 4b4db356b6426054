#include "terrane/inversion/job/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "terrane/inversion/job/report.hpp"
#include "terrane/inversion/loop/invert.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/mesh/companion.hpp"
#include "terrane/model/properties.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/sharing.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane::inversion {

MemoryBudget Dependence::budget(const Runtime& runtime) const {
  return runtime.memory > 0 ? MemoryBudget{runtime.memory} : memory_;
}

std::string Dependence::unit() const {
  const auto quantity = property_kind(property()).quantity;
  return quantity == Quantity::dimensionless ? "1" : std::string(si_unit(quantity));
}

void Dependence::require_memory(const Runtime& runtime, const std::string& what) const {
  budget(runtime).require("invert", what, memory_needed(runtime));
  if (const double gpu = free_of_gpu(runtime); gpu > 0)
    MemoryBudget{static_cast<std::size_t>(gpu)}.require("invert", what + " on the GPU of a rank",
                                                        bytes_on_device(runtime));
}

namespace {

constexpr double of_cut_cells = 2;  // memory with cells of half the width along one axis, divided by the
                                    // memory with the cells of the mesh

/// Adds the cost of computing errors of the mesh: an inversion computes about seven models; for two of them,
/// data are also computed on three meshes with twice the cells and on one with farther boundaries.
void foresee_errors(Plan& plan, const Accuracy& asked, double memory) {
  constexpr double of_errors = 3 * 2 + 1.2, models = 7;
  plan.seconds *= 1 + 2 * of_errors / models;
  plan.notes.emplace_back(
      "errors of the mesh count beside those of data: by cells of half the width along each axis, and walls "
      "twice as far, at the first model and at the last");
  if (asked.verify == Verify::refine)
    plan.notes.push_back(
        fmt::format("where they are above the data's, up to two finer meshes follow, each of up to six times "
                    "the cells and of {} at most",
                    grouped(asked.most_cells)));
  if (const auto available = static_cast<double>(plan.memory_available); memory > available)
    plan.warnings.push_back(fmt::format("no errors of the mesh will be counted: they need {}, {} available",
                                        bytes_text(memory), bytes_text(available)));
}

/// Of inversions by Gauss-Newton steps, whose time is that of the usual number of models: fewer if the job
/// allows no more, and a note where this is a minute or more.
void foresee_steps(Plan& plan, int most_steps) {
  constexpr int usual = 7;  // models of most inversions, for which times are estimated
  constexpr double long_enough = 60;
  if (plan.method != "gauss-newton") return;
  if (most_steps + 1 <= usual) plan.seconds *= static_cast<double>(most_steps + 1) / usual;
  else if (plan.seconds >= long_enough)
    plan.notes.push_back(
        fmt::format("the time is that of {} models, which most inversions take; it may be up to {} times as "
                    "long: inversion.most_steps = {}",
                    usual, (most_steps + 1 + usual / 2) / usual, most_steps));
}

}  // namespace

std::vector<double> model_on(const Problem& other, const Problem& of, const std::vector<double>& model) {
  std::vector<double> cells(of.mesh.size(), NAN);
  for (std::size_t c = 0; c < model.size(); ++c) cells[of.active.empty() ? c : of.active[c]] = model[c];
  const auto there = values_on(other.mesh, of.mesh, cells);
  std::vector<double> found(other.active.empty() ? other.mesh.size() : other.active.size());
  for (std::size_t c = 0; c < found.size(); ++c) {
    const double value = there[other.active.empty() ? c : other.active[c]];
    found[c] = std::isnan(value) ? other.reference[c] : value;
  }
  return found;
}

Plan InversionJob::check(const Runtime& runtime) {
  of_->settings_.threads = runtime.threads;
  of_->choose(runtime);
  Plan plan;
  of_->describe_into(plan, runtime);
  plan.memory_available = of_->budget(runtime).bytes;
  of_->require_memory(runtime, plan.problem);
  plan.seconds = of_->expected_seconds(runtime);
  foresee_steps(plan, settings().most_steps);
  if (states_errors()) foresee_errors(plan, of_->accuracy_, of_cut_cells * of_->memory_needed(runtime));
  inversion::check(problem(), settings());
  return plan;
}

void InversionJob::begin(const Runtime& runtime) {
  date_text();
  of_->settings_.threads = runtime.threads;
  of_->choose(runtime);
  of_->require_memory(
      runtime, fmt::format("{} data and {} cells", grouped(problem().rows()), grouped(problem().columns())));
  of_->make(runtime);
}

Result InversionJob::run(const Runtime& runtime) {
  const auto begun = std::chrono::steady_clock::now();
  begin(runtime);
  Report told;
  auto result = finish(found(runtime, told), runtime);
  if (!of_->own_sigma_.empty()) of_->problem_.sigma = std::exchange(of_->own_sigma_, {});
  auto& report = result.report;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  report.values.insert(report.values.end(), told.values.begin(), told.values.end());
  for (auto [from, to] : {std::pair{&told.notes, &report.notes}, {&told.warnings, &report.warnings}})
    to->insert(to->end(), from->begin(), from->end());
  return result;
}

Outcome InversionJob::found(const Runtime& runtime, Report& told) {
  Keeper keeper(runtime.checkpoint, fingerprint(runtime));
  auto outcome = states_errors() ? found_with_errors(runtime, keeper, told)
                                 : invert(problem(), settings(), {}, runtime.progress, &keeper);
  for (auto [from, to] : {std::pair{&keeper.notes, &told.notes}, {&keeper.warnings, &told.warnings}})
    to->insert(to->end(), from->begin(), from->end());
  return outcome;
}

namespace {

constexpr double share_that_limits = 0.05;  // the mesh is refined if its errors exceed σ_d for more than this
                                            // fraction of the data

/// The σ of data with errors e of the mesh: σ² = σ_d² + e². sigma: σ_d.
std::vector<double> in_quadrature(std::vector<double> sigma, const std::vector<double>& errors) {
  for (std::size_t n = 0; n < errors.size(); ++n) sigma[n] = std::hypot(sigma[n], errors[n]);
  return sigma;
}

/// The fraction of data for which `one` is larger than `other`.
double share_above(const std::vector<double>& one, const std::vector<double>& other) {
  double above = 0;
  for (std::size_t n = 0; n < one.size(); ++n) above += one[n] > other[n] ? 1 : 0;
  return one.empty() ? 0 : above / static_cast<double>(one.size());
}

double misfit_by(const Problem& p, const std::vector<double>& predicted, const std::vector<double>& sigma) {
  double sum = 0;
  for (std::size_t n = 0; n < predicted.size(); ++n)
    if (!std::isnan(p.data[n])) sum += std::pow((p.data[n] - predicted[n]) / sigma[n], 2);
  return sum;
}

/// The ratio one/other that 95 % of data do not exceed.
double ratio_at_95(const std::vector<double>& one, const std::vector<double>& other) {
  std::vector<double> ratio(one.size());
  for (std::size_t n = 0; n < one.size(); ++n) ratio[n] = one[n] / other[n];
  const auto place = std::ceil(0.95 * static_cast<double>(ratio.size())) - 1;
  const auto at = ratio.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(ratio.begin(), at, ratio.end());
  return *at;
}

void tell_of_errors(Report& told, const Problem& p, const Outcome& outcome, const std::vector<double>& own,
                    double above) {
  const auto count = static_cast<double>(outcome.data);
  const double both = misfit_by(p, outcome.predicted, p.sigma), alone = misfit_by(p, outcome.predicted, own);
  told.add("mesh_error_share_above", above, "", "mesh",
           fmt::format("its errors are above the data's uncertainties for {:.3g} % of data; misfit per datum "
                       "{:.3g} with both, {:.3g} with the data's alone",
                       100 * above, both / count, alone / count));
  told.add("misfit_of_data_alone", alone);
}

}  // namespace

InversionJob::OnMesh InversionJob::found_on_mesh(const Runtime& runtime, Keeper* keeper, Report& told) {
  auto& p = of_->problem_;
  OnMesh on{{}, p.sigma, {}, 0, p.mesh.size()};
  const auto& first = p.start.empty() ? p.reference : p.start;
  auto counted = errors_of_mesh(first, p.forward->at(first, runtime.progress).data, runtime, told);
  p.sigma = in_quadrature(on.own, counted);
  on.outcome = invert(p, settings(), {}, runtime.progress, keeper);
  on.errors = errors_of_mesh(on.outcome.model, on.outcome.predicted, runtime, told);
  if (!on.errors.empty() && share_above(on.errors, p.sigma) > share_that_limits) {
    counted = on.errors;
    p.sigma = in_quadrature(on.own, counted);
    const int before = on.outcome.forwards;
    on.outcome = invert(p, settings(), {}, runtime.progress);
    on.outcome.forwards += before;
    on.errors = errors_of_mesh(on.outcome.model, on.outcome.predicted, runtime, told);
    told.notes.emplace_back("errors of the mesh had grown with the model, which was sought anew with those");
  }
  if (!on.errors.empty() && !counted.empty())
    for (std::size_t n = 0; n < counted.size(); ++n) on.errors[n] = std::max(on.errors[n], counted[n]);
  on.above = share_above(on.errors, on.own);
  return on;
}

Outcome InversionJob::found_with_errors(const Runtime& runtime, Keeper& keeper, Report& told) {
  constexpr std::size_t most_rounds = 2;
  auto now = found_on_mesh(runtime, &keeper, told);
  std::string meshes = fmt::format("{:.3g} % of data on {} cells", 100 * now.above, grouped(now.cells)), why;
  std::size_t rounds = 0;
  while (of_->accuracy_.verify == Verify::refine && now.above > share_that_limits) {
    if (rounds == most_rounds) why = fmt::format("that were {} rounds", most_rounds);
    auto before = why.empty() ? go_finer(now, runtime, why) : nullptr;
    if (before == nullptr) break;
    try {
      of_->make(runtime);
      auto next = found_on_mesh(runtime, nullptr, told);
      next.outcome.forwards += now.outcome.forwards;
      now = std::move(next);
      ++rounds;
      meshes += fmt::format(", {:.3g} % on {}", 100 * now.above, grouped(now.cells));
    } catch (const MemoryError& error) {
      of_->release(runtime);
      of_ = std::move(before);
      why = "the finer mesh needs more memory than there is: " + error.problem();
    } catch (const InputError& error) {
      of_->release(runtime);
      of_ = std::move(before);
      why = "no model was found on the finer mesh: " + error.problem();
    }
  }
  of_->own_sigma_ = now.own;
  if (now.errors.empty()) return std::move(now.outcome);
  tell_of_errors(told, problem(), now.outcome, now.own, now.above);
  if (of_->accuracy_.verify == Verify::refine)
    told.add("mesh_rounds", std::uint64_t{rounds}, "", "refined", "errors above the data's: " + meshes);
  if (now.above > share_that_limits)
    told.warnings.push_back(fmt::format(
        "the mesh, not the data, limits the model: {:.3g} % of data err by more through the mesh "
        "than they are uncertain{}; take smaller cells (mesh.cell){}",
        100 * now.above, why.empty() ? "" : " (" + why + ")",
        of_->accuracy_.verify == Verify::estimate ? ", or verify = \"refine\" with a planned mesh" : ""));
  return std::move(now.outcome);
}

std::vector<double> InversionJob::errors_of_mesh(const std::vector<double>& model,
                                                 const std::vector<double>& data, const Runtime& runtime,
                                                 Report& told) {
  std::string why = "some data have none";
  try {
    of_->budget(runtime).require("invert", "errors of the mesh", of_cut_cells * of_->memory_needed(runtime));
    const auto change = [&](const std::array<double, 3>& factor, bool moves_walls) {
      auto its = of_->data_on(model, factor, moves_walls, runtime);
      for (std::size_t n = 0; n < its.size(); ++n) its[n] -= data[n];
      return its;
    };
    for (std::size_t a = 0; a < 3; ++a) {
      std::array<double, 3> factor{1, 1, 1};
      factor[a] = 0.5;
      changes_.cells[a] = change(factor, false);
    }
    changes_.walls = change({1, 1, 1}, true);
    auto sum = changes_.walls;
    for (const auto& one : changes_.cells)
      for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += one[n];
    auto errors = of_->errors_by(data, sum);
    const auto scale = of_->scale_of_errors(data);
    for (std::size_t n = 0; n < errors.size(); ++n)  // the comparison leaves NaN unchanged
      if (errors[n] > StatedErrors::largest_told * scale[n])
        errors[n] = StatedErrors::largest_told * scale[n];
    if (std::all_of(errors.begin(), errors.end(), [](double e) { return std::isfinite(e); })) return errors;
  } catch (const InputError& error) {
    why = error.problem();
  } catch (const MemoryError& error) {
    why = error.problem();
  }
  add_lines(told.warnings, {"no error of the mesh is counted: on narrower cells, " + why});
  return {};
}

/// Whether a finer mesh is needed, and why, as for simulations (refining.hpp); errors are relative to
/// uncertainties.
FinerWish InversionJob::finer_wish_of(const OnMesh& on) const {
  const auto share = [&](const std::vector<double>& change) {
    return ratio_at_95(of_->errors_by(on.outcome.predicted, change), on.own);
  };
  ErrorShares shares;
  for (std::size_t a = 0; a < 3; ++a) shares.cells[a] = share(changes_.cells[a]);
  shares.walls = share(changes_.walls);
  return finer_wish(shares, ratio_at_95(on.errors, on.own), 1,
                    most_times(on.cells, of_->accuracy_.most_cells));
}

std::unique_ptr<Dependence> InversionJob::go_finer(const OnMesh& on, const Runtime& runtime,
                                                   std::string& why) {
  try {
    auto next = of_->on_finer(on.outcome.model, finer_wish_of(on), runtime);
    const auto cells = next->problem_.mesh.size();
    if (cells > next->accuracy_.most_cells) {
      why = fmt::format("the next mesh has {} cells, and simulation.most_cells is {}", grouped(cells),
                        grouped(next->accuracy_.most_cells));
      return nullptr;
    }
    next->settings_.threads = runtime.threads;
    next->choose(runtime);
    next->require_memory(runtime, fmt::format("{} cells", grouped(cells)));
    of_->release(runtime);
    std::swap(of_, next);
    return next;
  } catch (const MemoryError& error) {
    why = "the next mesh needs more memory than there is: " + error.problem();
  } catch (const InputError& error) {
    why = "the next mesh cannot be made: " + error.problem();
  }
  return nullptr;
}

Result InversionJob::finish(Outcome outcome, const Runtime& runtime) {
  auto& found = of_->outcome_;
  found = std::move(outcome);
  Result result;
  auto& report = result.report;
  of_->describe_into(report, runtime);
  if (problem().forward)
    report.add("forwards", std::uint64_t(found.forwards), "", "computed", of_->computed());
  of_->report_before(report);
  report_outcome(report, problem(), settings(), found,
                 {of_->property(), of_->unit(), of_->values(found.model)});
  of_->report_after(report);
  fill(result);
  of_->release(runtime);
  return result;
}

Fingerprint InversionJob::fingerprint(const Runtime& runtime) const {
  auto all = of_->fingerprint(runtime);
  all.insert(all.begin(), this_program());
  add_settings(all, problem(), settings());
  return all;
}

Result InversionJob::outline() const {
  Result result;
  fill(result);
  return result;
}

void InversionJob::fill(Result& result) const {
  of_->fill(result);
  add_attributes(result, outcome());
  conclude(result, of_->title(), of_->origin_, std::move(result.data));
}

std::vector<Column> InversionJob::cells() const {
  auto columns = cell_columns(problem(), settings(), outcome(),
                              {of_->property(), of_->unit(), of_->values(outcome().model)},
                              of_->values(outcome().apart));
  of_->complete_cells(columns);
  return columns;
}

io::MeshData InversionJob::model() const {
  io::MeshData model{problem().mesh, cells(), {}};
  model.attributes = provenance("inversion", of_->origin_);
  model.attributes["beta"] = fmt::format("{}", outcome().beta);
  model.attributes["stopped"] = outcome().reason;
  return model;
}

void InversionJob::write_model(const std::string& path) const { io::write(path, model()); }

void InversionJob::check_model(const std::string& path) const {
  auto columns = cells();
  for (auto& column : columns) column.values.clear();
  io::left_out(path, io::MeshData{problem().mesh, std::move(columns), {}});
}

}  // namespace terrane::inversion
