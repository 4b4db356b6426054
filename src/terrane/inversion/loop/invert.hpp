// An inversion from data to a model, by the loop that its data ask for: one linear problem (linear.hpp), or
// steps that make linear problems (gauss_newton.hpp).
#pragma once

#include <functional>

#include "terrane/inversion/loop/problem.hpp"

namespace terrane::inversion {

/// Throws also Cancelled. seen: every line of the table as it comes · keeper: keeps where it stands, and goes
/// on from there, with the bits of a run that was not stopped
Outcome invert(const Problem& problem, const Settings& settings,
               const std::function<void(const Iteration&)>& seen = {}, Progress* progress = nullptr,
               Keeper* keeper = nullptr);

}  // namespace terrane::inversion
