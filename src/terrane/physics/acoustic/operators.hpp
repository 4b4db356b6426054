// Modelling as a function of the medium, for inversions of any kind: F(m), its derivative J, Jᵀ, and a
// misfit.
//
//   F(m)     gathers of all shots            J δm    Born modelling             Jᵀ r    its exact adjoint
//   Φ(m) = ½ ‖F(m) − d‖²                     ∂Φ/∂m = Jᵀ (F(m) − d)              m = 1/v², s²/m²
//
// d: observed gathers. F, J and Jᵀ include the corrections of time dispersion that the problem asks for,
// so ⟨J δm, r⟩ = ⟨δm, Jᵀ r⟩ to rounding. Gathers are [shots, steps, traces], models [nodes]. Shots are
// computed one after the other, by this process.
#pragma once

#include <memory>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/acoustic/snapshots.hpp"

namespace terrane::acoustic {

struct Misfit {
  double value = 0;              ///< Φ, Pa²
  std::vector<double> gradient;  ///< ∂Φ/∂m of every node
};

class Operators {
 public:
  /// problem: settled (Problem::settle).  threads: as for thread_count().  memory: most bytes for the stored
  /// wavefield of the source; 0: all free memory.
  explicit Operators(Problem problem, bool double_precision = true, Device device = {}, int threads = 0,
                     std::size_t memory = 0);
  ~Operators();

  const Problem& problem() const noexcept;
  std::size_t samples() const;  ///< number of samples in all gathers together

  /// Replaces the wavelet from now on by a series for each shot: [steps], the same for all its sources, or
  /// [steps, sources]. The series must already be corrected for time dispersion.  Throws ShapeError.
  void send(std::vector<std::vector<double>> series);
  std::vector<double> model(Progress* progress = nullptr);
  /// Returns pressure [snapshots, nodes that snapshots contain], Pa. The wavelet is not corrected for time
  /// dispersion: a snapshot shows the discrete wave on the grid. at_rest: adds a first snapshot at time 0,
  /// when the pressure is zero. Throws MemoryError.
  std::vector<float> snapshots(const Snapshots& snapshots, Progress* progress = nullptr,
                               bool at_rest = false);
  /// born, adjoint and misfit throw ShapeError if their argument has the wrong size.
  std::vector<double> born(const std::vector<double>& change, Progress* progress = nullptr);
  std::vector<double> adjoint(const std::vector<double>& gathers, Progress* progress = nullptr);
  Misfit misfit(const std::vector<double>& observed, Progress* progress = nullptr);

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

}  // namespace terrane::acoustic
