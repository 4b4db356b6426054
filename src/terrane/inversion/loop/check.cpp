// Checks of the problem and settings before an inversion begins.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/inversion/loop/problem.hpp"

namespace terrane::inversion {

namespace {

void check_data(const Problem& p) {
  if (p.data.size() != p.rows() || p.sigma.size() != p.rows())
    throw ShapeError("inversion: data", fmt::format("{} data and {} uncertainties for {} rows", p.data.size(),
                                                    p.sigma.size(), p.rows()));
  std::size_t used = 0, bad = 0, first = 0;
  for (std::size_t i = 0; i < p.data.size(); ++i) {
    if (std::isnan(p.data[i])) continue;
    ++used;
    if (!(p.sigma[i] > 0) || !std::isfinite(p.sigma[i]) || !std::isfinite(p.data[i]))
      if (bad++ == 0) first = i;
  }
  if (used == 0)
    throw InputError("inversion: data", "there are no data",
                     "Name their columns: g_u_observed, tmi_observed.");
  if (bad > 0)
    throw InputError("inversion: uncertainties",
                     fmt::format("{} of {} data have none above zero (first: row {})", bad, used, first + 1),
                     "Give inversion.floor a value above zero, or a column of uncertainties.");
}

void check_outliers(const Problem& p, const Settings& s) {
  if (s.huber != 0 && !(s.huber >= 0.5))
    throw InputError("inversion.huber", fmt::format("{:g} is not 0.5 or more", s.huber),
                     "1.5 lets data count less from 1.5 standard deviations on; 0 has squares throughout.");
  if (s.huber > 0 && (s.solver == Solver::model_space || s.posterior || s.choice == Choice::gcv ||
                      s.choice == Choice::l_curve))
    throw InputError(
        "inversion.huber", "outliers are weighed where all β are found at once",
        "Take solver = \"data_space\", choice = \"discrepancy\" or \"fixed\", posterior = false.");
  if (s.trend == Trend::none) return;
  constexpr std::size_t terms[] = {0, 1, 3, 6};
  for (const auto& set : p.sets) {
    std::size_t used = 0;
    for (std::size_t i = set.first; i < set.first + set.count; ++i) used += !std::isnan(p.data[i]);
    const std::size_t unknown = terms[static_cast<std::size_t>(s.trend)];
    if (used <= unknown)
      throw InputError("inversion.trend",
                       fmt::format("{} has {} data for the {} numbers of its trend", set.name, used, unknown),
                       "Take a simpler trend, or none.");
  }
}

/// Throws InputError for settings that Gauss-Newton inversions do not have.
void check_steps(const Problem& p, const Settings& s) {
  if (!p.start.empty() && p.start.size() != p.columns())
    throw ShapeError("inversion: start", "there must be one value for every active cell");
  if (s.most_steps < 1) throw InputError("inversion.most_steps", "at least one step is needed");
  if (!(s.cooling > 0 && s.cooling < 1))
    throw InputError("inversion.cooling", fmt::format("{:g} is not between 0 and 1", s.cooling));
  const bool only_linear = s.posterior || s.choice == Choice::gcv || s.choice == Choice::l_curve ||
                           s.solver == Solver::model_space || s.trend != Trend::none;
  if (only_linear)
    throw InputError("inversion", "what was asked for is there for linear physics only",
                     "Leave trend, posterior and solver as they are; choice = \"discrepancy\" or "
                     "\"fixed\".");
  if (!s.norms.square() && s.most_products > 0)
    throw InputError("inversion.norms", "compact norms need more products than most_products allows",
                     "Leave norms = [2, 2, 2, 2].");
}

/// Throws ShapeError, InputError for bounds of the lengths of vectors.
void check_lengths(const Problem& p) {
  const auto& b = p.bounds;
  if (p.components != 3 || b.length.size() != p.cells() || !b.lower.empty())
    throw ShapeError("inversion: bounds", "there must be one length for the vector of every active cell");
  const auto reference = p.reference.empty() ? std::vector<double>(p.cells()) : lengths_of(p.reference, 3);
  for (std::size_t c = 0; c < b.length.size(); ++c) {
    if (!(b.length[c] >= 0))
      throw InputError(
          "inversion: bounds",
          fmt::format("the largest length of a vector is {:g} (active cell {})", b.length[c], c + 1));
    if (reference[c] > b.length[c])
      throw InputError("inversion: bounds",
                       fmt::format("the reference, {:g}, is longer than {:g} (active cell {})", reference[c],
                                   b.length[c], c + 1));
  }
}

void check_bounds(const Problem& p) {
  const auto& b = p.bounds;
  if (!b.length.empty()) return check_lengths(p);
  if (!b.any()) return;
  if (b.lower.size() != p.columns() || b.upper.size() != p.columns())
    throw ShapeError("inversion: bounds", "there must be one of each for every active cell");
  for (std::size_t c = 0; c < b.lower.size(); ++c) {
    if (!(b.lower[c] <= b.upper[c]))
      throw InputError("inversion: bounds", fmt::format("they cross: lower {:g}, upper {:g} (active cell {})",
                                                        b.lower[c], b.upper[c], c + 1));
    const double m = p.reference.empty() ? 0 : p.reference[c];
    if (m < b.lower[c] || m > b.upper[c])
      throw InputError("inversion: bounds",
                       fmt::format("the reference model, {:g}, is not between {:g} and {:g} (active cell {})",
                                   m, b.lower[c], b.upper[c], c + 1),
                       "Move inversion.reference between the bounds.");
  }
}

/// Throws InputError if bounds allow only one sign of the model and data have the opposite sign, which is
/// tested with a uniform model.
void check_sign(const Problem& p, Trend trend) {
  const auto& b = p.bounds;
  if (b.lower.empty()) return;
  const bool positive = std::all_of(b.lower.begin(), b.lower.end(), [](double v) { return v >= 0; });
  const bool negative = std::all_of(b.upper.begin(), b.upper.end(), [](double v) { return v <= 0; });
  if (positive == negative) return;
  std::vector<double> ones(p.columns(), positive ? 1.0 : -1.0), field(p.rows());
  p.g->apply(ones, field);
  auto observed = p.data;
  if (trend != Trend::none) {  // remove the trend, which may have any sign
    std::vector<double> weight;
    for (std::size_t i = 0; i < observed.size(); ++i) {
      weight.push_back(std::isnan(observed[i]) ? 0 : 1 / p.sigma[i]);
      if (std::isnan(observed[i])) observed[i] = 0;
    }
    const Trends trends(trend, p.sets, p.easting, p.northing, weight);
    trends.remove(observed);
    trends.remove(field);
  }
  double with = 0, size = 0, data = 0;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (std::isnan(p.data[i])) continue;
    const double f = field[i] / p.sigma[i], d = observed[i] / p.sigma[i];
    with += f * d;
    size += f * f;
    data += d * d;
  }
  // χ² left after subtracting c ≥ 0 times the field of the uniform model, with the best c; chi(−with): with c
  // ≤ 0.
  const auto chi = [&](double product) { return data - (product > 0 ? product * product / size : 0); };
  if (chi(-with) < 0.5 * chi(with))
    throw InputError(
        "inversion: data",
        fmt::format("no model within the bounds can have data of this sign (χ²/N {:.3g} at best; with "
                    "the other sign {:.3g})",
                    chi(with) / static_cast<double>(field.size()),
                    chi(-with) / static_cast<double>(field.size())),
        "Is g_u, up, read as down? Set simulation.frame to that of the data (ubc and harmonica count "
        "gravity downward), or turn the bounds round.");
}

}  // namespace

void check(const Problem& problem, const Settings& settings) {
  if (!problem.defined() || problem.columns() == 0)
    throw InputError("inversion: active cells", "no cell is active",
                     "The whole mesh lies above the topography.");
  if (!problem.reference.empty() && problem.reference.size() != problem.columns())
    throw ShapeError("inversion: reference", "there must be one value for every active cell");
  if (!(settings.chi > 0)) throw InputError("inversion.chi", "it must be above zero");
  if (settings.choice == Choice::fixed && !(settings.beta > 0))
    throw InputError("inversion.beta", "it must be above zero");
  for (const double p : settings.norms.p)
    if (!(p >= 0 && p <= 2)) throw InputError("inversion.norms", fmt::format("{} is not between 0 and 2", p));
  const bool no_reference =
      std::all_of(problem.reference.begin(), problem.reference.end(), [](double m) { return m == 0; });
  if (!settings.norms.square() && !settings.reference_in_gradients && !no_reference)
    throw InputError("inversion.norms", "sparse norms are of differences from the reference model",
                     "Leave reference_in_gradients = true, or the reference 0.");
  check_data(problem);
  check_outliers(problem, settings);
  check_bounds(problem);
  const auto rows = static_cast<std::size_t>(
      std::count_if(problem.data.begin(), problem.data.end(), [](double d) { return !std::isnan(d); }));
  for (const auto& one : problem.couplings)
    if (one->size() != problem.columns()) throw ShapeError("inversion: coupling", "it is of other cells");
  const bool dense =
      settings.posterior || settings.choice == Choice::gcv || settings.choice == Choice::l_curve;
  if (dense && rows > settings.most_dense)
    throw InputError(settings.posterior ? "inversion.posterior" : "inversion.choice",
                     fmt::format("it needs a matrix of all pairs of {} data; up to {} are allowed", rows,
                                 settings.most_dense),
                     "Take choice = \"discrepancy\", posterior = false, or fewer data (survey.every).");
  if (problem.forward) check_steps(problem, settings);
  else check_sign(problem, settings.trend);
}

}  // namespace terrane::inversion
