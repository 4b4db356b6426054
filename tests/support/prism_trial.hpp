// Bodies and surveys that methods with clusters get wrong, at random.
#pragma once

#include <cmath>
#include <random>

#include "support/prism_field.hpp"

namespace terrane::test {

/// A body and a survey of one of the kinds that trees get wrong.
struct Trial {
  PrismList prisms;
  StationList stations;
};

/// most_stations: of the survey
inline Trial make_trial(std::mt19937& random, int most_stations = 40) {
  const auto uniform = [&](double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(random);
  };
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Trial trial;
  const int bodies = 40 + pick(400), kind = pick(8), signs = pick(3);
  double pole = 1;
  for (int b = 0; b < bodies; ++b) {
    double x = uniform(-1000, 1000), y = uniform(-1000, 1000), z = uniform(-1000, 0);
    double lx = uniform(5, 40), ly = uniform(5, 40), lz = uniform(5, 40);
    switch (kind) {
      case 1:  // two bodies far apart
        x = (b % 2 ? 1e5 : -1e5) + 0.1 * x;
        break;
      case 2:  // clusters within clusters
        x = std::pow(uniform(0, 1), 6) * 1000;
        y = std::pow(uniform(0, 1), 6) * 1000;
        z = -std::pow(uniform(0, 1), 6) * 1000;
        lx = ly = lz = uniform(0.1, 2);
        break;
      case 3:  // sizes over four decades
        lx = std::pow(10, uniform(-1, 3));
        ly = std::pow(10, uniform(-1, 3));
        lz = std::pow(10, uniform(-1, 3));
        break;
      case 4:  // a thin sheet
        z = -100;
        lz = 0.5;
        break;
      case 5:  // a line of needles
        y = 0;
        lx = 400;
        ly = lz = 1;
        break;
      case 6:  // dipoles: what is near cancels
        if (b % 2) {
          x = trial.prisms.east.back() + 0.5 * lx;
          y = 0.5 * (trial.prisms.south.back() + trial.prisms.north.back());
          z = 0.5 * (trial.prisms.bottom.back() + trial.prisms.top.back());
        }
        pole = -pole;
        break;
      case 7:  // masses in the corners of a cube only
        x = pick(2) ? 990 : -990;
        y = pick(2) ? 990 : -990;
        z = pick(2) ? -10 : -990;
        lx = ly = lz = uniform(1, 10);
        break;
      default:
        break;
    }
    const double rho = kind == 6    ? pole * 300
                       : signs == 0 ? uniform(100, 900)
                       : signs == 1 ? uniform(-500, 500)
                                    : (b % 2 ? 300.0 : -300.0);
    trial.prisms.add({x - lx / 2, x + lx / 2, y - ly / 2, y + ly / 2, z - lz / 2, z + lz / 2}, rho);
  }
  const int stations = 1 + pick(most_stations);
  switch (pick(4)) {
    case 0:
      trial.stations =
          random_stations({-1200, 1200, -1200, 1200, 50, 60}, static_cast<std::size_t>(stations), random);
      break;
    case 1:  // inside and around
      trial.stations =
          random_stations({-1000, 1000, -1000, 1000, -1000, 100}, static_cast<std::size_t>(stations), random);
      break;
    case 2:  // far away
      trial.stations = random_stations({2e4, 3e4, 0, 1, 0, 1}, static_cast<std::size_t>(stations), random);
      break;
    default:  // a borehole
      for (int s = 0; s < stations; ++s) trial.stations.add(3.3, -7.7, 20 - 30.0 * s);
  }
  return trial;
}

}  // namespace terrane::test
