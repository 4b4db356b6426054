// Recorded waves as the data of an inversion for velocities: gathers of all shots, sample by sample.
//
//   data     d = F(v), pressures or velocities of particles, [component, shot, sample, receiver]
//   model    the velocity of each active cell, m/s; the unknowns of the inversion are its logarithms
//   J        derivative with respect to m = 1/v², by Born modelling; ∂m/∂v = −2/v³; Jᵀ is the exact adjoint
//   linear   (migration) waves scattered once by a change of velocity δv: d = J (−2/v³ δv) with a fixed v
//
// Each product with J or Jᵀ computes all shots again, shared among ranks as in any run
// (physics/acoustic/run.hpp): results are bitwise identical on any number of ranks. Gathers are returned in
// single precision, so that ⟨J x, r⟩ and ⟨x, Jᵀ r⟩ differ by 1e-7.
//
// The velocity of an outermost cell at an absorbing side continues into the layer. Such a cell s is no
// unknown: it keeps its ratio c to the nearest inner cell i (Follower), v_s = c v_i, so ∂m_s/∂v_i = −2/(c²
// v_i³). Born modelling neglects changes of velocity in the layers: J is the exact derivative of F for
// changes that are zero at these sides.
#pragma once

#include <memory>

#include "terrane/inversion/data/forward.hpp"
#include "terrane/physics/acoustic/run.hpp"

namespace terrane::acoustic::inverse {

/// Runs all shots for any velocity of the medium, and extracts from their gathers the samples that are data.
class Shots {
 public:
  /// problem: settled; settings: precision, and the strategy of keeping waves, not automatic; every: number
  /// of time steps between two samples; runtime: its Comm and Progress must outlive this object
  Shots(Problem problem, Settings settings, std::size_t every, const Runtime& runtime);

  std::size_t rows() const;
  std::size_t nodes() const { return problem_.velocity.size(); }
  const Problem& problem() const noexcept { return problem_; }

  /// velocity: [nodes] m/s; change: change of 1/v², [nodes] s²/m². Both functions return the data, [rows].
  std::vector<double> model(std::span<const double> velocity) const;
  std::vector<double> born(std::span<const double> velocity, std::span<const double> change) const;
  /// Jᵀ times data [rows], with respect to 1/v²: [nodes]
  std::vector<double> adjoint(std::span<const double> velocity, std::span<const double> data) const;

  /// Converts gathers [shots][steps, components × receivers] to data, and back, with zeros at steps between
  /// samples.
  template <class T>
  std::vector<double> rows_of(const std::vector<std::vector<T>>& gathers) const;
  std::vector<std::vector<double>> gathers_of(std::span<const double> rows) const;
  std::size_t samples() const { return (problem_.steps() - 1) / every_ + 1; }
  double sample_step() const { return static_cast<double>(every_) * problem_.step; }

 private:
  Outcome run(const Settings& settings, std::span<const double> velocity) const;
  template <class Use>
  void each(const Use& use) const;

  Problem problem_;
  Settings settings_;
  std::size_t every_;
  Runtime runtime_;
};

/// Time lags between computed and observed traces: each maximises the correlation of its two traces. With
/// lags of half a period and more, a descent method fits the wrong cycle (cycle skipping).
struct Lags {
  /// Number of traces compared, and of those whose lag is half a period or more.
  std::size_t traces = 0, far = 0;
  double largest = 0;  ///< largest lag, s
};
/// The lags of up to a thousand evenly distributed traces.  computed, observed: [rows]; gaps are NaN
Lags lags_of(const Shots& shots, std::span<const double> computed, std::span<const double> observed);

/// The derivative J of all gathers with respect to 1/v², at one velocity model: Born modelling of all shots.
class Born final : public solve::LinearOperator {
 public:
  /// velocity: [nodes] m/s
  Born(std::shared_ptr<const Shots> shots, std::vector<double> velocity)
      : shots_(std::move(shots)), velocity_(std::move(velocity)) {}
  std::size_t rows() const override { return shots_->rows(); }
  std::size_t columns() const override { return velocity_.size(); }
  void apply(std::span<const double> change, std::span<double> data) const override;
  void apply_transpose(std::span<const double> data, std::span<double> change) const override;
  /// An estimate of the diagonal from one product, the same value for all cells: the exact diagonal would
  /// need a run for each datum.
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override;
  bool has_quick_diagonal() const override { return false; }  // the estimate is a mean over all cells
  void row(std::size_t i, std::span<double> out) const override;

 private:
  std::shared_ptr<const Shots> shots_;
  std::vector<double> velocity_;
};

/// The derivative of the data with respect to the velocities of the active cells: Born times ∂m/∂v.
/// velocity: [nodes] m/s; active: indices of cells, ascending; empty: all cells
std::shared_ptr<const solve::LinearOperator> scattering(std::shared_ptr<const Shots> shots,
                                                        std::vector<double> velocity,
                                                        const std::vector<std::uint32_t>& active);

/// A cell whose velocity is that of the cell `of` times a factor.
struct Follower {
  std::uint32_t cell, of;
  double factor;
};
/// Makes followers of the active cells at sides with absorbing layers: each follows the nearest cell that is
/// not at such a side, and is removed from `active`. If that nearest cell is not active, the cell is removed
/// without following it, and keeps its velocity.  active: ascending; empty: all cells
std::vector<Follower> followers_at_sides(const Problem& waves, std::vector<std::uint32_t>& active);

class Waves final : public inversion::Forward {
 public:
  /// active: cells whose velocity is an unknown, ascending; empty: all cells; followers: cells that follow
  /// an active cell; all other cells keep the velocity of the problem
  Waves(std::shared_ptr<const Shots> shots, std::vector<std::uint32_t> active,
        std::vector<Follower> followers = {})
      : shots_(std::move(shots)), active_(std::move(active)), followers_(std::move(followers)) {}
  std::size_t rows() const override { return shots_->rows(); }
  std::size_t columns() const override { return active_.empty() ? shots_->nodes() : active_.size(); }
  /// Velocity of all cells, m/s.  found: velocity of the active cells, m/s
  std::vector<double> velocity(std::span<const double> found) const;
  /// velocity: of the active cells, m/s. The result has no jacobian if the time step is unstable for that
  /// velocity, so that waves grow beyond finite numbers.
  inversion::Linearised at(std::span<const double> velocity, Progress* progress = nullptr) const override;

 private:
  std::shared_ptr<const Shots> shots_;
  std::vector<std::uint32_t> active_;
  std::vector<Follower> followers_;
};

}  // namespace terrane::acoustic::inverse
