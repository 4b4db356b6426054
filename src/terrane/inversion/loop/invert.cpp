#include "terrane/inversion/loop/invert.hpp"

#include "terrane/inversion/loop/gauss_newton.hpp"
#include "terrane/inversion/loop/linear.hpp"

namespace terrane::inversion {

Outcome invert(const Problem& problem, const Settings& settings,
               const std::function<void(const Iteration&)>& seen, Progress* progress, Keeper* keeper) {
  check(problem, settings);
  if (problem.forward) return gauss_newton(problem, settings, seen, progress, keeper);
  return invert_linear(problem, settings, seen, progress, keeper);
}

}  // namespace terrane::inversion
