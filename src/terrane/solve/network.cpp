#include "terrane/solve/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "terrane/base/error.hpp"

namespace terrane::solve {

double smallest_spacing(const std::array<AxisSpacing, 3>& axes) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& axis : axes)
    for (std::size_t p = 0; p < axis.spacing.size(); ++p) {
      if ((p == 0 && axis.natural_low) || (p + 1 == axis.spacing.size() && axis.natural_high)) continue;
      if (!(axis.spacing[p] > 0) || !std::isfinite(axis.spacing[p]))
        throw InputError("multigrid", fmt::format("spacing {} of an axis is {}", p, axis.spacing[p]),
                         "Allowed: positive and finite.");
      least = std::min(least, axis.spacing[p]);
    }
  return least;
}

void detail::check_numbers(Device device, Index points) {
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  if (device.kind == Device::Kind::cuda && points > most)
    throw ShapeError("grid", fmt::format("{} points are more than the {} that a GPU takes", points, most),
                     "Share the grid among several GPUs, or compute on the CPU.");
}

}  // namespace terrane::solve
