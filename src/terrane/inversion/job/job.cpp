#include "terrane/inversion/job/job.hpp"

#include <fmt/format.h>

#include <chrono>

#include "terrane/inversion/job/report.hpp"
#include "terrane/inversion/loop/invert.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/sharing.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane::inversion {

MemoryBudget Dependence::budget(const Runtime& runtime) const {
  return runtime.memory > 0 ? MemoryBudget{runtime.memory} : memory_;
}

void Dependence::require_memory(const Runtime& runtime, const std::string& what) const {
  budget(runtime).require("invert", what, memory_needed(runtime));
  if (const double gpu = free_of_gpu(runtime); gpu > 0)
    MemoryBudget{static_cast<std::size_t>(gpu)}.require("invert", what + " on the GPU of a rank",
                                                        bytes_on_device(runtime));
}

Plan InversionJob::check(const Runtime& runtime) {
  of_->settings_.threads = runtime.threads;
  of_->choose(runtime);
  Plan plan;
  of_->describe_into(plan, runtime);
  plan.memory_available = of_->budget(runtime).bytes;
  of_->require_memory(runtime, plan.problem);
  plan.seconds = of_->expected_seconds(runtime);
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
  Keeper keeper(runtime.checkpoint, fingerprint(runtime));
  auto result = finish(invert(problem(), settings(), {}, runtime.progress, &keeper), runtime);
  auto& report = result.report;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  for (auto [from, to] : {std::pair{&keeper.notes, &report.notes}, {&keeper.warnings, &report.warnings}})
    to->insert(to->end(), from->begin(), from->end());
  return result;
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
  report_outcome(report, problem(), settings(), found, of_->property(), of_->values(found.model));
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
  auto columns = cell_columns(problem(), settings(), outcome(), of_->property(), of_->values(outcome().model),
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
