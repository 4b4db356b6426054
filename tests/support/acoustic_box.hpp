// Small acoustic problems for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "terrane/physics/acoustic/image/engine.hpp"
#include "terrane/physics/acoustic/traces.hpp"

namespace terrane::test {

/// Numbers between −1 and 1 that are the same everywhere.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed * 2654435761U + 12345) {}
  double operator()() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) / static_cast<double>(1ULL << 52) - 1;
  }
  std::vector<double> list(std::size_t size) {
    std::vector<double> values(size);
    for (double& value : values) value = (*this)();
    return values;
  }

 private:
  std::uint64_t state_;
};

inline void all_sides(acoustic::Problem& p, acoustic::Boundary kind) {
  for (auto& axis : p.sides) axis = {kind, kind};
}

/// Homogeneous, nodes apart by h, node 0 at `first` on each axis.
inline acoustic::Problem even_box(std::array<Index, 3> nodes, double h, double velocity, double first = 0) {
  acoustic::Problem p;
  p.grid = {nodes, {h, h, h}, {first, first, first}};
  p.velocity.assign(static_cast<std::size_t>(p.grid.box().count()), velocity);
  p.wavelet.frequency = velocity / (10 * h);
  return p;
}

/// A rough box: velocities differ from node to node, sources and receivers are between nodes and on them.
inline acoustic::Problem rough_box(std::array<Index, 3> nodes = {26, 22, 24}, double end = 0.25) {
  auto p = even_box(nodes, 10, 2000);
  Chance chance(7);
  for (double& v : p.velocity) v = 2000 + 300 * chance();
  p.wavelet.frequency = 20;
  p.end = end;
  all_sides(p, acoustic::Boundary::cpml);
  p.sides[acoustic::up][1] = acoustic::Boundary::free_surface;
  const double y = nodes[1] > 1 ? 71.3 : 0;
  // The last receiver is 1.2 nodes below the surface.
  const double high = 10 * static_cast<double>(nodes[0]) - 17;
  p.shots = {{{{83.1, y, 112.7}}, {{131.9, y, 61.3}, {40, nodes[1] > 1 ? 50.0 : 0, 120}, {202, y, high}}}};
  return p;
}

/// What a run returns: with time dispersion put in and taken out where the problem asks for it; velocities.
template <class T>
std::vector<double> traces(const acoustic::Problem& p, const acoustic::Shot& shot,
                           Device::Kind kind = Device::Kind::cpu, int threads = 0) {
  Stream stream(resolve({kind, -1}), false, threads);
  Alone alone;
  acoustic::Engine<T> engine(p, stream, alone);
  auto found = engine.model(shot, p.source_series());
  acoustic::to_gather(p, found, 0);
  return found;
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += a[n] * b[n];
  return sum;
}

inline double norm(const std::vector<double>& a) { return std::sqrt(dot(a, a)); }

inline double apart(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += (a[n] - b[n]) * (a[n] - b[n]);
  return std::sqrt(sum) / norm(b);
}

inline double distance(const acoustic::Place& a, const acoustic::Place& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// s(t − r/v) / (4π r) of the wavelet at the steps of the problem.
inline std::vector<double> spherical(const acoustic::Problem& p, double r, double velocity) {
  auto wavelet = p.wavelet;
  wavelet.delay = p.wavelet.start() + r / velocity;
  auto values = wavelet.at(p.step, p.steps());
  for (double& value : values) value /= 4 * std::numbers::pi * r;
  return values;
}

/// Trace of one receiver.
inline std::vector<double> column(const std::vector<double>& traces, std::size_t receivers,
                                  std::size_t which) {
  std::vector<double> one;
  for (std::size_t n = which; n < traces.size(); n += receivers) one.push_back(traces[n]);
  return one;
}

/// The rough box of another rock: densities of 1000 to 3000 kg/m³, or an axis that differs from node to node.
inline acoustic::Problem rough_rock(acoustic::Equation equation, std::array<Index, 3> nodes = {26, 22, 24},
                                    double end = 0.25) {
  auto p = rough_box(nodes, end);
  p.equation = equation;
  Chance chance(17);
  const auto spread = [&](std::vector<double>& values, double middle, double half) {
    values.resize(p.velocity.size());
    for (double& value : values) value = middle + half * chance();
  };
  if (equation == acoustic::Equation::variable_density) spread(p.density, 2000, 1000);
  if (p.fields() == 2) {
    spread(p.delta, 0.05, 0.05);
    spread(p.epsilon, 0.15, 0.05);
  }
  if (equation == acoustic::Equation::tti) {
    spread(p.tilt, 0.7, 0.7);
    spread(p.azimuth, 0, 3);
  }
  return p;
}

}  // namespace terrane::test
