// Recorded waves as the data of an inversion for velocities: gathers of all shots, sample by sample.
//
//   data     d = F(v), pressures or velocities of particles, [component, shot, sample, receiver]
//   model    the velocity of each cell that takes part, m/s; the inversion takes its logarithm
//   J        Born modelling over m = 1/v², ∂m/∂v = −2/v³; its transpose is the exact adjoint
//   linear   waves scattered once by a change of velocity δv: d = J (−2/v³ δv) with a fixed v
//
// A product with J or Jᵀ computes all shots anew, shared among ranks as in any run
// (physics/acoustic/run.hpp): the bits are those of one process. Gathers are returned in single precision, so
// that ⟨J x, r⟩ and ⟨x, Jᵀ r⟩ differ by 1e-7.
//
// The outermost cells at absorbing sides, whose velocity the layers continue, keep their ratio c to the
// nearest inner cell i (Follower): v_s = c v_i. So ∂m_s/∂v_i = −2/(c² v_i³). Born modelling leaves out the
// effect of a change of velocity in the layers: J is the exact tangent of F for changes that are zero at
// these sides.
#pragma once

#include <memory>

#include "terrane/inversion/data/forward.hpp"
#include "terrane/physics/acoustic/run.hpp"

namespace terrane::acoustic::inverse {

/// Runs all shots for any velocity of the medium, and picks the samples of their gathers that are data.
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

/// Time lags between computed and observed traces, each at the largest correlation of the two. With lags of
/// half a period and more, a descent fits the wrong cycle.
struct Lags {
  std::size_t traces = 0,
              far = 0;  ///< number of traces compared; of those whose lag is half a period or more
  double largest = 0;   ///< s
};
/// The lags of up to a thousand traces, evenly chosen.  computed, observed: [rows]; gaps are NaN
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
  /// An estimate from one product, the same for all cells: the exact diagonal would take a run for each
  /// datum.
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override;
  bool has_quick_diagonal() const override { return false; }  // a mean over all cells
  void row(std::size_t i, std::span<double> out) const override;

 private:
  std::shared_ptr<const Shots> shots_;
  std::vector<double> velocity_;
};

/// J by the velocities of the active cells: Born times ∂m/∂v.  velocity: [nodes] · active: ascending; empty:
/// all
std::shared_ptr<const solve::LinearOperator> scattering(std::shared_ptr<const Shots> shots,
                                                        std::vector<double> velocity,
                                                        const std::vector<std::uint32_t>& active);

/// A cell whose velocity is that of another times a factor.
struct Follower {
  std::uint32_t cell, of;
  double factor;
};
/// Makes followers of the active cells at sides with layers: each follows the nearest cell that is not at
/// such a side, and is removed from `active`. If that nearest cell is not active, the cell is removed and
/// keeps its velocity.  active: ascending; empty: all
std::vector<Follower> followers_at_sides(const Problem& waves, std::vector<std::uint32_t>& active);

class Waves final : public inversion::Forward {
 public:
  /// active: cells whose velocity is an unknown, ascending; empty: all · followers: cells that follow them;
  /// all other cells keep the velocity of the problem
  Waves(std::shared_ptr<const Shots> shots, std::vector<std::uint32_t> active,
        std::vector<Follower> followers = {})
      : shots_(std::move(shots)), active_(std::move(active)), followers_(std::move(followers)) {}
  std::size_t rows() const override { return shots_->rows(); }
  std::size_t columns() const override { return active_.empty() ? shots_->nodes() : active_.size(); }
  /// Velocity of all cells, m/s.  found: that of the unknown cells, m/s
  std::vector<double> velocity(std::span<const double> found) const;
  /// velocity: m/s, of the unknown cells. The result has no jacobian where the time step is too long for that
  /// velocity, so that waves grow.
  inversion::Linearised at(std::span<const double> velocity, Progress* progress = nullptr) const override;

 private:
  std::shared_ptr<const Shots> shots_;
  std::vector<std::uint32_t> active_;
  std::vector<Follower> followers_;
};

}  // namespace terrane::acoustic::inverse
