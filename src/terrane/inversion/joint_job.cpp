#include "terrane/inversion/joint_job.hpp"

#include <fmt/format.h>

#include <chrono>

#include "terrane/base/error.hpp"
#include "terrane/inversion/job.hpp"

namespace terrane::inversion {

namespace {

/// What the two simulations share.
struct Pair {
  std::array<std::unique_ptr<InversionJob>, 2> job;
  JointSettings settings;
  std::array<Result, 2> result;
  bool done = false;

  void run(const Runtime& runtime);
};

void Pair::run(const Runtime& runtime) {
  if (runtime.comm != nullptr && runtime.comm->size() > 1)
    throw UnsupportedError("terrane invert --with", "two models are found together in one process",
                           "Start it without mpirun, with more threads.");
  const auto begin = std::chrono::steady_clock::now();
  for (auto& one : job) one->begin(runtime);
  auto found = invert_jointly({&job[0]->problem(), &job[1]->problem()},
                              {&job[0]->settings(), &job[1]->settings()}, settings, runtime.progress);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (std::size_t p = 0; p < 2; ++p) {
    const double apart = found.apart[p].phi_m.sum(), together = found.together[p].phi_m.sum();
    result[p] = job[p]->finish(std::move(found.together[p]), runtime);
    auto& report = result[p].report;
    report.seconds = seconds;
    report.add(
        "cross_gradient", found.cross_gradient, "", "coupling",
        fmt::format(
            "cross-gradient {:.3g} of that of the models found apart, phi_m {:.3g} times, in {} rounds",
            found.cross_gradient, together / apart, found.rounds.size()));
    report.warnings.insert(report.warnings.end(), found.warnings.begin(), found.warnings.end());
  }
  done = true;
}

class Side final : public Simulation {
 public:
  Side(std::shared_ptr<Pair> pair, std::size_t index) : pair_(std::move(pair)), index_(index) {}
  Plan check(const Runtime& runtime) override { return mine().check(runtime); }
  Result run(const Runtime& runtime) override {
    if (!pair_->done) pair_->run(runtime);
    return pair_->result[index_];
  }
  Result outline() const override { return mine().outline(); }
  void write_model(const std::string& path) const override { mine().write_model(path); }
  void check_model(const std::string& path) const override { mine().check_model(path); }

 private:
  InversionJob& mine() const { return *pair_->job[index_]; }
  std::shared_ptr<Pair> pair_;
  std::size_t index_;
};

}  // namespace

std::array<std::unique_ptr<Simulation>, 2> jointly(std::array<std::unique_ptr<Simulation>, 2> jobs,
                                                   const JointSettings& settings) {
  auto pair = std::make_shared<Pair>();
  pair->settings = settings;
  for (std::size_t p = 0; p < 2; ++p) {
    if (dynamic_cast<InversionJob*>(jobs[p].get()) == nullptr)
      throw InputError("terrane invert --with", "a job has no table [inversion]");
    pair->job[p].reset(static_cast<InversionJob*>(jobs[p].release()));
  }
  expect_same_cells(pair->job[0]->problem(), pair->job[1]->problem());
  return {std::make_unique<Side>(pair, 0), std::make_unique<Side>(pair, 1)};
}

}  // namespace terrane::inversion
