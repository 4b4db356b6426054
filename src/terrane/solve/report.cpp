#include "terrane/solve/report.hpp"

#include <fmt/format.h>

namespace terrane::solve {

const char* name(Reason reason) {
  switch (reason) {
    case Reason::converged:
      return "converged";
    case Reason::most_iterations:
      return "most iterations";
    case Reason::stagnated:
      return "stagnated";
    case Reason::breakdown:
      return "breakdown";
    case Reason::not_finite:
      return "not finite";
  }
  return "unknown";
}

std::string SolveReport::text() const {
  const char* plural = iterations == 1 ? "" : "s";
  if (converged())
    return fmt::format("converged in {} iteration{}, residual {:.1e}", iterations, plural, residual);
  return fmt::format("not converged ({}) after {} iteration{}, residual {:.1e}", name(reason), iterations,
                     plural, residual);
}

}  // namespace terrane::solve
