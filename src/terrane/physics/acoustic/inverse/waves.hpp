// Recorded waves as data of velocities: gathers of all shots, sample by sample.
//
//   data     d = F(v), pressures or velocities of particles, [component, shot, sample, receiver]
//   model    the velocity of each cell that takes part, m/s; the inversion takes its logarithm
//   J        Born modelling over m = 1/v², ∂m/∂v = −2/v³; its transpose is the exact adjoint
//   linear   waves that were scattered once by a change of velocity δv: d = −2/v³ J δv at one v
//
// A product with J or Jᵀ runs all shots anew, shared among ranks as a run of them is (physics/acoustic/
// run.hpp): the bits are those of one process. Gathers come back in single precision, so that ⟨J x, r⟩ and
// ⟨x, Jᵀ r⟩ differ by 1e-7.
//
// Cells at absorbing sides, from which layers go on, change by the factor by which the cells beside them do
// (Sides): v_s = c v_i. So ∂m_s/∂v_i = −2/(c² v_i³), and J is the tangent of F but for what a change of the
// layers themselves does, which Born modelling does not know: where sides are right already it is the
// tangent.
#pragma once

#include <memory>

#include "terrane/inversion/data/forward.hpp"
#include "terrane/physics/acoustic/run.hpp"

namespace terrane::acoustic::inverse {

/// Shots over a medium whose velocity changes, and which samples of their gathers are data.
class Shots {
 public:
  /// problem: settled · settings: precision, and how waves are kept, not automatic · every: steps from one
  /// sample to the next · runtime: its Comm and Progress must outlive this
  Shots(Problem problem, Settings settings, std::size_t every, const Runtime& runtime);

  std::size_t rows() const;
  std::size_t nodes() const { return problem_.velocity.size(); }
  const Problem& problem() const noexcept { return problem_; }

  /// velocity: [nodes] m/s · change: of 1/v², [nodes] · returns [rows]
  std::vector<double> model(std::span<const double> velocity) const;
  std::vector<double> born(std::span<const double> velocity, std::span<const double> change) const;
  /// [rows] → [nodes]
  std::vector<double> adjoint(std::span<const double> velocity, std::span<const double> data) const;

  /// From gathers [shots][steps, components × receivers] the data; and back, with zeros between.
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

/// How far computed traces are from observed ones in time: where their correlation is largest. Beyond half a
/// period a descent finds the wrong one of several waves.
struct Lags {
  std::size_t traces = 0, far = 0;  ///< that were compared; that are half a period off and more
  double largest = 0;               ///< s
};
/// Of a thousand traces at most, evenly among all.  computed, observed: [rows]; gaps are NaN
Lags lags_of(const Shots& shots, std::span<const double> computed, std::span<const double> observed);

/// J of 1/v² at a velocity: Born modelling of all shots.
class Born final : public solve::LinearOperator {
 public:
  /// velocity: [nodes] m/s
  Born(std::shared_ptr<const Shots> shots, std::vector<double> velocity)
      : shots_(std::move(shots)), velocity_(std::move(velocity)) {}
  std::size_t rows() const override { return shots_->rows(); }
  std::size_t columns() const override { return velocity_.size(); }
  void apply(std::span<const double> change, std::span<double> data) const override;
  void apply_transpose(std::span<const double> data, std::span<double> change) const override;
  /// An estimate, the same for all cells, by one product: the exact one would take a run for each datum.
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override;
  void row(std::size_t i, std::span<double> out) const override;

 private:
  std::shared_ptr<const Shots> shots_;
  std::vector<double> velocity_;
};

/// J of the velocities of some cells: Born over ∂m/∂v.  velocity: [nodes] · active: ascending; empty: all
std::shared_ptr<const solve::LinearOperator> scattering(std::shared_ptr<const Shots> shots,
                                                        std::vector<double> velocity,
                                                        const std::vector<std::uint32_t>& active);

/// A cell whose velocity is that of another times a factor.
struct Follower {
  std::uint32_t cell, of;
  double factor;
};
/// The cells of these at sides with layers, each after the nearest cell that is not there; which are left in
/// `active`. Cells at sides without such a one among them go out of it and stay as they are.  active:
/// ascending; empty: all
std::vector<Follower> followers_at_sides(const Problem& waves, std::vector<std::uint32_t>& active);

class Waves final : public inversion::Forward {
 public:
  /// active: cells that are found, ascending; empty: all · followers: of them; all others keep the velocity
  /// of the problem
  Waves(std::shared_ptr<const Shots> shots, std::vector<std::uint32_t> active,
        std::vector<Follower> followers = {})
      : shots_(std::move(shots)), active_(std::move(active)), followers_(std::move(followers)) {}
  std::size_t rows() const override { return shots_->rows(); }
  std::size_t columns() const override { return active_.empty() ? shots_->nodes() : active_.size(); }
  /// Of all cells.  found: m/s, of those that are found
  std::vector<double> velocity(std::span<const double> found) const;
  /// model: m/s. Without a jacobian where waves grow, as the steps are too long for such a model.
  inversion::Linearised at(std::span<const double> velocity, Progress* progress = nullptr) const override;

 private:
  std::shared_ptr<const Shots> shots_;
  std::vector<std::uint32_t> active_;
  std::vector<Follower> followers_;
};

}  // namespace terrane::acoustic::inverse
