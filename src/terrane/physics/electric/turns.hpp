// Solves for all electrodes, distributed over groups of ranks (parallel/comm/groups.hpp): each group has a
// mesh, and solves for one electrode at a time.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/parallel/comm/groups.hpp"
#include "terrane/physics/electric/potentials.hpp"

namespace terrane::electric {

class Turns {
 public:
  /// Solves for an electrode. Returns the values to keep, the same on all ranks of a group.
  using Find = std::function<std::vector<double>(Potentials& solver, std::size_t electrode, Solved& solved)>;
  /// Called on rank 0 with the values from Find, electrode by electrode in the given order.
  using Take = std::function<void(std::size_t electrode, const Solved& solved, std::vector<double> found)>;

  /// Called on all ranks for each electrode: rank `from` has further results of its solve, and
  /// sends them to the other ranks.
  using Deal = std::function<void(std::size_t electrode, int from)>;

  /// Collective over the ranks of `groups`, which pass the same problem. All reference arguments must outlive
  /// this object.  electrodes: those to solve for.  Throws what the constructor of Potentials throws, on all
  /// ranks; and OutOfStep.
  Turns(const TensorMesh& mesh, const Conductivity& conductivity, const std::vector<Point>& places,
        const Parameters& parameters, Stream& stream, std::vector<std::size_t> electrodes,
        const Groups& groups);
  /// Collective. With several ranks, reports do not contain the history of residuals.  Throws InputError,
  /// MemoryError, Cancelled: on all ranks; OutOfStep.
  void solve(Progress& progress, const Find& find, const Take& take, const Deal& deal = {});
  /// The solver of this rank's group; rank 0 always has one.
  const Potentials& solver() const { return *solver_; }

 private:
  void hand_over(std::size_t first, const Solved& solved, std::vector<double> found, const Take& take) const;

  void deal_out(std::size_t first, const Deal& deal) const;

  std::vector<std::size_t> electrodes_;
  const Groups& groups_;
  Alone alone_;
  std::optional<Potentials> solver_;
};

}  // namespace terrane::electric
