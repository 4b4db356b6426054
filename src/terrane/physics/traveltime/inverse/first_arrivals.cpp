#include "terrane/physics/traveltime/inverse/first_arrivals.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::traveltime::inverse {

std::shared_ptr<const Picks> make_picks(Problem problem, std::vector<std::uint32_t> active, int threads) {
  auto made = std::make_shared<Picks>();
  made->of_shots = problem.picks_of_shots();
  for (const auto& of_shot : made->of_shots) {
    made->receivers.emplace_back();
    for (const auto n : of_shot)
      made->receivers.back().push_back(problem.receivers[problem.picks[n].receiver]);
  }
  made->problem = std::move(problem);
  made->active = std::move(active);
  made->threads = threads;
  return made;
}

/// Uses δ ln s = −δv/v.
void Slopes::apply(std::span<const double> model, std::span<double> data) const {
  solve::expect_shapes(*this, model.size(), data.size());
  std::vector<double> change(picks_->problem.mesh.size());
  for (std::size_t c = 0; c < model.size(); ++c) {
    const auto cell = picks_->cell(c);
    change[cell] = -model[c] * std::exp(medium_.log_slowness(cell));
  }
  for_each(fronts_.size(), picks_->threads, [&](std::size_t shot) {
    const auto times = Derivative(medium_, fronts_[shot]).apply(change, picks_->receivers[shot]);
    for (std::size_t n = 0; n < times.size(); ++n) data[picks_->of_shots[shot][n]] = times[n];
  });
}

/// The contributions of shots are added in the order of the shots, whichever thread computed them.
void Slopes::apply_transpose(std::span<const double> data, std::span<double> model) const {
  solve::expect_shapes(*this, model.size(), data.size());
  const std::size_t cells = picks_->problem.mesh.size();
  std::vector<std::size_t> shots;
  for (std::size_t shot = 0; shot < fronts_.size(); ++shot)
    if (std::any_of(picks_->of_shots[shot].begin(), picks_->of_shots[shot].end(),
                    [&](std::size_t n) { return data[n] != 0; }))
      shots.push_back(shot);
  const auto at_once = static_cast<std::size_t>(thread_count(picks_->threads));
  std::vector<double> sum(cells);
  std::vector<std::vector<double>> parts(std::min(at_once, shots.size()));
  for (std::size_t first = 0; first < shots.size(); first += at_once) {
    const auto count = std::min(at_once, shots.size() - first);
    for_each(count, picks_->threads, [&](std::size_t n) {
      const auto shot = shots[first + n];
      std::vector<double> weights;
      for (const auto row : picks_->of_shots[shot]) weights.push_back(data[row]);
      parts[n].assign(cells, 0);
      Derivative(medium_, fronts_[shot]).add_transpose(weights, picks_->receivers[shot], parts[n]);
    });
    for (std::size_t n = 0; n < count; ++n)
      for (std::size_t c = 0; c < cells; ++c) sum[c] += parts[n][c];
  }
  for (std::size_t c = 0; c < model.size(); ++c) {
    const auto cell = picks_->cell(c);
    model[c] = -sum[cell] * std::exp(medium_.log_slowness(cell));
  }
}

void Slopes::weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  solve::expect_shapes(*this, diagonal.size(), weight.size());
  std::fill(diagonal.begin(), diagonal.end(), 0.0);
  std::vector<double> one(columns());
  for (std::size_t i = 0; i < rows(); ++i) {
    if (weight[i] == 0) continue;
    row(i, one);
    for (std::size_t c = 0; c < one.size(); ++c) diagonal[c] += weight[i] * one[c] * one[c];
  }
}

inversion::Linearised FirstArrivals::at(std::span<const double> velocity, Progress* progress) const {
  const auto& p = picks_->problem;
  auto whole = p.velocity;
  for (std::size_t c = 0; c < velocity.size(); ++c) whole[picks_->cell(c)] = velocity[c];
  Medium medium(p.mesh, whole);
  std::vector<Front> fronts(p.shots.size());
  inversion::Linearised made;
  made.data.assign(rows(), 0);
  const auto stopped = [&] { return progress != nullptr && progress->cancelled(); };
  for_each(fronts.size(), picks_->threads, [&](std::size_t shot) {
    fronts[shot] = march(medium, p.shots[shot], p.order, stopped);
    if (stopped()) throw Cancelled();
    for (std::size_t n = 0; n < picks_->of_shots[shot].size(); ++n)
      made.data[picks_->of_shots[shot][n]] = time_at(medium, fronts[shot], picks_->receivers[shot][n]);
  });
  made.jacobian = std::make_shared<Slopes>(picks_, std::move(medium), std::move(fronts));
  return made;
}

}  // namespace terrane::traveltime::inverse
