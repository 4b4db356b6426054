#include "terrane/survey/acquisition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"

namespace terrane {

namespace {

double entry(const std::vector<double>& list, std::size_t n, double otherwise) {
  return list.empty() ? otherwise : list[n];
}

void check_list(const std::vector<double>& list, std::size_t n, bool may_be_empty, std::string_view what,
                const std::string& where) {
  if (list.size() != n && !(may_be_empty && list.empty()))
    throw ShapeError(where, fmt::format("{} values of {} for {} places", list.size(), what, n),
                     may_be_empty ? "Give one for each, or none at all." : "Give one for each.");
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!std::isfinite(list[i]))
      throw InputError(fmt::format("{}[{}]", where, i), fmt::format("its {} is {}", what, list[i]),
                       "Give a finite number.");
}

void check_axis(const SpectralAxis& axis, const std::string& where) {
  if (const auto* frequencies = std::get_if<std::vector<double>>(&axis)) {
    if (frequencies->empty()) throw InputError(where + ".frequencies", "the list is empty");
    auto sorted = *frequencies;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (!(sorted[i] > 0) || !std::isfinite(sorted[i]))
        throw InputError(where + ".frequencies", fmt::format("{} Hz is among them", sorted[i]),
                         "Every frequency is above zero.");
      if (i > 0 && sorted[i] == sorted[i - 1])
        throw InputError(where + ".frequencies", fmt::format("{} Hz is there twice", sorted[i]));
    }
  } else if (const auto* times = std::get_if<TimeAxis>(&axis)) {
    if (!std::isfinite(times->first) || !(times->step > 0) || !std::isfinite(times->step) ||
        times->count == 0)
      throw InputError(
          where + ".times",
          fmt::format("{} times from {} s in steps of {} s", times->count, times->first, times->step),
          "There is at least one time, and the step is above zero.");
  }
}

void check_recorded(const Acquisition& a, const std::string& where) {
  if (a.recorded.empty()) return;
  if (a.recorded.size() != a.sources.size())
    throw ShapeError(where,
                     fmt::format("{} lists of receivers for {} sources", a.recorded.size(), a.sources.size()),
                     "Give one for each source, or none at all.");
  for (std::size_t s = 0; s < a.recorded.size(); ++s)
    for (std::size_t i = 0; i < a.recorded[s].size(); ++i) {
      const auto r = a.recorded[s][i];
      if (r >= a.receivers.size())
        throw InputError(fmt::format("{}.sources[{}]", where, s),
                         fmt::format("it is recorded by receiver {} of {}", r, a.receivers.size()),
                         "Receivers count from 0.");
      if (i > 0 && a.recorded[s][i - 1] >= r)
        throw InputError(fmt::format("{}.sources[{}]", where, s), "its receivers do not ascend",
                         "Name each receiver once, in their order.");
    }
}

std::size_t size(const Observations& observed) {
  return std::visit([](const auto& list) { return list.size(); }, observed.values);
}

void check_data(const Acquisition& a, const std::string& where) {
  if (!a.observed) return;
  const auto n = size(*a.observed);
  if (n != a.data_size())
    throw ShapeError(where + ".observed", fmt::format("{} data for {} ({} pairs × {} on the axis)", n,
                                                      a.data_size(), a.pairs(), a.axis_size()));
  const auto& sigma = a.observed->uncertainty;
  if (!sigma.empty() && sigma.size() != n)
    throw ShapeError(where + ".observed", fmt::format("{} uncertainties for {} data", sigma.size(), n));
  std::visit(
      [&](const auto& values) {
        for (std::size_t i = 0; i < sigma.size(); ++i)
          if (!std::isnan(std::abs(values[i])) && !(sigma[i] > 0))
            throw InputError(fmt::format("{}.observed[{}]", where, i),
                             fmt::format("its uncertainty is {}", sigma[i]),
                             "Every uncertainty is above zero.");
      },
      a.observed->values);
}

}  // namespace

std::array<double, 3> Elements::direction(std::size_t n) const {
  const double a = entry(azimuth, n, 0) * (pi / 180), d = entry(dip, n, 0) * (pi / 180);
  return {std::sin(a) * std::cos(d), std::cos(a) * std::cos(d), -std::sin(d)};
}

std::array<std::array<double, 3>, 2> Elements::ends(std::size_t n) const {
  const auto along = direction(n);
  const std::array<double, 3> centre{easting[n], northing[n], up[n]};
  const double half = entry(length, n, 0) / 2;
  std::array<std::array<double, 3>, 2> out{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    out[0][axis] = centre[axis] - half * along[axis];
    out[1][axis] = centre[axis] + half * along[axis];
  }
  return out;
}

std::size_t Acquisition::axis_size() const {
  if (const auto* frequencies = std::get_if<std::vector<double>>(&axis)) return frequencies->size();
  if (const auto* times = std::get_if<TimeAxis>(&axis)) return times->count;
  return 1;
}

std::size_t Acquisition::pairs() const {
  if (recorded.empty()) return std::max<std::size_t>(sources.size(), 1) * receivers.size();
  std::size_t n = 0;
  for (const auto& list : recorded) n += list.size();
  return n;
}

void check(const Elements& e, std::span<const std::string_view> kinds, const std::string& where) {
  if (std::find(kinds.begin(), kinds.end(), e.kind) == kinds.end())
    throw InputError(where + ".kind",
                     fmt::format("\"{}\" is not known here.{}", e.kind, did_you_mean(e.kind, kinds)),
                     "Allowed: " + joined(kinds) + ".");
  const auto n = e.size();
  if (n == 0) throw InputError(where, "there are none", "Give at least one place.");
  check_list(e.easting, n, false, "easting", where);
  check_list(e.northing, n, false, "northing", where);
  check_list(e.up, n, false, "up", where);
  check_list(e.azimuth, n, true, "azimuth", where);
  check_list(e.dip, n, true, "dip", where);
  check_list(e.length, n, true, "length", where);
  check_list(e.strength, n, true, "strength", where);
  if (!e.name.empty() && e.name.size() != n)
    throw ShapeError(where, fmt::format("{} names for {} places", e.name.size(), n));
  for (std::size_t i = 0; i < n; ++i) {
    if (std::fabs(entry(e.dip, i, 0)) > 90)
      throw InputError(fmt::format("{}[{}]", where, i), fmt::format("its dip is {} degrees", e.dip[i]),
                       "A dip lies between -90 (up) and 90 (down).");
    if (entry(e.length, i, 0) < 0)
      throw InputError(fmt::format("{}[{}]", where, i), fmt::format("its length is {} m", e.length[i]),
                       "Turn its azimuth by 180 degrees for the other sign.");
  }
}

void check(const Acquisition& a, std::span<const std::string_view> source_kinds,
           std::span<const std::string_view> receiver_kinds, const std::string& where) {
  if (a.sources.size() > 0 || !source_kinds.empty()) check(a.sources, source_kinds, where + ".sources");
  check(a.receivers, receiver_kinds, where + ".receivers");
  check_axis(a.axis, where);
  check_recorded(a, where);
  check_data(a, where);
}

std::vector<double> uncertainty_of(const Observations& observed, double relative, double floor) {
  return std::visit(
      [&](const auto& values) {
        std::vector<double> sigma;
        sigma.reserve(values.size());
        for (const auto& d : values) sigma.push_back(std::hypot(relative * std::abs(d), floor));
        return sigma;
      },
      observed.values);
}

WeightedMisfit misfit(const Observations& observed,
                      const std::variant<std::vector<double>, std::vector<std::complex<double>>>& predicted) {
  if (observed.uncertainty.empty())
    throw InputError("misfit", "the uncertainty of the data is not known",
                     "Give the data standard deviations; uncertainty_of() makes them.");
  if (predicted.index() != observed.values.index())
    throw ShapeError("misfit", "one of the data and their prediction is complex");
  return std::visit(
      [&](const auto& values) {
        const auto& there = std::get<std::decay_t<decltype(values)>>(predicted);
        if (there.size() != values.size() || observed.uncertainty.size() != values.size())
          throw ShapeError("misfit", fmt::format("{} data, {} predictions, {} uncertainties", values.size(),
                                                 there.size(), observed.uncertainty.size()));
        constexpr std::size_t parts = std::is_same_v<std::decay_t<decltype(values[0])>, double> ? 1 : 2;
        WeightedMisfit out;
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double r = std::abs(there[i] - values[i]) / observed.uncertainty[i];
          if (std::isnan(std::abs(values[i]))) continue;
          out.value += r * r / 2;
          out.count += parts;
        }
        return out;
      },
      observed.values);
}

}  // namespace terrane
