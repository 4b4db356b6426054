// When an iterative solver stops, and its report. Failure to converge is not an error: the report has the
// reason.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace terrane::solve {

struct Stopping {
  double relative = 1e-8;     ///< stop if ‖r‖ ≤ relative · ‖b‖, r = b − A x
  int most_iterations = 500;  ///< number of iterations after which the solver stops unconverged
  int patience = 50;          ///< number of iterations within which the smallest ‖r‖ must be halved
  /// Returns the relative change, in the last iteration, of the results that the caller derives from the
  /// solution; the solver stops only if this, too, is at most most_change. Empty: the residual alone decides.
  std::function<double()> change = {};
  double most_change = 1e-5;
};

enum class Reason {
  converged,
  most_iterations,
  stagnated,   ///< ‖r‖ was not halved in Stopping::patience iterations
  breakdown,   ///< pᵀAp or rᵀz (krylov.hpp) is not positive (if complex: is zero)
  not_finite,  ///< NaN or infinity in the operator, the preconditioner or the right-hand side
};

/// "converged", "most iterations", "stagnated", "breakdown", "not finite".
const char* name(Reason reason);

struct SolveReport {
  Reason reason = Reason::converged;
  int iterations = 0;
  double residual = 0;          ///< ‖b − A x‖/‖b‖, computed anew from x at the end
  std::vector<double> history;  ///< ‖r‖/‖b‖ of the recurrence, initially and after each iteration

  bool converged() const noexcept { return reason == Reason::converged; }
  /// "converged in 9 iterations, residual 4.1e-09".
  std::string text() const;
};

}  // namespace terrane::solve
