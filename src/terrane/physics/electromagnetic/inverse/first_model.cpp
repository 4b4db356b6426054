#include "terrane/physics/electromagnetic/inverse/first_model.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "terrane/physics/electromagnetic/formula/layered.hpp"

namespace terrane::electromagnetic::inverse {

namespace {

constexpr double air = 1e-8;           // S/m
constexpr std::size_t most_data = 50;  // a single conductivity is determined well enough by so many data
constexpr double upright = 1e-9;       // a relative horizontal part of a moment below this counts as zero

struct Datum {
  std::size_t source, frequency, receiver;
  Component component;
  double amplitude;
};

std::vector<Datum> some_of(const Problem& problem, const MeasuredFields& measured) {
  std::vector<Datum> all;
  const std::size_t step = 1 + measured.size() / most_data, receivers = problem.receivers.size();
  for (std::size_t n = 0; n < measured.size(); n += step) {
    const std::size_t solve = measured.place[n] / problem.data_of_a_solve(),
                      rest = measured.place[n] % problem.data_of_a_solve();
    all.push_back({solve / problem.frequencies.size(), solve % problem.frequencies.size(), rest % receivers,
                   problem.components[rest / receivers], std::abs(measured.value[n])});
  }
  return all;
}

bool is_known(const Source& source) {
  if (source.kind == Source::Kind::magnetic_dipole)
    return std::hypot(source.moment[0], source.moment[1]) <= upright * std::abs(source.moment[2]);
  return source.kind == Source::Kind::electric_dipole || source.kind == Source::Kind::wire;
}

double distance(const Vector3& a, const Vector3& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// The least distance from a point of a source to a receiver at another position.
double least_distance(const Problem& problem) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& source : problem.sources)
    for (const auto& point : source.points)
      for (const auto& receiver : problem.receivers)
        if (const double d = distance(point, receiver); d > 0) least = std::min(least, d);
  return least;
}

DipoleField field_of(const LayeredEarth& earth, double hertz, const Source& source, const Vector3& receiver) {
  if (source.kind == Source::Kind::wire) return wire(earth, hertz, source.points, source.current, receiver);
  if (source.kind == Source::Kind::magnetic_dipole)
    return vertical_magnetic_dipole(earth, hertz, source.points.front(), source.moment[2], receiver);
  return electric_dipole(earth, hertz, source.points.front(), source.moment, receiver);
}

/// The sum of (ln |d| − ln |F|)² over measured fields d and computed fields F that are not zero by symmetry.
double misfit(const Problem& problem, const std::vector<Source>& sources,
              const std::vector<Vector3>& receivers, const std::vector<Datum>& data, double ground,
              double resistivity) {
  const LayeredEarth earth{{{1 / resistivity, 1 / resistivity}, {air, air}}, {ground}};
  std::map<std::array<std::size_t, 3>, DipoleField> fields;
  double sum = 0, count = 0;
  for (const auto& datum : data) {
    if (!is_known(sources[datum.source])) continue;
    const auto [place, fresh] = fields.try_emplace({datum.source, datum.frequency, datum.receiver});
    if (fresh) {
      try {
        place->second = field_of(earth, problem.frequencies[datum.frequency], sources[datum.source],
                                 receivers[datum.receiver]);
      } catch (const InputError&) {  // no field: a receiver lies on a source, where the field is infinite
      }
    }
    const auto& both = datum.component.magnetic ? place->second.h : place->second.e;
    const double computed = std::abs(both[static_cast<std::size_t>(2 - datum.component.axis)]);
    // This component is zero by symmetry, as E across a wire on the line through the wire.
    double all = 0;
    for (const auto& one : both) all += std::norm(one);
    if (!(computed > 1e-3 * std::sqrt(all)) || !std::isfinite(computed)) continue;
    sum += std::pow(std::log(datum.amplitude / computed), 2);
    ++count;
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::infinity();
}

}  // namespace

std::optional<double> common_height(const Problem& problem) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const auto take = [&](const Vector3& place) {
    low = std::min(low, place[2]);
    high = std::max(high, place[2]);
  };
  for (const auto& source : problem.sources) std::for_each(source.points.begin(), source.points.end(), take);
  std::for_each(problem.receivers.begin(), problem.receivers.end(), take);
  if (!(high - low <= 1)) return std::nullopt;
  return high;
}

double nearest_half_space(const Problem& problem, const MeasuredFields& measured, double ground) {
  const double into = 1e-3 * least_distance(problem);
  if (!std::isfinite(into)) return std::numeric_limits<double>::quiet_NaN();
  auto sources = problem.sources;
  auto receivers = problem.receivers;
  for (auto& source : sources)
    for (auto& point : source.points) point[2] = ground - into;
  for (auto& receiver : receivers) receiver[2] = ground - 2 * into;
  const auto data = some_of(problem, measured);
  std::pair<double, double> best{std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};
  const auto try_out = [&](double decades) {
    const double resistivity = std::pow(10, decades);
    best = std::min(best, {misfit(problem, sources, receivers, data, ground, resistivity), resistivity});
  };
  constexpr int a_decade = 3, finer = 4, first = -1, last = 5;
  for (int n = first * a_decade; n <= last * a_decade; ++n) try_out(static_cast<double>(n) / a_decade);
  if (!std::isfinite(best.first)) return best.second;
  const double near = std::log10(best.second);
  for (int n = 1 - finer; n < finer; ++n)
    if (n != 0) try_out(near + static_cast<double>(n) / (a_decade * finer));
  return best.second;
}

}  // namespace terrane::electromagnetic::inverse
