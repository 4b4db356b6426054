#include "terrane/solve/networks/network.hpp"

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

void detail::check_numbers(Device device, const IndexBox<3>& box) {
  // A GridView computes offsets from point (0, 0, 0) of the whole grid with the strides of this box, which
  // need not contain that point.
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  const auto number = [&](const Index(&at)[3]) {
    return std::abs(at[0] * box.size(1) * box.size(2) + at[1] * box.size(2) + at[2]);
  };
  if (const Index largest = std::max(number(box.first), number(box.last));
      device.kind == Device::Kind::cuda && largest > most)
    throw ShapeError(
        "grid", fmt::format("its points have numbers up to {} on this GPU, which takes {}", largest, most),
        "Share the grid among more GPUs, or compute on the CPU.");
}

detail::Rows detail::rows_of(Device device, const IndexBox<3>& box, std::size_t bytes_of_a_value) {
  if (device.kind != Device::Kind::cuda || box.empty()) return {box, 0};
  for (Index line = 128; line >= 32; line /= 2) {
    const Index values = line / static_cast<Index>(bytes_of_a_value);
    const Index row = (box.size(2) + values - 1) / values * values;
    if (20 * (row - box.size(2)) > box.size(2)) continue;
    return {box.with(2, box.first[2], box.first[2] + row), static_cast<std::size_t>(values - 1)};
  }
  return {box, 0};
}

}  // namespace terrane::solve
