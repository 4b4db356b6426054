#include "terrane/physics/magnetic/forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/sum/singular.hpp"
#include "terrane/simulation/checkpoint.hpp"

namespace terrane::magnetic {

namespace {

using gravity::ChannelSet;
using G = gravity::Channel;

constexpr G tensor[3][3] = {
    {G::g_ee, G::g_en, G::g_eu}, {G::g_en, G::g_nn, G::g_nu}, {G::g_eu, G::g_nu, G::g_uu}};

/// Largest magnetization that is accepted. Below this value no product in the formulas overflows or
/// underflows in double precision; the strongest magnets have 1e6.
constexpr double strongest = 1e12;  // A/m

void check_magnetization(const gravity::Prisms& prisms, const Magnetization& m) {
  constexpr std::string_view names[3] = {"easting", "northing", "up"};
  for (std::size_t a = 0; a < 3; ++a) {
    if (m[a].size() != prisms.size())
      throw ShapeError("magnetic forward: magnetization", "there must be one value for every prism");
    for (std::size_t n = 0; n < m[a].size(); ++n)
      if (!(std::fabs(m[a][n]) <= strongest))
        throw InputError(
            fmt::format("forward: prism {}", n),
            fmt::format("magnetization along {} {} A/m", names[a], m[a][n]),
            fmt::format("Magnetizations, with susceptibility times the main field, are finite, from "
                        "-{0:g} to {0:g} A/m.",
                        strongest));
  }
}

/// The common axis of all M, as a unit vector; empty if directions differ by more than rounding, or if all M
/// are 0.
std::optional<std::array<double, 3>> common_direction(const Magnetization& m) {
  std::size_t largest = 0;
  double most = 0;
  for (std::size_t n = 0; n < m[0].size(); ++n)
    if (const double size = std::hypot(m[0][n], m[1][n], m[2][n]); size > most) {
      most = size;
      largest = n;
    }
  if (most == 0) return std::nullopt;
  std::array<double, 3> u{};
  for (std::size_t a = 0; a < 3; ++a) u[a] = m[a][largest] / most;
  for (std::size_t n = 0; n < m[0].size(); ++n) {
    const double along = m[0][n] * u[0] + m[1][n] * u[1] + m[2][n] * u[2];
    for (std::size_t a = 0; a < 3; ++a)
      if (std::fabs(m[a][n] - along * u[a]) > 4e-16 * most) return std::nullopt;
  }
  return u;
}

/// The number of axes along which any M is not zero; each needs a sum over prisms.
std::size_t count_of_sums(const Magnetization& m) {
  std::size_t count = 0;
  for (const auto& along : m)
    if (std::any_of(along.begin(), along.end(), [](double v) { return v != 0; })) ++count;
  return count;
}

/// The result of one sum over prisms: those components of Γ̂ that B needs.
class Gradients {
 public:
  Gradients(ChannelSet channels, std::size_t stations) : channels_(channels), values_(channels.size()) {
    for (auto& v : values_) v.resize(stations);
  }
  gravity::Fields fields() { return {channels_, {values_.begin(), values_.end()}, {}}; }
  const std::vector<double>& of(G channel) const {
    const auto list = channels_.list();
    return values_[static_cast<std::size_t>(std::find(list.begin(), list.end(), channel) - list.begin())];
  }

 private:
  ChannelSet channels_;
  std::vector<std::vector<double>> values_;
};

/// A prism that contains or touches a station in one of the sums, and the direction of the magnetization that
/// this sum is for: M = contact.density · along.
struct Touch {
  gravity::Contact contact;
  std::array<double, 3> along;
};

/// Adds μ₀ M at stations inside and on the surface of prisms, and sets values that are undefined. The
/// correction depends only on the M of the eight octants around a station (gravity/sum/singular.hpp), so it
/// does not matter how a body is divided into prisms.
void settle(std::vector<Touch> touches, gravity::SingularPolicy policy, FluxDensity& field) {
  std::stable_sort(touches.begin(), touches.end(),
                   [](const Touch& a, const Touch& b) { return a.contact.station < b.contact.station; });
  for (auto first = touches.begin(); first != touches.end();) {
    const std::size_t station = first->contact.station;
    std::array<std::array<double, 8>, 3> m{};
    std::array<double, 8> size{};
    for (; first != touches.end() && first->contact.station == station; ++first)
      for (std::size_t o = 0; o < 8; ++o)
        if (first->contact.octants >> o & 1)
          for (std::size_t a = 0; a < 3; ++a) m[a][o] += first->contact.density * first->along[a];
    for (std::size_t o = 0; o < 8; ++o) size[o] = std::hypot(m[0][o], m[1][o], m[2][o]);
    const double largest = *std::max_element(size.begin(), size.end());
    if (std::all_of(size.begin(), size.end(), [](double v) { return v != 0; }))
      field.inside.push_back(station);
    bool singular = false;
    for (std::size_t a = 0; a < 3; ++a) {
      auto fix = gravity::flux_correction(a, m[a], size, policy);
      for (std::size_t c = 0; c < 3; ++c)
        if (c != a && gravity::correction(tensor[a][c], m[c], policy, largest).undefined)
          fix = {true, true, 0};
      singular = singular || fix.singular;
      field.b[a][station] = fix.undefined ? std::nan("") : field.b[a][station] + mu0_over_4pi * fix.add;
    }
    field.report.singular_stations += singular;
  }
  field.report.inside_stations = field.inside.size();
}

/// Merges the report of a further sum into that of all sums; settle() completes it.
void merge(gravity::Report& all, const gravity::Report& one) {
  const auto unite = [](std::vector<std::string>& into, const std::vector<std::string>& from) {
    for (const auto& line : from)
      if (std::find(into.begin(), into.end(), line) == into.end()) into.push_back(line);
  };
  unite(all.notes, one.notes);
  unite(all.warnings, one.warnings);
  if (all.method.find(one.method) == std::string::npos) all.method += " and " + one.method;
  all.pairs += one.pairs;
  all.seconds += one.seconds;
  all.memory_bytes = std::max(all.memory_bytes, one.memory_bytes);
  all.estimated_error = std::max(all.estimated_error, one.estimated_error);
  all.rounding_stations = std::max(all.rounding_stations, one.rounding_stations);
  for (const auto& [kind, floor] : one.rounding_floor)
    all.rounding_floor[kind] = std::max(all.rounding_floor[kind], floor);
}

}  // namespace

Magnetization magnetization(std::span<const double> susceptibility, const MainField& field,
                            const Magnetization& remanent) {
  const auto f = field.direction();
  const double h = field.intensity / mu0;
  Magnetization m;
  for (std::size_t a = 0; a < 3; ++a) {
    m[a].resize(susceptibility.size());
    for (std::size_t n = 0; n < m[a].size(); ++n)
      m[a][n] = susceptibility[n] * h * f[a] + (remanent[a].empty() ? 0.0 : remanent[a][n]);
  }
  return m;
}

FluxDensity forward(const gravity::Prisms& prisms, const Magnetization& m, const gravity::Stations& stations,
                    const gravity::Parameters& parameters, Progress* progress, const Runtime& runtime) {
  check_magnetization(prisms, m);
  FluxDensity field;
  for (auto& b : field.b) b.assign(stations.size(), 0.0);
  auto sum = parameters;
  sum.gravitational_constant = 1;
  sum.verify = 0;
  const auto u = common_direction(m);
  const auto count = u ? std::size_t{1} : count_of_sums(m);
  const auto& checkpoint = runtime.checkpoint;
  const bool had_some = is_left(checkpoint.file);
  auto of_one = runtime;
  std::size_t done = 0;
  std::vector<Touch> touches;
  bool first = true;
  const auto gradients = [&](std::span<const double> density, const std::array<double, 3>& along,
                             ChannelSet channels) {
    of_one.checkpoint = checkpoint_of_one(checkpoint, done++, count);
    auto source = prisms;
    source.density = density;
    sum.channels = channels;
    Gradients made(channels, stations.size());
    std::vector<gravity::Contact> contacts;
    auto out = made.fields();
    out.contacts = &contacts;
    const auto report = gravity::forward(source, stations, sum, out, progress, of_one);
    if (first) field.report = report;
    else merge(field.report, report);
    first = false;
    for (const auto& contact : contacts) touches.push_back({contact, along});
    return made;
  };
  if (u) {
    std::vector<double> size(prisms.size());
    for (std::size_t n = 0; n < size.size(); ++n)
      size[n] = m[0][n] * (*u)[0] + m[1][n] * (*u)[1] + m[2][n] * (*u)[2];
    const auto g = gradients(size, *u, gravity::tensor_channels);
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t i = 0; i < stations.size() && (*u)[c] != 0; ++i)
          field.b[a][i] += mu0_over_4pi * (*u)[c] * g.of(tensor[a][c])[i];
  } else {
    for (std::size_t c = 0; c < 3; ++c) {
      if (std::all_of(m[c].begin(), m[c].end(), [](double v) { return v == 0; })) continue;
      std::array<double, 3> along{};
      along[c] = 1;
      const auto g = gradients(m[c], along, {tensor[0][c], tensor[1][c], tensor[2][c]});
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t i = 0; i < stations.size(); ++i)
          field.b[a][i] += mu0_over_4pi * g.of(tensor[a][c])[i];
    }
  }
  if (count > 1 && checkpoint.resume && !checkpoint.file.empty() && !had_some)
    field.report.warnings.push_back(no_checkpoint(checkpoint.file));
  field.report.inside_stations = field.report.singular_stations = 0;
  settle(std::move(touches), parameters.singular, field);
  return field;
}

std::vector<double> total_field_anomaly(const FluxDensity& field, const MainField& main, bool exact) {
  const auto f = main.direction();
  std::vector<double> anomaly(field.b[0].size());
  for (std::size_t i = 0; i < anomaly.size(); ++i) {
    const double e = field.b[0][i], n = field.b[1][i], u = field.b[2][i];
    double along = 0;  // omits components across the main field, which may be undefined here
    for (std::size_t a = 0; a < 3; ++a)
      if (f[a] != 0) along += f[a] * field.b[a][i];
    // |F f + B| − F = (2 F f·B + B²)/(|F f + B| + F), which avoids the difference of two large numbers.
    const double square = e * e + n * n + u * u, F = main.intensity;
    anomaly[i] = exact ? (2 * F * along + square) / (std::sqrt(F * F + 2 * F * along + square) + F) : along;
  }
  return anomaly;
}

std::vector<double> amplitude(const FluxDensity& field) {
  std::vector<double> sizes(field.b[0].size());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    sizes[i] = std::hypot(field.b[0][i], field.b[1][i], field.b[2][i]);
  return sizes;
}

}  // namespace terrane::magnetic
