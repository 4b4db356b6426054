// First arrivals as data of an inversion for velocity.
//
//   data     T of each pick, s
//   model    the velocity of each cell of rock, m/s; the inversion uses its logarithm
//   J        the front's equations, differentiated in the order of arrival (physics/traveltime/front.hpp):
//            δT = J δv, and Jᵀ w, exact to rounding; no rays are traced
//
// For each model the front of each shot is computed and stored; a product with J needs a pass over each
// front.
#pragma once

#include <memory>

#include "terrane/inversion/data/forward.hpp"
#include "terrane/physics/traveltime/front.hpp"
#include "terrane/physics/traveltime/problem.hpp"

namespace terrane::traveltime::inverse {

/// The problem and its picks, shared by the operators J of all models.
struct Picks {
  Problem problem;  ///< the problem after settle(), with the velocity of inactive cells
  std::vector<std::vector<std::size_t>> of_shots;
  std::vector<std::vector<Point>> receivers;  ///< [shot] positions of the receivers of the shot's picks
  std::vector<std::uint32_t> active;          ///< indices of active cells, ascending; empty: all
  int threads = 0;

  std::size_t columns() const { return active.empty() ? problem.mesh.size() : active.size(); }
  std::size_t cell(std::size_t column) const { return active.empty() ? column : active[column]; }
};
std::shared_ptr<const Picks> make_picks(Problem problem, std::vector<std::uint32_t> active, int threads);

/// J at one model: derivatives of travel times with respect to the velocities of active cells.
class Slopes final : public solve::LinearOperator {
 public:
  Slopes(std::shared_ptr<const Picks> picks, Medium medium, std::vector<Front> fronts)
      : picks_(std::move(picks)), medium_(std::move(medium)), fronts_(std::move(fronts)) {}
  std::size_t rows() const override { return picks_->problem.picks.size(); }
  std::size_t columns() const override { return picks_->columns(); }
  void apply(std::span<const double> model, std::span<double> data) const override;
  void apply_transpose(std::span<const double> data, std::span<double> model) const override;
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override;

 private:
  std::shared_ptr<const Picks> picks_;
  Medium medium_;
  std::vector<Front> fronts_;
};

class FirstArrivals final : public inversion::Forward {
 public:
  explicit FirstArrivals(std::shared_ptr<const Picks> picks) : picks_(std::move(picks)) {}
  std::size_t rows() const override { return picks_->problem.picks.size(); }
  std::size_t columns() const override { return picks_->columns(); }
  inversion::Linearised at(std::span<const double> velocity, Progress* progress = nullptr) const override;

 private:
  std::shared_ptr<const Picks> picks_;
};

}  // namespace terrane::traveltime::inverse
