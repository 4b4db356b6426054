#include "terrane/physics/acoustic/inverse/waves.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"

namespace terrane::acoustic::inverse {

namespace {

/// The progress of a run of shots within an inversion: it refreshes the display of the inversion's progress,
/// and is cancelled with the inversion.
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

Shots::Shots(Problem problem, Settings settings, std::size_t every, const Runtime& runtime)
    : problem_(std::move(problem)), settings_(std::move(settings)), every_(every), runtime_(runtime) {
  runtime_.checkpoint = {};  // the inversion writes its own checkpoints
  settings_.change = {};
  settings_.data = {};
}

std::size_t Shots::rows() const {
  std::size_t traces = 0;
  for (const auto& shot : problem_.shots) traces += problem_.traces(shot);
  return traces * samples();
}

/// Calls use(index of the datum, shot, index of the sample in the shot's gather) for all data.
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

Outcome Shots::run(const Settings& settings, std::span<const double> velocity) const {
  if (velocity.size() != nodes()) throw ShapeError("acoustic: velocity", "there must be one for every node");
  auto problem = problem_;
  problem.velocity.assign(velocity.begin(), velocity.end());
  Within progress(runtime_.progress);
  auto runtime = runtime_;
  runtime.progress = &progress;
  return run_shots(problem, settings, runtime);
}

std::vector<double> Shots::model(std::span<const double> velocity) const {
  auto settings = settings_;
  settings.task = Task::modelling;
  return rows_of(run(settings, velocity).gathers);
}

std::vector<double> Shots::born(std::span<const double> velocity, std::span<const double> change) const {
  auto settings = settings_;
  settings.task = Task::born;
  settings.change = std::vector<double>(change.begin(), change.end());
  return rows_of(run(settings, velocity).gathers);
}

std::vector<double> Shots::adjoint(std::span<const double> velocity, std::span<const double> data) const {
  auto settings = settings_;
  settings.task = Task::adjoint;
  settings.data = gathers_of(data);
  return run(settings, velocity).images.kernel;
}

namespace {

/// The lag, −most … most samples, at which the correlation of both traces is largest; positive if the
/// computed trace is later. Gaps (NaN) count as zero.  apart: array elements from one sample of a trace to
/// the next
Index lag_of(const double* computed, const double* observed, Index samples, Index apart, Index most) {
  const auto number = [](double value) { return std::isnan(value) ? 0 : value; };
  Index late = 0;
  double largest = 0;
  for (Index lag = -most; lag <= most; ++lag) {
    double sum = 0;
    for (Index n = std::max<Index>(0, -lag); n < std::min(samples, samples - lag); ++n)
      sum += number(observed[n * apart]) * computed[(n + lag) * apart];
    if (sum > largest) largest = sum, late = lag;
  }
  return late;
}

}  // namespace

Lags lags_of(const Shots& shots, std::span<const double> computed, std::span<const double> observed) {
  constexpr std::size_t enough = 1000;
  const auto& p = shots.problem();
  const double period = 1 / p.wavelet.main_frequency(), step = shots.sample_step();
  const auto most = static_cast<Index>(std::ceil(1.5 * period / step));
  const std::size_t all = shots.rows() / shots.samples(), every = (all + enough - 1) / enough;
  Lags lags;
  std::size_t first = 0, trace = 0;
  for (std::size_t c = 0; c < p.record.size(); ++c)
    for (const auto& shot : p.shots) {
      const std::size_t receivers = shot.receivers.size();
      for (std::size_t r = 0; r < receivers; ++r) {
        if (trace++ % every != 0) continue;
        const double late =
            step * std::abs(static_cast<double>(lag_of(&computed[first + r], &observed[first + r],
                                                       static_cast<Index>(shots.samples()),
                                                       static_cast<Index>(receivers), most)));
        ++lags.traces;
        lags.far += late >= 0.5 * period ? 1 : 0;
        lags.largest = std::max(lags.largest, late);
      }
      first += receivers * shots.samples();
    }
  return lags;
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

/// For a vector z of independent random signs the expectation of ‖√w J z‖² is the trace of JᵀwJ.
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
  return std::make_shared<inversion::Chained>(std::move(born), active, std::move(slope));
}

// ---- sides ----

std::vector<Follower> followers_at_sides(const Problem& waves, std::vector<std::uint32_t>& active) {
  const auto box = waves.grid.box();
  const auto inner = [&](std::uint32_t cell) {
    Index at[3] = {cell / (box.size(1) * box.size(2)), cell / box.size(2) % box.size(1), cell % box.size(2)};
    for (int axis = 0; axis < 3; ++axis) {
      if (at[axis] == 0 && waves.margin(axis, 0) > 0) at[axis] = 1;
      if (at[axis] + 1 == box.size(axis) && waves.margin(axis, 1) > 0) --at[axis];
    }
    return static_cast<std::uint32_t>((at[0] * box.size(1) + at[1]) * box.size(2) + at[2]);
  };
  if (active.empty())
    for (std::uint32_t c = 0; c < waves.velocity.size(); ++c) active.push_back(c);
  std::vector<std::uint32_t> kept;
  for (const auto cell : active)
    if (inner(cell) == cell) kept.push_back(cell);
  std::vector<Follower> followers;
  for (const auto cell : active)
    if (const auto of = inner(cell); of != cell && std::binary_search(kept.begin(), kept.end(), of))
      followers.push_back({cell, of, waves.velocity[cell] / waves.velocity[of]});
  active = std::move(kept);
  return followers;
}

namespace {

/// The derivative with respect to the active cells' velocities: a change x of a cell's velocity also changes
/// its followers by c x.
class WithFollowers final : public solve::LinearOperator {
 public:
  /// born: derivative with respect to 1/v² of all cells; velocity: of all cells, m/s
  WithFollowers(std::shared_ptr<const Born> born, const std::vector<double>& velocity,
                const std::vector<std::uint32_t>& active, const std::vector<Follower>& followers)
      : born_(std::move(born)), columns_(active.empty() ? velocity.size() : active.size()) {
    std::vector<std::uint32_t> column(velocity.size());
    const auto add = [&](std::size_t cell, std::uint32_t of, double factor) {
      const double v = velocity[cell];
      terms_.push_back({static_cast<std::uint32_t>(cell), of, -2 * factor / (v * v * v)});
    };
    for (std::size_t c = 0; c < columns_; ++c) {
      const auto cell = active.empty() ? c : active[c];
      column[cell] = static_cast<std::uint32_t>(c);
      add(cell, column[cell], 1);
    }
    for (const auto& f : followers) add(f.cell, column[f.of], f.factor);
  }
  std::size_t rows() const override { return born_->rows(); }
  std::size_t columns() const override { return columns_; }
  void apply(std::span<const double> model, std::span<double> data) const override {
    solve::expect_shapes(*this, model.size(), data.size());
    std::vector<double> change(born_->columns());
    for (const auto& t : terms_) change[t.cell] = t.slope * model[t.column];
    born_->apply(change, data);
  }
  void apply_transpose(std::span<const double> data, std::span<double> model) const override {
    solve::expect_shapes(*this, model.size(), data.size());
    std::vector<double> change(born_->columns());
    born_->apply_transpose(data, change);
    gather(change, model);
  }
  bool has_quick_diagonal() const override { return born_->has_quick_diagonal(); }
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override {
    solve::expect_shapes(*this, diagonal.size(), weight.size());
    std::vector<double> of_cells(born_->columns());
    born_->weighted_diagonal(weight, of_cells);
    std::fill(diagonal.begin(), diagonal.end(), 0.0);
    for (const auto& t : terms_) diagonal[t.column] += t.slope * t.slope * of_cells[t.cell];
  }
  void row(std::size_t i, std::span<double> out) const override {
    solve::expect_shapes(*this, out.size(), rows());
    std::vector<double> change(born_->columns());
    born_->row(i, change);
    gather(change, out);
  }

 private:
  struct Term {
    std::uint32_t cell, column;
    double slope;  ///< derivative of the cell's m with respect to the column's velocity
  };
  void gather(std::span<const double> change, std::span<double> model) const {
    std::fill(model.begin(), model.end(), 0.0);
    for (const auto& t : terms_) model[t.column] += t.slope * change[t.cell];
  }
  std::shared_ptr<const Born> born_;
  std::size_t columns_;
  std::vector<Term> terms_;
};

}  // namespace

std::vector<double> Waves::velocity(std::span<const double> found) const {
  auto all = shots_->problem().velocity;
  for (std::size_t c = 0; c < found.size(); ++c) all[active_.empty() ? c : active_[c]] = found[c];
  for (const auto& f : followers_) all[f.cell] = f.factor * all[f.of];
  return all;
}

inversion::Linearised Waves::at(std::span<const double> found, Progress* progress) const {
  if (progress != nullptr && progress->cancelled()) throw Cancelled();
  auto all = velocity(found);
  inversion::Linearised here{shots_->model(all), nullptr, {}};
  const auto finite = [](double value) { return std::isfinite(value); };
  if (std::all_of(here.data.begin(), here.data.end(), finite))
    here.jacobian =
        std::make_shared<WithFollowers>(std::make_shared<Born>(shots_, all), all, active_, followers_);
  return here;
}

}  // namespace terrane::acoustic::inverse
