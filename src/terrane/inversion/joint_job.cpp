#include "terrane/inversion/joint_job.hpp"

#include <fmt/format.h>

#include <chrono>

#include "terrane/base/error.hpp"
#include "terrane/inversion/job.hpp"

namespace terrane::inversion {

namespace {

/// What the simulations share.
struct Shared {
  std::vector<std::unique_ptr<InversionSimulation>> job;
  JointSettings settings;
  std::vector<Result> result;  ///< empty until all have run

  void run(const Runtime& runtime);
};

void Shared::run(const Runtime& runtime) {
  if (runtime.comm != nullptr && runtime.comm->size() > 1)
    throw UnsupportedError("terrane invert --with", "models are found together in one process",
                           "Start it without mpirun, with more threads.");
  const auto begin = std::chrono::steady_clock::now();
  std::vector<const Problem*> problems;
  std::vector<const Settings*> of_each;
  for (auto& one : job) {
    one->begin(runtime);
    problems.push_back(&one->problem());
    of_each.push_back(&one->settings());
  }
  auto found = invert_jointly(problems, of_each, settings, runtime.progress);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (std::size_t p = 0; p < job.size(); ++p) {
    const double apart = found.apart[p].phi_m.sum(), together = found.together[p].phi_m.sum();
    result.push_back(job[p]->finish(std::move(found.together[p]), runtime));
    auto& report = result.back().report;
    report.seconds = seconds;
    report.add(
        "cross_gradient", found.cross_gradient, "", "coupling",
        fmt::format(
            "cross-gradient {:.3g} of that of the models found apart, phi_m {:.3g} times, in {} rounds",
            found.cross_gradient, together / apart, found.rounds.size()));
    report.warnings.insert(report.warnings.end(), found.warnings.begin(), found.warnings.end());
  }
}

class Side final : public Simulation {
 public:
  Side(std::shared_ptr<Shared> all, std::size_t index) : all_(std::move(all)), index_(index) {}
  Plan check(const Runtime& runtime) override { return mine().check(runtime); }
  Result run(const Runtime& runtime) override {
    if (all_->result.empty()) all_->run(runtime);
    return all_->result[index_];
  }
  Result outline() const override { return mine().outline(); }
  void write_model(const std::string& path) const override { mine().write_model(path); }
  void check_model(const std::string& path) const override { mine().check_model(path); }

 private:
  InversionSimulation& mine() const { return *all_->job[index_]; }
  std::shared_ptr<Shared> all_;
  std::size_t index_;
};

}  // namespace

std::vector<std::unique_ptr<Simulation>> jointly(std::vector<std::unique_ptr<Simulation>> jobs,
                                                 const JointSettings& settings) {
  auto all = std::make_shared<Shared>();
  all->settings = settings;
  std::vector<std::unique_ptr<Simulation>> sides;
  for (auto& job : jobs) {
    if (dynamic_cast<InversionSimulation*>(job.get()) == nullptr)
      throw InputError("terrane invert --with", "a job has no table [inversion]");
    all->job.emplace_back(static_cast<InversionSimulation*>(job.release()));
    expect_same_cells(all->job.front()->problem(), all->job.back()->problem());
    sides.push_back(std::make_unique<Side>(all, sides.size()));
  }
  return sides;
}

}  // namespace terrane::inversion
