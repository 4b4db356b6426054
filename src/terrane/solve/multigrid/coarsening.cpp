#include "terrane/solve/multigrid/coarsening.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace terrane::solve {

namespace {

/// The spacings that remain after coarsening to H = target: an inner point is removed if the previous point
/// stays and the sum of its two spacings is at most 2 H.
std::vector<double> thinned(const std::vector<double>& spacing, double target) {
  std::vector<double> coarse;
  bool before_stays = true;
  double sum = 0;
  for (std::size_t n = 0; n < spacing.size(); ++n) {
    sum += spacing[n];
    const bool last = n + 1 == spacing.size();
    const bool stays = last || !before_stays || spacing[n] + spacing[n + 1] > 2 * target;
    if (stays) {
      coarse.push_back(sum);
      sum = 0;
    }
    before_stays = stays;
  }
  return coarse;
}

double points(const std::array<std::vector<double>, 3>& spacing) {
  double product = 1;
  for (const auto& axis : spacing) product *= static_cast<double>(axis.size() + 1);
  return product;
}

}  // namespace

double points_of_coarser_levels(const std::array<std::span<const double>, 3>& faces) {
  std::array<std::vector<double>, 3> spacing;
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t n = 0; n + 1 < faces[a].size(); ++n) spacing[a].push_back(faces[a][n + 1] - faces[a][n]);
    for (const double h : spacing[a]) smallest = std::min(smallest, h);
    largest = std::max(largest, faces[a].back() - faces[a].front());
  }
  const double finest = points(spacing);
  double all = 0, before = finest;
  for (double target = 1.5 * smallest; target < 2 * largest; target *= 2) {
    for (auto& axis : spacing) axis = thinned(axis, target);
    const double now = points(spacing);
    if (now < before) all += now;
    before = now;
  }
  return all / finest;
}

}  // namespace terrane::solve
