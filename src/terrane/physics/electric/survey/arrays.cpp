#include "terrane/physics/electric/survey/arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <tuple>

#include "terrane/base/error.hpp"

namespace terrane::electric {

namespace {

/// Positions of a, b, m, n for level n, counted from the first electrode of the array; or far_away.
std::array<int, 4> pattern(ArrayKind kind, int n) {
  constexpr int far = Array::far_away;
  switch (kind) {
    case ArrayKind::dipole_dipole:
      return {1, 0, 1 + n, 2 + n};
    case ArrayKind::pole_dipole:
      return {0, far, n, n + 1};
    case ArrayKind::pole_pole:
      return {0, far, n, far};
    case ArrayKind::wenner:
      return {0, 3 * n, n, 2 * n};
    case ArrayKind::schlumberger:
      return {0, 2 * n + 1, n, n + 1};
    case ArrayKind::gradient:
      break;  // gradient arrays have no pattern: their current electrodes do not move
  }
  return {far, far, far, far};
}

}  // namespace

std::vector<Point> ElectrodeLine::points() const {
  const double radians = azimuth * std::numbers::pi / 180;
  const auto exact = [](double part) { return std::abs(part) < 1e-15 ? 0 : part; };  // gives cos 90° = 0
  const double east = exact(std::sin(radians)), north = exact(std::cos(radians));
  std::vector<Point> all;
  for (std::size_t n = 0; n < count; ++n) {
    const double along = spacing * static_cast<double>(n);
    all.push_back({start.e + along * east, start.n + along * north, start.u});
  }
  return all;
}

Electrodes arrays_on_line(const ElectrodeLine& line, ArrayKind kind, std::size_t levels) {
  Electrodes electrodes{line.points(), {}};
  const int count = static_cast<int>(line.count);
  for (int n = 1; n <= static_cast<int>(std::min<std::size_t>(levels, line.count)); ++n) {
    if (kind == ArrayKind::gradient) {
      for (int m = 1; m + n + 1 < count; ++m) electrodes.arrays.push_back({0, count - 1, m, m + n});
      continue;
    }
    const auto places = pattern(kind, n);
    const int reach = *std::max_element(places.begin(), places.end());
    for (int first = 0; first + reach < count; ++first) {
      const auto at = [&](std::size_t p) {
        return places[p] == Array::far_away ? places[p] : first + places[p];
      };
      electrodes.arrays.push_back({at(0), at(1), at(2), at(3)});
    }
  }
  if (electrodes.arrays.empty())
    throw InputError("survey.electrodes",
                     fmt::format("no {} array fits {} electrodes",
                                 array_names[static_cast<std::size_t>(kind)], line.count),
                     "Such an array needs two to four electrodes: give more of them.");
  return electrodes;
}

Electrodes arrays_across(const HolePair& holes, std::size_t levels) {
  Electrodes electrodes;
  const int count = static_cast<int>(holes.count);
  for (const auto& top : {holes.first, holes.second})
    for (int n = 0; n < count; ++n) electrodes.place.push_back({top.e, top.n, top.u - n * holes.spacing});
  for (int n = 1; n <= static_cast<int>(std::min<std::size_t>(levels, holes.count)); ++n)
    for (int upper = 0; upper + n < count; ++upper) {
      const int lower = upper + n;
      electrodes.arrays.push_back({upper, count + upper, lower, count + lower});
      electrodes.arrays.push_back({lower, count + lower, upper, count + upper});
    }
  if (electrodes.arrays.empty())
    throw InputError("survey.electrodes", "holes need two electrodes each", "Give more of them.");
  return electrodes;
}

Point plotting_point(const Electrodes& electrodes, const Array& array, double surface) {
  std::vector<Point> points;
  for (const int n : {array.a, array.b, array.m, array.n})
    if (n != Array::far_away) points.push_back(electrodes.place[static_cast<std::size_t>(n)]);
  std::sort(points.begin(), points.end(),
            [](const Point& p, const Point& q) { return std::tie(p.e, p.n, p.u) < std::tie(q.e, q.n, q.u); });
  Point middle{0, 0, surface};
  double widest = 0, height = 0;
  for (std::size_t n = 0; n < points.size(); ++n) {
    height += points[n].u / static_cast<double>(points.size());
    middle.e += points[n].e / static_cast<double>(points.size());
    middle.n += points[n].n / static_cast<double>(points.size());
    if (n > 0)
      widest = std::max(widest, std::hypot(points[n].e - points[n - 1].e, points[n].n - points[n - 1].n));
  }
  middle.u = std::min(surface, height) - widest / 2;
  return middle;
}

}  // namespace terrane::electric
