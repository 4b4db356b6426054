#include "terrane/physics/heat/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane::heat {

namespace {

void check(std::string_view what, const std::vector<double>& values, std::size_t cells, double least) {
  if (values.size() != cells)
    throw ShapeError(fmt::format("heat: {}", what),
                     fmt::format("{} values for {} cells", values.size(), cells));
  const auto n = first_where(
      cells, 0, [&](std::size_t cell) { return !std::isfinite(values[cell]) || values[cell] < least; });
  if (n < cells)
    throw InputError(fmt::format("heat: {}", what), fmt::format("{} in cell {}", values[n], n),
                     least > 0 ? "It must be more than zero." : "It must be a finite number.");
}

const std::vector<double>& faces(const TensorMesh& mesh, int axis) {
  return axis == 0 ? mesh.up() : axis == 1 ? mesh.northing() : mesh.easting();
}

double width(const TensorMesh& mesh, int axis, std::ptrdiff_t n) {
  const auto& all = faces(mesh, axis);
  return all[static_cast<std::size_t>(n) + 1] - all[static_cast<std::size_t>(n)];
}

}  // namespace

double conductance(const Problem& problem, int axis, std::array<std::ptrdiff_t, 3> at) {
  const auto& mesh = problem.mesh;
  const auto half = [&](std::array<std::ptrdiff_t, 3> cell) {
    const auto n = mesh.index(static_cast<std::size_t>(cell[2]), static_cast<std::size_t>(cell[1]),
                              static_cast<std::size_t>(cell[0]));
    return width(mesh, axis, cell[static_cast<std::size_t>(axis)]) / (2 * problem.conductivity[n]);
  };
  double area = 1;
  for (int other = 0; other < 3; ++other)
    if (other != axis) area *= width(mesh, other, at[static_cast<std::size_t>(other)]);
  auto below = at;
  --below[static_cast<std::size_t>(axis)];
  const auto cells = static_cast<std::ptrdiff_t>(faces(mesh, axis).size()) - 1;
  const bool first = at[static_cast<std::size_t>(axis)] == 0,
             last = at[static_cast<std::size_t>(axis)] == cells;
  if ((first || last) && problem.boundary == Boundary::insulated) return 0;
  return area / (first ? half(at) : last ? half(below) : half(below) + half(at));
}

double Problem::volume(std::size_t cell) const {
  const auto p = mesh.prism(cell);
  return (p.east - p.west) * (p.north - p.south) * (p.top - p.bottom);
}

double Problem::stable_step() const {
  return -largest_value(mesh.size(), 0, [&](std::size_t n) {
    const auto [i, j, k] = mesh.cell(n);
    const std::array<std::ptrdiff_t, 3> at{static_cast<std::ptrdiff_t>(k), static_cast<std::ptrdiff_t>(j),
                                           static_cast<std::ptrdiff_t>(i)};
    double all = 0;
    for (int axis = 0; axis < 3; ++axis) {
      auto above = at;
      ++above[static_cast<std::size_t>(axis)];
      all += conductance(*this, axis, at) + conductance(*this, axis, above);
    }
    return -volume(n) * capacity[n] / all;
  });
}

std::size_t Problem::steps() const { return static_cast<std::size_t>(std::llround(end / step)); }

void Problem::settle() {
  check("conductivity", conductivity, mesh.size(), std::numeric_limits<double>::min());
  check("capacity", capacity, mesh.size(), std::numeric_limits<double>::min());
  check("initial", initial, mesh.size(), -std::numeric_limits<double>::max());
  check("power", power, mesh.size(), -std::numeric_limits<double>::max());
  if (production.empty()) production.assign(mesh.size(), 0.0);
  check("production", production, mesh.size(), -std::numeric_limits<double>::max());
  check_fields("heat", *this);
  for (const auto cell : receivers)
    if (cell >= mesh.size()) throw InputError("heat: receivers", fmt::format("there is no cell {}", cell));
  const double stable = stable_step();
  constexpr double implicit_pays = 20;  // explicit steps that take as long as one implicit step
  if (method == Method::automatic)
    method =
        std::max(step, end / 100) > implicit_pays * stable ? Method::implicit_steps : Method::explicit_steps;
  const bool is_explicit = method == Method::explicit_steps;
  if (step == 0) step = std::min(end, is_explicit ? stable / 2 : end / 100);
  if (is_explicit && step > stable * (1 + 1e-12))
    throw InputError(
        "heat: step", fmt::format("{:.6g} s is not stable on this mesh", step),
        fmt::format("Explicit steps may be {:.6g} s at most; or take method = \"implicit\".", stable));
  const double whole = std::ceil(end / step * (1 - 1e-12));
  if (whole > 1e9) throw InputError("heat: step", fmt::format("{:.3g} steps are too many", whole));
  step = end / whole;
}

}  // namespace terrane::heat
