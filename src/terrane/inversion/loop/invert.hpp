// An inversion from data to a model. Depending on the data it is one linear problem (linear.hpp), or a
// sequence of linearised problems (gauss_newton.hpp).
#pragma once

#include <functional>

#include "terrane/inversion/loop/problem.hpp"

namespace terrane::inversion {

/// Throws what check() throws, and Cancelled. seen: called with every new line of the table of iterations;
/// keeper: saves the state and resumes from it, with the bits of an uninterrupted run
Outcome invert(const Problem& problem, const Settings& settings,
               const std::function<void(const Iteration&)>& seen = {}, Progress* progress = nullptr,
               Keeper* keeper = nullptr);

}  // namespace terrane::inversion
