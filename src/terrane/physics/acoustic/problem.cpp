#include "terrane/physics/acoustic/problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/physics/acoustic/formula/interpolation.hpp"
#include "terrane/physics/acoustic/formula/time_dispersion.hpp"
#include "terrane/simulation/wavelet_cut.hpp"

namespace terrane::acoustic {

namespace {

constexpr double fewest_points_per_wavelength = 2.5;
constexpr double slower_than_any_medium = 20;  ///< m/s
constexpr const char* axis_names[3] = {"up", "northing", "easting"};

double usual_start(Wavelet wavelet) {
  wavelet.delay = -1;
  return wavelet.start();
}

bool is_layer(Boundary side) { return side == Boundary::cpml || side == Boundary::sponge; }

void check_velocity(const Problem& p) {
  const auto cells = static_cast<std::size_t>(p.grid.box().count());
  if (p.velocity.size() != cells)
    throw ShapeError("acoustic: velocity", fmt::format("{} values for {} nodes", p.velocity.size(), cells));
  const auto wrong = first_where(
      cells, 0, [&](std::size_t n) { return !std::isfinite(p.velocity[n]) || p.velocity[n] <= 0; });
  if (wrong < cells)
    throw InputError("acoustic: velocity", fmt::format("{} m/s in cell {}", p.velocity[wrong], wrong),
                     "It must be more than zero everywhere; paint water and air, too.");
}

/// Throws unless there is one value for each node, between two bounds.
void check_values(const Problem& p, const std::vector<double>& values, const char* name, double least,
                  double most, const char* next) {
  if (values.size() != p.velocity.size())
    throw ShapeError(fmt::format("acoustic: {}", name),
                     fmt::format("{} values for {} nodes", values.size(), p.velocity.size()));
  const auto n =
      first_where(values.size(), 0, [&](std::size_t i) { return !(values[i] > least && values[i] < most); });
  if (n < values.size())
    throw InputError(fmt::format("acoustic: {}", name), fmt::format("{} in cell {}", values[n], n), next);
}

void check_medium(const Problem& p) {
  if (p.equation == Equation::variable_density)
    check_values(p, p.density, "density", 0, 1e9,
                 "Densities are in kg/m³ and more than zero everywhere; paint water, too.");
  if (p.fields() == 1) return;
  check_values(p, p.epsilon, "epsilon", -0.5, 10, "Thomsen's epsilon lies between -0.5 and 10.");
  check_values(p, p.delta, "delta", -0.5, 10, "Thomsen's delta lies between -0.5 and 10.");
  const auto n = first_where(p.epsilon.size(), 0,
                             [&](std::size_t cell) { return p.epsilon[cell] < p.delta[cell] - 1e-12; });
  if (n < p.epsilon.size())
    throw InputError("acoustic: epsilon",
                     fmt::format("{} is less than delta, {}, in cell {}", p.epsilon[n], p.delta[n], n),
                     "The equations of acoustic waves grow without bounds there; raise epsilon to delta.");
  if (p.equation != Equation::tti) return;
  for (const auto* angles : {&p.tilt, &p.azimuth})
    check_values(p, *angles, angles == &p.tilt ? "tilt" : "tilt_azimuth", -10, 10, "Angles are in radians.");
}

/// Adds the bound S Σ_m |a_m| (b₊ + b₋) / h² of longest_step_of_densities() on one axis to `total`, for all
/// nodes of a row. half: a_m; sum: S; h: spacing.  densities(n): ρ of the row that is n nodes further on this
/// axis
template <class Densities>
void add_bound(const std::vector<double>& half, double sum, double h, const Densities& densities,
               std::vector<double>& total) {
  std::vector<double> around(total.size(), 0);
  for (std::size_t m = 0; m < half.size(); ++m) {
    const auto r = static_cast<Index>(m);
    const double *const here = densities(r), *const after = densities(r + 1), *const before = densities(-r),
                        *const behind = densities(-r - 1);
    const double weight = std::abs(half[m]);
    for (std::size_t i = 0; i < total.size(); ++i)
      around[i] += weight * (2 / (here[i] + after[i]) + 2 / (before[i] + behind[i]));
  }
  for (std::size_t i = 0; i < total.size(); ++i) total[i] += sum * around[i] / (h * h);
}

/// The longest stable step with variable density, from a bound of the operator, with b = 1/ρ half-way between
/// nodes (b₊, b₋ on the two sides of a node) and the coefficients a_m of staggered differences:
/// Σ b (D⁺p)² ≤ Σ p² S Σ_m |a_m| (b₊ + b₋), S = 2 Σ|a|.
double longest_step_of_densities(const Problem& p) {
  const auto half = differences(p.order, p.coefficients, p.equation).half;
  const auto box = p.grid.box();
  const Index rows = box.size(1), nodes = box.size(2), reach = std::ssize(half);
  double sum = 0;
  for (const double a : half) sum += 2 * std::abs(a);
  std::vector<double> highest(static_cast<std::size_t>(box.size(0)), 0);  // maximum of each plane
  for_each(highest.size(), 0, [&](std::size_t plane) {
    const auto k = static_cast<Index>(plane);
    std::vector<double> total(static_cast<std::size_t>(nodes)),
        wide(static_cast<std::size_t>(nodes + 2 * reach));  // a row, continued by its outermost values
    const auto row_at = [&](Index up, Index north) {
      const Index there =
          std::clamp<Index>(up, 0, box.size(0) - 1) * rows + std::clamp<Index>(north, 0, rows - 1);
      return p.density.data() + there * nodes;
    };
    for (Index j = 0; j < rows; ++j) {
      std::fill(total.begin(), total.end(), 0.0);
      const double* const row = row_at(k, j);
      for (Index i = -reach; i < nodes + reach; ++i)
        wide[static_cast<std::size_t>(i + reach)] = row[std::clamp<Index>(i, 0, nodes - 1)];
      const auto add = [&](std::size_t axis, const auto& densities) {
        if (p.grid.there(static_cast<int>(axis)))
          add_bound(half, sum, p.grid.spacing[axis], densities, total);
      };
      add(0, [&](Index n) { return row_at(k + n, j); });
      add(1, [&](Index n) { return row_at(k, j + n); });
      add(2, [&](Index n) { return wide.data() + reach + n; });
      const double* const v = p.velocity.data() + (k * rows + j) * nodes;
      for (Index i = 0; i < nodes; ++i)
        highest[plane] = std::max(highest[plane], total[static_cast<std::size_t>(i)] * row[i] * v[i] * v[i]);
    }
  });
  return 2 / std::sqrt(*std::max_element(highest.begin(), highest.end()));
}

void check_place(const Problem& p, const Place& place, const std::string& what) {
  for (int a = 0; a < 3; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    const double x = p.grid.steps(place, a), last = static_cast<double>(p.grid.nodes[axis]) - 0.5;
    if (!(x >= -0.5 - 1e-9 && x <= last + 1e-9))
      throw InputError(
          what, fmt::format("{} {} m lies outside the mesh", axis_names[a], place[2 - axis]),
          fmt::format("It reaches from {:.6g} to {:.6g} m.", p.grid.first[axis] - 0.5 * p.grid.spacing[axis],
                      p.grid.first[axis] + last * p.grid.spacing[axis]));
    for (std::size_t side = 0; side < 2; ++side)
      if (p.grid.there(a) && p.sides[axis][side] == Boundary::free_surface &&
          std::abs(x - (side == 0 ? -0.5 : last)) < 1e-6)
        throw InputError(what, "lies on the free surface, where the pressure is zero",
                         "Move it at least a small part of a cell into the mesh.");
  }
}

}  // namespace

double Grid::volume() const {
  double volume = 1;
  for (std::size_t a = 0; a < 3; ++a)
    if (nodes[a] > 1) volume *= spacing[a];
  return volume;
}

double Problem::slowest() const {
  const auto in_any_direction = [&](std::size_t n) {
    return fields() == 1 ? velocity[n] : velocity[n] * slowest_direction(epsilon[n], delta[n]);
  };
  return -largest_value(velocity.size(), 0, [&](std::size_t n) { return -in_any_direction(n); });
}

double Problem::fastest() const {
  if (fields() == 1) return largest_value(velocity.size(), 0, [&](std::size_t n) { return velocity[n]; });
  return largest_value(velocity.size(), 0, [&](std::size_t n) {
    return velocity[n] * std::sqrt(std::max(1.0, 1 + 2 * epsilon[n]));
  });
}

double Problem::longest_step() const {
  if (equation == Equation::variable_density) return longest_step_of_densities(*this);
  return acoustic::longest_step(differences(order, coefficients), grid.spacing, grid.axes(), fastest());
}

double Problem::source_factor(const Place& place) const {
  if (equation != Equation::variable_density) return 1;
  Index cell = 0;
  for (int a = 0; a < 3; ++a) {
    const Index last = grid.nodes[static_cast<std::size_t>(a)] - 1;
    cell = cell * (last + 1) +
           (grid.there(a) ? std::clamp<Index>(std::llround(grid.steps(place, a)), 0, last) : 0);
  }
  return 1 / density[static_cast<std::size_t>(cell)];
}

double Problem::points_per_wavelength(double slowest) const {
  double widest_step = 0;
  for (int a = 0; a < 3; ++a)
    if (grid.there(a)) widest_step = std::max(widest_step, grid.spacing[static_cast<std::size_t>(a)]);
  return slowest / (wavelet.highest_frequency() * widest_step);
}

double Problem::group_error(double slowest) const {
  return differences(order, coefficients, equation).worst_group_error(points_per_wavelength(slowest));
}

std::size_t Problem::steps() const { return static_cast<std::size_t>(std::llround(end / step)) + 1; }

std::vector<double> Problem::source_series() const {
  auto series = wavelet.at(step, steps());
  if (exact_time) warp(series, series.size(), Dispersion::put_in, 1);
  return series;
}

std::vector<std::string> Problem::doubts_of_wavelet() const {
  std::vector<std::string> doubts;
  if (wavelet.largest() == 0) doubts.emplace_back("the amplitude of the source is zero: nothing is sent");
  auto cut = cut_of_wavelet(wavelet.course(), wavelet.begins(), wavelet.ends(), 0, end);
  if (!cut) return doubts;
  if (wavelet.begins() < 0)
    *cut += fmt::format("; without a delay its middle is at {:.4g} s", usual_start(wavelet));
  doubts.push_back(std::move(*cut));
  return doubts;
}

Index Problem::points() const {
  if (equation != Equation::constant_density) return order <= 8 ? 4 : 8;
  return std::max<Index>(2, (order / 2 + 1) / 2 * 2);
}

Index Problem::reach() const {
  return equation == Equation::variable_density || equation == Equation::tti ? 2 * points() : points();
}

Index Problem::margin(int axis, int side) const {
  const auto kind = sides[static_cast<std::size_t>(axis)][static_cast<std::size_t>(side)];
  if (!grid.there(axis) || !is_layer(kind)) return 0;
  const Index turning = equation == Equation::tti && kind == Boundary::cpml ? turning_nodes : 0;
  const Index sampled = radius + (hears_velocities() ? order / 2 : 0);
  return layers.points + turning + std::max<Index>(sampled, reach());
}

IndexBox<3> Problem::whole() const {
  auto box = grid.box();
  for (int a = 0; a < 3; ++a) box = box.grown(a, margin(a, 0), margin(a, 1));
  return box;
}

namespace {

void check_record(const Problem& p) {
  if (p.record.empty())
    throw InputError("acoustic: record", "nothing is recorded", "Such as record = \"pressure\".");
  for (std::size_t n = 0; n < p.record.size(); ++n)
    if (std::find(p.record.begin(), p.record.begin() + static_cast<std::ptrdiff_t>(n), p.record[n]) !=
        p.record.begin() + static_cast<std::ptrdiff_t>(n))
      throw InputError("acoustic: record", "the same is recorded twice");
  if (!p.hears_velocities()) return;
  const bool northward =
      std::find(p.record.begin(), p.record.end(), Component::velocity_north) != p.record.end();
  if (northward && !p.grid.there(north))
    throw InputError("acoustic: record", "the mesh is one cell wide along northing: nothing moves that way",
                     "Take velocity_north away.");
}

}  // namespace

void Problem::settle() {
  for (std::size_t a = 0; a < 3; ++a)
    if (grid.nodes[a] < 1 || !(grid.spacing[a] > 0) || !std::isfinite(grid.spacing[a]) ||
        !std::isfinite(grid.first[a]))
      throw InputError("acoustic: grid", fmt::format("{} nodes {} m apart on the axis {}", grid.nodes[a],
                                                     grid.spacing[a], axis_names[a]));
  if (!grid.there(up) || !grid.there(east))
    throw InputError("acoustic: grid", "it has one node on the axis up or easting",
                     "A grid of two dimensions has one node along northing.");
  check_velocity(*this);
  check_medium(*this);
  const auto scheme = differences(order, coefficients, equation);
  wavelet.check();
  check_fields("acoustic", *this);
  if (layers.frequency == 0) layers.frequency = wavelet.main_frequency();
  sinc_weights(0.5, radius);
  check_record(*this);
  const double least = slowest(), ppw = points_per_wavelength(least);
  if (ppw < fewest_points_per_wavelength)
    throw InputError(
        "acoustic: grid",
        fmt::format("{:.3g} points per wavelength of {:.4g} Hz in a medium of {:.4g} m/s", ppw,
                    wavelet.highest_frequency(), least),
        fastest() < slower_than_any_medium
            ? std::string("Velocities are in m/s; where a file has km/s, say so: model.unit = \"km/s\".")
            : fmt::format(
                  "Take cells of {:.4g} m at most, or a wavelet of {:.3g} times the frequency or lower.",
                  *std::max_element(grid.spacing.begin(), grid.spacing.end()) * ppw /
                      scheme.points_per_wavelength(0.01),
                  ppw / scheme.points_per_wavelength(0.01)));
  const double longest = longest_step();
  if (step == 0) step = 0.9 * longest;
  if (step > longest)
    throw InputError(
        "acoustic: step", fmt::format("{:.6g} s is not stable on this grid at {:.4g} m/s", step, fastest()),
        fmt::format("Steps may be {:.6g} s at most; left open, the step is 0.9 of that.", longest));
  const double whole_steps = std::ceil(end / step * (1 - 1e-12));
  if (whole_steps > 1e8)
    throw InputError("acoustic: end",
                     fmt::format("{:.6g} s are {:.3g} steps of {:.4g} s", end, whole_steps, step),
                     fmt::format("A run takes 1e8 at most, here {:.6g} s.", 1e8 * step));
  end = whole_steps * step;
  if (shots.empty()) throw InputError("acoustic: shots", "there are none", "Give at least one source.");
  for (std::size_t n = 0; n < shots.size(); ++n) {
    if (shots[n].sources.empty()) throw InputError(fmt::format("acoustic: shot {}", n + 1), "has no source");
    for (const auto& at : shots[n].sources)
      check_place(*this, at, fmt::format("acoustic: source of shot {}", n + 1));
    for (std::size_t r = 0; r < shots[n].receivers.size(); ++r)
      check_place(*this, shots[n].receivers[r],
                  fmt::format("acoustic: receiver {} of shot {}", r + 1, n + 1));
  }
}

Component component_of(std::string_view name) {
  const auto* const found = std::find(component_names.begin(), component_names.end(), name);
  if (found == component_names.end())
    throw InputError("acoustic: record", fmt::format("\"{}\" is nothing that receivers record", name),
                     fmt::format("Allowed: {}.", fmt::join(component_names, ", ")));
  return static_cast<Component>(found - component_names.begin());
}

bool Problem::hears_velocities() const {
  return std::any_of(record.begin(), record.end(), [](Component c) { return c != Component::pressure; });
}

std::vector<Tap> Problem::taps(const Shot& shot) const {
  std::vector<Tap> all;
  for (const auto component : record)
    for (const auto& at : shot.receivers) all.push_back({at, component});
  return all;
}

Problem without_medium(const Problem& problem) {
  Problem p;
  p.grid = problem.grid;
  p.equation = problem.equation;
  p.sides = problem.sides;
  p.layers = problem.layers;
  p.order = problem.order;
  p.radius = problem.radius;
  p.record = problem.record;
  return p;
}

std::vector<Tap> pressure_at(std::span<const Place> places) {
  std::vector<Tap> all;
  for (const auto& at : places) all.push_back({at});
  return all;
}

}  // namespace terrane::acoustic
