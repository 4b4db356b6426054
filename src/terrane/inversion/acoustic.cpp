#include "terrane/inversion/acoustic.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"

namespace terrane::inversion {

namespace {

/// The run of shots is a part of the inversion, whose progress it shows and whose end it hears of.
class Within final : public Progress {
 public:
  explicit Within(Progress* whole) : whole_(whole) {}
  void advance(std::uint64_t) override {
    if (whole_ != nullptr) whole_->advance(0);
  }
  bool cancelled() const override { return whole_ != nullptr && whole_->cancelled(); }

 private:
  Progress* whole_;
};

}  // namespace

// ---- shots ----

Shots::Shots(acoustic::Problem problem, acoustic::Settings settings, std::size_t every,
             const Runtime& runtime)
    : problem_(std::move(problem)), settings_(std::move(settings)), every_(every), runtime_(runtime) {
  runtime_.checkpoint = {};  // the inversion has its own
  settings_.change.clear();
  settings_.data.clear();
}

std::size_t Shots::rows() const {
  std::size_t traces = 0;
  for (const auto& shot : problem_.shots) traces += problem_.traces(shot);
  return traces * samples();
}

/// Calls use(row, shot, place of the sample in its gather).
template <class Use>
void Shots::each(const Use& use) const {
  std::size_t row = 0;
  for (std::size_t c = 0; c < problem_.record.size(); ++c)
    for (std::size_t s = 0; s < problem_.shots.size(); ++s) {
      const std::size_t receivers = problem_.shots[s].receivers.size(),
                        traces = problem_.traces(problem_.shots[s]);
      for (std::size_t n = 0; n < samples(); ++n)
        for (std::size_t r = 0; r < receivers; ++r) use(row++, s, n * every_ * traces + c * receivers + r);
    }
}

template <class T>
std::vector<double> Shots::rows_of(const std::vector<std::vector<T>>& gathers) const {
  std::vector<double> all(rows());
  each([&](std::size_t row, std::size_t shot, std::size_t place) {
    all[row] = static_cast<double>(gathers[shot][place]);
  });
  return all;
}
template std::vector<double> Shots::rows_of(const std::vector<std::vector<float>>&) const;
template std::vector<double> Shots::rows_of(const std::vector<std::vector<double>>&) const;

std::vector<std::vector<double>> Shots::gathers_of(std::span<const double> rows) const {
  std::vector<std::vector<double>> all;
  for (const auto& shot : problem_.shots) all.emplace_back(problem_.steps() * problem_.traces(shot), 0.0);
  each([&](std::size_t row, std::size_t shot, std::size_t place) { all[shot][place] = rows[row]; });
  return all;
}

acoustic::Outcome Shots::run(const acoustic::Settings& settings, std::span<const double> velocity) const {
  if (velocity.size() != nodes()) throw ShapeError("acoustic: velocity", "there must be one for every node");
  auto problem = problem_;
  problem.velocity.assign(velocity.begin(), velocity.end());
  Within progress(runtime_.progress);
  auto runtime = runtime_;
  runtime.progress = &progress;
  return acoustic::run_shots(problem, settings, runtime);
}

std::vector<double> Shots::model(std::span<const double> velocity) const {
  auto settings = settings_;
  settings.task = acoustic::Task::modelling;
  return rows_of(run(settings, velocity).gathers);
}

std::vector<double> Shots::born(std::span<const double> velocity, std::span<const double> change) const {
  auto settings = settings_;
  settings.task = acoustic::Task::born;
  settings.change.assign(change.begin(), change.end());
  return rows_of(run(settings, velocity).gathers);
}

std::vector<double> Shots::adjoint(std::span<const double> velocity, std::span<const double> data) const {
  auto settings = settings_;
  settings.task = acoustic::Task::adjoint;
  settings.data = gathers_of(data);
  return run(settings, velocity).images.kernel;
}

// ---- J ----

void Born::apply(std::span<const double> change, std::span<double> data) const {
  solve::expect_shapes(*this, change.size(), data.size());
  const auto made = shots_->born(velocity_, change);
  std::copy(made.begin(), made.end(), data.begin());
}

void Born::apply_transpose(std::span<const double> data, std::span<double> change) const {
  solve::expect_shapes(*this, change.size(), data.size());
  const auto made = shots_->adjoint(velocity_, data);
  std::copy(made.begin(), made.end(), change.begin());
}

/// With signs z that are independent of each other the mean of ‖√w J z‖² is the sum of the diagonal of JᵀwJ.
void Born::weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  solve::expect_shapes(*this, diagonal.size(), weight.size());
  std::vector<double> signs(columns()), data(rows());
  std::uint64_t state = 1;
  for (double& sign : signs) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    sign = (state >> 63) != 0 ? 1 : -1;
  }
  apply(signs, data);
  double sum = 0;
  for (std::size_t i = 0; i < data.size(); ++i) sum += weight[i] * data[i] * data[i];
  std::fill(diagonal.begin(), diagonal.end(), sum / static_cast<double>(columns()));
}

void Born::row(std::size_t i, std::span<double> out) const {
  std::vector<double> one(rows(), 0.0);
  one.at(i) = 1;
  apply_transpose(one, out);
}

std::shared_ptr<const solve::LinearOperator> scattering(std::shared_ptr<const Shots> shots,
                                                        std::vector<double> velocity,
                                                        const std::vector<std::uint32_t>& active) {
  std::vector<double> slope(active.empty() ? velocity.size() : active.size());
  for (std::size_t c = 0; c < slope.size(); ++c) {
    const double v = velocity[active.empty() ? c : active[c]];
    slope[c] = -2 / (v * v * v);
  }
  auto born = std::make_shared<Born>(std::move(shots), std::move(velocity));
  return std::make_shared<Chained>(std::move(born), active, std::move(slope));
}

Linearised Waves::at(std::span<const double> found, Progress* progress) const {
  if (progress != nullptr && progress->cancelled()) throw Cancelled();
  auto velocity = shots_->problem().velocity;
  for (std::size_t c = 0; c < found.size(); ++c) velocity[active_.empty() ? c : active_[c]] = found[c];
  Linearised here{shots_->model(velocity), nullptr, {}};
  const auto finite = [](double value) { return std::isfinite(value); };
  if (std::all_of(here.data.begin(), here.data.end(), finite))
    here.jacobian = scattering(shots_, std::move(velocity), active_);
  return here;
}

}  // namespace terrane::inversion
