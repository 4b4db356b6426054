#include "terrane/physics/heat/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "terrane/base/error.hpp"

namespace terrane::heat {

namespace {

constexpr std::array axis_names{"easting", "northing", "up"};

/// The cell that contains a point along one axis, and its neighbours; s: the point's coordinate.
struct Line {
  // Indices of the cells below, here and above; a neighbour beyond a side: the cell itself.
  std::array<std::size_t, 3> cell{};
  std::array<double, 3> sign{1, 1, 1};  // −1 for the cell's mirror image beyond a side with T = 0
  std::array<double, 3> x{};            // centres of the three cells minus s, ascending
  std::array<double, 3> k{};            // thermal conductivities of the three cells, W/(m K)
  double west = 0, east = 0;            // faces of the cell minus s
  // −1: T = 0 at the cell's lower face; 1: at its upper face; 0: at neither, or the axis has one cell.
  int fixed = 0;
  bool single = false;  // whether the axis has one cell with insulated sides, so that nothing varies along it

  bool is_even() const {
    return std::abs(k[0] - k[1]) <= 1e-12 * k[1] && std::abs(k[2] - k[1]) <= 1e-12 * k[1];
  }
  /// The least and the largest σ² for which no weight is negative.
  double least() const { return x[1] <= 0 ? -x[1] * x[2] : -x[0] * x[1]; }
  double most() const { return -x[0] * x[2]; }
};

Line line_through(const Problem& p, int axis, const std::array<std::size_t, 3>& cell, double s) {
  const auto a = static_cast<std::size_t>(axis);
  const std::array all{&p.mesh.easting(), &p.mesh.northing(), &p.mesh.up()};
  const auto& faces = *all[a];
  const std::size_t n = cell[a], last = faces.size() - 2;
  const auto centre = [&](std::size_t m) { return (faces[m] + faces[m + 1]) / 2 - s; };
  const auto k_of = [&](std::size_t m) {
    auto there = cell;
    there[a] = m;
    return p.conductivity[p.mesh.index(there[0], there[1], there[2])];
  };
  const double beyond = p.boundary == Boundary::fixed ? -1 : 1;
  Line line;
  line.west = faces[n] - s, line.east = faces[n + 1] - s;
  line.cell = {n > 0 ? n - 1 : n, n, n < last ? n + 1 : n};
  line.sign = {n > 0 ? 1 : beyond, 1, n < last ? 1 : beyond};
  line.x = {n > 0 ? centre(n - 1) : 2 * line.west - centre(n), centre(n),
            n < last ? centre(n + 1) : 2 * line.east - centre(n)};
  line.k = {k_of(line.cell[0]), k_of(n), k_of(line.cell[2])};
  if (p.boundary == Boundary::fixed && last > 0) line.fixed = n == 0 ? -1 : n == last ? 1 : 0;
  line.single = last == 0 && p.boundary == Boundary::insulated;
  return line;
}

/// Near a side with T = 0, at a distance x from it: the temperature whose heat flow matches those through the
/// two faces of the cell. With T₁ of the cell (width w, conductivity k), T₂ of its neighbour, and G the
/// conductance per area between their centres,
///   k T = F₀ x + (F₁ − F₀) (x² + σ²)/2w,   F₀ = 2k T₁/w,   F₁ = G (T₂ − T₁)
/// where σ² is the spread along the other axes (places.hpp) minus w²/4, the spread of the scheme itself near
/// the side.
std::array<double, 3> weights_beside(const Line& line, double sigma2) {
  const bool below = line.fixed < 0;
  const double w = line.east - line.west, x = below ? -line.west : line.east,
               next = below ? line.x[2] - line.east : line.west - line.x[0],
               ratio = 1 / (0.5 + next / w * line.k[1] / line.k[below ? 2 : 0]),  // G w / k
      more = line.is_even() ? std::max(0.0, sigma2 - w * w / 4) : 0, bent = (x * x + more) / (2 * w * w);
  const double here = 2 * x / w - (ratio + 2) * bent, there = ratio * bent;
  return below ? std::array{0.0, here, there} : std::array{there, here, 0.0};
}

/// The weights of the three cells.
std::array<double, 3> weights_of(const Line& line, double sigma2) {
  if (line.single) return {0, 1, 0};
  if (line.fixed != 0) return weights_beside(line, sigma2);
  const auto& [a, b, c] = line.x;
  if (line.is_even()) {
    const double s2 = std::clamp(sigma2, line.least(), line.most());
    return {(s2 + b * c) / ((a - b) * (a - c)), (s2 + a * c) / ((b - a) * (b - c)),
            (s2 + a * b) / ((c - a) * (c - b))};
  }
  if (b <= 0) {  // the point is between the centres of this cell and the next
    const double here = -b / line.k[1], there = line.east / line.k[1] + (c - line.east) / line.k[2];
    return {0, there / (here + there), here / (here + there)};
  }
  const double here = b / line.k[1], there = -line.west / line.k[1] + (line.west - a) / line.k[0];
  return {here / (here + there), there / (here + there), 0};
}

std::size_t cell_along(const std::vector<double>& faces, double at, const char* axis,
                       const std::string& where) {
  if (!(at >= faces.front() && at <= faces.back()))
    throw InputError(where, fmt::format("{} {} m lies outside the mesh", axis, at),
                     fmt::format("It reaches from {} to {} m.", faces.front(), faces.back()));
  return static_cast<std::size_t>(std::upper_bound(faces.begin() + 1, faces.end() - 1, at) - faces.begin()) -
         1;
}

}  // namespace

Weights weights_at(const Problem& p, const std::array<double, 3>& at, const std::string& where) {
  const std::array faces{&p.mesh.easting(), &p.mesh.northing(), &p.mesh.up()};
  std::array<std::size_t, 3> cell{};
  for (std::size_t a = 0; a < 3; ++a) cell[a] = cell_along(*faces[a], at[a], axis_names[a], where);
  std::array<Line, 3> lines;
  double sigma2 = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    lines[a] = line_through(p, static_cast<int>(a), cell, at[a]);
    if (!lines[a].single && lines[a].is_even()) sigma2 = std::max(sigma2, lines[a].least());
  }
  const std::array w{weights_of(lines[0], sigma2), weights_of(lines[1], sigma2),
                     weights_of(lines[2], sigma2)};
  std::map<std::size_t, double> sum;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t i = 0; i < 3; ++i)
        sum[p.mesh.index(lines[0].cell[i], lines[1].cell[j], lines[2].cell[k])] +=
            w[0][i] * lines[0].sign[i] * w[1][j] * lines[1].sign[j] * w[2][k] * lines[2].sign[k];
  Weights weights;
  for (const auto& entry : sum)
    if (std::abs(entry.second) > 1e-14) weights.emplace_back(entry);  // smaller weights are rounding errors
  return weights;
}

std::vector<Weights> record_at(Problem& problem, const std::vector<std::array<double, 3>>& points,
                               const std::string& where) {
  std::vector<Weights> all;
  auto& cells = problem.receivers;
  for (std::size_t n = 0; n < points.size(); ++n) {
    all.push_back(weights_at(problem, points[n], fmt::format("{} {}", where, n + 1)));
    for (const auto& [cell, weight] : all.back()) cells.push_back(cell);
  }
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  for (auto& weights : all)
    for (auto& [cell, weight] : weights)
      cell = static_cast<std::size_t>(std::lower_bound(cells.begin(), cells.end(), cell) - cells.begin());
  return all;
}

std::vector<double> temperatures_at(const std::vector<Weights>& points, const std::vector<double>& series,
                                    std::size_t cells) {
  const std::size_t rows = cells == 0 ? 0 : series.size() / cells;
  std::vector<double> temperatures;
  temperatures.reserve(rows * points.size());
  for (std::size_t row = 0; row < rows; ++row)
    for (const auto& weights : points) {
      double sum = 0;
      for (const auto& [cell, weight] : weights) sum += weight * series[row * cells + cell];
      temperatures.push_back(sum);
    }
  return temperatures;
}

}  // namespace terrane::heat
