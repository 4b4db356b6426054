#include "terrane/mesh/widths.hpp"

#include <algorithm>
#include <cmath>

namespace terrane {

namespace {

double width_of(const WidthWish& wish, double place) {
  const double away = std::max({wish.low - place, place - wish.high, 0.0});
  return away == 0 ? wish.width : wish.width + away * std::log(wish.growth);
}

double least_of(const std::vector<WidthWish>& wishes, double place) {
  double width = INFINITY;
  for (const auto& wish : wishes) width = std::min(width, width_of(wish, place));
  return width;
}

/// Ascending coordinates, and the number of cells below each.
struct Counted {
  std::vector<double> places, cells;
};

Counted count_between(const WidthAxis& axis, double low, double high) {
  constexpr double step = 0.1;  // step of integration, in cells
  Counted all{{low}, {0}};
  double width = width_at(axis, low);
  while (all.places.back() < high) {
    const double last = all.places.back();
    // If the width decreases along the step, the step is based on the smaller width at the step's end.
    double next = std::min(high, last + step * width);
    next = std::min(high, last + step * std::min(width, std::max(width_at(axis, next), width / 4)));
    if (high - next < 1e-9 * (high - low) || !(next > last)) next = high;
    const double beside = width_at(axis, next);
    all.places.push_back(next);
    all.cells.push_back(all.cells.back() + (next - last) * (1 / width + 1 / beside) / 2);
    width = beside;
  }
  return all;
}

/// The coordinate below which there are `cells` cells.
double place_of(const Counted& counted, double cells) {
  const auto after = static_cast<std::size_t>(
      std::upper_bound(counted.cells.begin() + 1, counted.cells.end() - 1, cells) - counted.cells.begin());
  const double low = counted.cells[after - 1], high = counted.cells[after];
  return counted.places[after - 1] +
         (cells - low) / (high - low) * (counted.places[after] - counted.places[after - 1]);
}

}  // namespace

std::vector<WidthWish> without_others(std::vector<WidthWish> wishes) {
  std::sort(wishes.begin(), wishes.end(),
            [](const WidthWish& one, const WidthWish& other) { return one.width < other.width; });
  std::vector<WidthWish> kept;
  for (const auto& wish : wishes) {
    const auto asked = [&](double place) { return least_of(kept, place) <= 1.1 * wish.width; };
    bool all = !kept.empty() && asked(wish.low) && asked(wish.high);
    // The wishes kept so far may ask for narrow cells at both ends of this interval but for wider ones
    // inside. So seven points inside are tested, too.
    for (int n = 1; n < 8 && all; ++n) all = asked(wish.low + (wish.high - wish.low) * n / 8);
    if (!all) kept.push_back(wish);
  }
  return kept;
}

double width_at(const WidthAxis& axis, double place) {
  const double inside = std::clamp(place, axis.low, axis.high);
  return least_of(axis.wishes, inside) + std::abs(place - inside) * std::log(axis.growth);
}

std::vector<double> faces_of_widths(const WidthAxis& axis) {
  auto wanted = axis.wanted;
  wanted.push_back(axis.from);
  wanted.push_back(axis.to);
  std::sort(wanted.begin(), wanted.end());
  std::vector<double> faces;
  for (const double next : wanted) {
    if (next < axis.from || next > axis.to) continue;
    if (faces.empty()) {
      faces.push_back(next);
      continue;
    }
    const double last = faces.back();
    if (next - last < 1e-6 * width_at(axis, next)) continue;
    const auto counted = count_between(axis, last, next);
    const double cells = counted.cells.back();
    int pieces = std::max(1, static_cast<int>(std::ceil(cells - 0.2)));
    for (const auto& one : axis.least)
      if (one.low <= last && next <= one.high)
        pieces = std::max(
            pieces, static_cast<int>(std::ceil(one.cells * (next - last) / (one.high - one.low) - 1e-9)));
    for (int n = 1; n < pieces; ++n) faces.push_back(place_of(counted, cells * n / pieces));
    faces.push_back(next);
  }
  return faces;
}

}  // namespace terrane
