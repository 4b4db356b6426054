#include "terrane/physics/magnetic/forward.hpp"

#include <algorithm>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::magnetic {

namespace {

using gravity::ChannelSet;
using G = gravity::Channel;

constexpr G tensor[3][3] = {
    {G::g_ee, G::g_en, G::g_eu}, {G::g_en, G::g_nn, G::g_nu}, {G::g_eu, G::g_nu, G::g_uu}};

/// The direction that all M have, or its opposite; nothing when they differ by more than rounding, or are 0.
std::optional<std::array<double, 3>> common_direction(const Magnetization& m) {
  std::size_t largest = 0;
  double most = 0;
  const auto square = [&](std::size_t n) {
    return m[0][n] * m[0][n] + m[1][n] * m[1][n] + m[2][n] * m[2][n];
  };
  for (std::size_t n = 0; n < m[0].size(); ++n)
    if (square(n) > most) {
      most = square(n);
      largest = n;
    }
  if (most == 0) return std::nullopt;
  std::array<double, 3> u{};
  for (std::size_t a = 0; a < 3; ++a) u[a] = m[a][largest] / std::sqrt(most);
  for (std::size_t n = 0; n < m[0].size(); ++n) {
    const double along = m[0][n] * u[0] + m[1][n] * u[1] + m[2][n] * u[2];
    for (std::size_t a = 0; a < 3; ++a)
      if (std::fabs(m[a][n] - along * u[a]) > 4e-16 * std::sqrt(most)) return std::nullopt;
  }
  return u;
}

/// Γ̂ with a density: the channels of gravity that B needs.
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

/// How much of M a station on or in the prism has around it: 1 inside; on a face as the policy says.
double share_inside(const gravity::Prisms& p, std::size_t n, double x, double y, double z,
                    gravity::SingularPolicy policy) {
  const double low[3] = {p.west[n], p.south[n], p.bottom[n]}, high[3] = {p.east[n], p.north[n], p.top[n]},
               at[3] = {x, y, z};
  double share = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    if (at[a] < low[a] || at[a] > high[a]) return 0;
    if (at[a] != low[a] && at[a] != high[a]) continue;
    share *= policy == gravity::SingularPolicy::inside ? 1
             : policy == gravity::SingularPolicy::mean ? 0.5
                                                       : 0;
  }
  return share;
}

void add_inside(const gravity::Prisms& p, const Magnetization& m, const gravity::Stations& s,
                const gravity::Parameters& parameters, FluxDensity& field) {
  for_each(s.size(), parameters.threads, [&](std::size_t i) {
    for (std::size_t n = 0; n < p.size(); ++n) {
      const double share = share_inside(p, n, s.easting[i], s.northing[i], s.up[i], parameters.singular);
      if (share > 0)
        for (std::size_t a = 0; a < 3; ++a) field.b[a][i] += mu0 * share * m[a][n];
    }
  });
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
  for (const auto& component : m)
    if (component.size() != prisms.size())
      throw ShapeError("magnetic forward: magnetization", "there must be one value for every prism");
  FluxDensity field;
  for (auto& b : field.b) b.assign(stations.size(), 0.0);
  auto sum = parameters;
  sum.gravitational_constant = 1;
  sum.verify = 0;
  auto alone = runtime;
  alone.checkpoint = {};  // there may be three sums
  double seconds = 0;
  const auto gradients = [&](std::span<const double> density, ChannelSet channels) {
    auto source = prisms;
    source.density = density;
    sum.channels = channels;
    Gradients made(channels, stations.size());
    field.report = gravity::forward(source, stations, sum, made.fields(), progress, alone);
    seconds += field.report.seconds;
    return made;
  };
  if (const auto u = common_direction(m)) {
    std::vector<double> size(prisms.size());
    for (std::size_t n = 0; n < size.size(); ++n)
      size[n] = m[0][n] * (*u)[0] + m[1][n] * (*u)[1] + m[2][n] * (*u)[2];
    const auto g = gradients(size, gravity::tensor_channels);
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t i = 0; i < stations.size() && (*u)[c] != 0; ++i)
          field.b[a][i] += mu0_over_4pi * (*u)[c] * g.of(tensor[a][c])[i];
  } else {
    for (std::size_t c = 0; c < 3; ++c) {
      if (std::all_of(m[c].begin(), m[c].end(), [](double v) { return v == 0; })) continue;
      const auto g = gradients(m[c], {tensor[0][c], tensor[1][c], tensor[2][c]});
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t i = 0; i < stations.size(); ++i)
          field.b[a][i] += mu0_over_4pi * g.of(tensor[a][c])[i];
    }
  }
  field.report.seconds = seconds;
  if (field.report.inside_stations > 0 || field.report.singular_stations > 0)
    add_inside(prisms, m, stations, parameters, field);
  return field;
}

std::vector<double> total_field_anomaly(const FluxDensity& field, const MainField& main, bool exact) {
  const auto f = main.direction();
  std::vector<double> anomaly(field.b[0].size());
  for (std::size_t i = 0; i < anomaly.size(); ++i) {
    const double e = field.b[0][i], n = field.b[1][i], u = field.b[2][i],
                 along = f[0] * e + f[1] * n + f[2] * u;
    // |F f + B| − F = (2 F f·B + B²)/(|F f + B| + F), without the difference of two large numbers.
    const double square = e * e + n * n + u * u, F = main.intensity;
    anomaly[i] = exact ? (2 * F * along + square) / (std::sqrt(F * F + 2 * F * along + square) + F) : along;
  }
  return anomaly;
}

}  // namespace terrane::magnetic
