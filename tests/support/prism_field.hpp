// Lists of prisms and stations for tests, and the direct sum to hold the fast methods against.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "support/worse.hpp"
#include "terrane/mesh/prism.hpp"
#include "terrane/physics/gravity/direct/direct.hpp"
#include "terrane/physics/gravity/forward.hpp"

namespace terrane::test {

struct PrismList {
  std::vector<double> west, east, south, north, bottom, top, density;

  void add(const Prism& p, double rho) {
    west.push_back(p.west);
    east.push_back(p.east);
    south.push_back(p.south);
    north.push_back(p.north);
    bottom.push_back(p.bottom);
    top.push_back(p.top);
    density.push_back(rho);
  }
  std::size_t size() const { return west.size(); }
  gravity::Prisms view() const { return {west, east, south, north, bottom, top, density}; }
  template <class Random>
  void shuffle(Random& random) {
    std::vector<std::size_t> order(size());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), random);
    for (auto* column : {&west, &east, &south, &north, &bottom, &top, &density}) {
      const auto old = *column;
      for (std::size_t n = 0; n < order.size(); ++n) (*column)[n] = old[order[n]];
    }
  }
};

struct StationList {
  std::vector<double> easting, northing, up;
  void add(double x, double y, double z) {
    easting.push_back(x);
    northing.push_back(y);
    up.push_back(z);
  }
  std::size_t size() const { return easting.size(); }
  gravity::Stations view() const { return {easting, northing, up}; }
};

/// The box cut into cells, those of density 0 left out.  density(i, j, k)
inline PrismList mesh_block(const Prism& box, std::array<int, 3> shape,
                            const std::function<double(int, int, int)>& density) {
  PrismList list;
  const auto face = [](double low, double high, int i, int n) { return low + (high - low) * i / n; };
  for (int k = 0; k < shape[2]; ++k)
    for (int j = 0; j < shape[1]; ++j)
      for (int i = 0; i < shape[0]; ++i)
        if (const double rho = density(i, j, k); rho != 0)
          list.add({face(box.west, box.east, i, shape[0]), face(box.west, box.east, i + 1, shape[0]),
                    face(box.south, box.north, j, shape[1]), face(box.south, box.north, j + 1, shape[1]),
                    face(box.bottom, box.top, k, shape[2]), face(box.bottom, box.top, k + 1, shape[2])},
                   rho);
  return list;
}

template <class Random>
StationList random_stations(const Prism& box, std::size_t count, Random& random) {
  StationList list;
  std::uniform_real_distribution<double> x(box.west, box.east), y(box.south, box.north),
      z(box.bottom, box.top);
  for (std::size_t n = 0; n < count; ++n) {
    const double a = x(random), b = y(random), c = z(random);
    list.add(a, b, c);
  }
  return list;
}

using FieldTable = std::vector<std::vector<double>>;  ///< [channels][stations]

/// All ten quantities by the direct sum, G = 1.
inline FieldTable direct_field(const gravity::Prisms& prisms, const gravity::Stations& stations,
                               double accuracy) {
  Progress silent;
  return gravity::direct_sum(prisms, stations, gravity::ChannelSet::all(), accuracy, 0, silent).values;
}

/// By forward(): channels, and the report of the run.
inline FieldTable field(const gravity::Prisms& prisms, const gravity::Stations& stations,
                        const gravity::Parameters& parameters, gravity::Report* report = nullptr) {
  FieldTable values(parameters.channels.size(), std::vector<double>(stations.size()));
  gravity::Fields out{parameters.channels, {values.begin(), values.end()}, {}};
  const auto told = gravity::forward(prisms, stations, parameters, out);
  if (report) *report = told;
  return values;
}

/// The largest error of V, g and Γ over the stations, each as a whole (|g|, ‖Γ‖) and relative to its largest
/// value. Both tables hold all ten channels; stations where the truth has a NaN are left out, any other NaN
/// is an infinite error.
inline double largest_error(const FieldTable& value, const FieldTable& truth) {
  constexpr int first[4] = {0, 1, 4, 10};
  double worst = 0;
  for (int kind = 0; kind < 3; ++kind) {
    double error = 0, largest = 0;
    for (std::size_t n = 0; n < truth[0].size(); ++n) {
      double e2 = 0, t2 = 0;
      for (int c = first[kind]; c < first[kind + 1]; ++c) {
        const double weight = c >= 7 ? 2 : 1;  // Γen stands for Γne as well
        const double e = value[c][n] - truth[c][n];
        e2 += weight * e * e;
        t2 += weight * truth[c][n] * truth[c][n];
      }
      if (std::isnan(t2)) continue;
      if (!std::isfinite(e2)) return INFINITY;
      error = worse(error, std::sqrt(e2));
      largest = std::max(largest, std::sqrt(t2));
    }
    if (largest > 0) worst = worse(worst, error / largest);
  }
  return worst;
}

}  // namespace terrane::test
