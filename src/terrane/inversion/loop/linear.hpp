// The inversion of data that are a linear function of the model.
#pragma once

#include <functional>

#include "terrane/inversion/loop/problem.hpp"

namespace terrane::inversion {

/// The implementation of invert() for problems that have `g`.
Outcome invert_linear(const Problem& problem, const Settings& settings,
                      const std::function<void(const Iteration&)>& seen = {}, Progress* progress = nullptr,
                      Keeper* keeper = nullptr);

}  // namespace terrane::inversion
