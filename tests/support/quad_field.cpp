#include "support/quad_field.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "terrane/base/constants.hpp"
#include "terrane/physics/gravity/formula/naive.hpp"
#include "terrane/physics/gravity/formula/near_field.hpp"
#include "terrane/physics/gravity/formula/stable.hpp"

namespace terrane::test {

std::array<Quad, 10> quad_field(const Prism& prism, const double (&station)[3]) {
  const auto p = gravity::relative_to<Quad>(prism, station[0], station[1], station[2]);
  const Quad xc = p.x[0] + p.x[1], yc = p.y[0] + p.y[1], zc = p.z[0] + p.z[1];  // twice the centre
  const Quad longest = std::max({p.lx, p.ly, p.lz});
  const auto q =
      xc * xc + yc * yc + zc * zc > 3600 * longest * longest
          ? gravity::stable<gravity::AnyDistance, false>(p)
          : gravity::naive(
                p, [](Quad x) { return natural_log(x); }, [](Quad x) { return arctangent(x, Quad(1)); });
  return {q.v, q.e, q.n, q.u, q.ee, q.nn, q.uu, q.en, q.eu, q.nu};
}

ReferenceRow quad_row(const Prism& p, const double (&at)[3]) {
  const bool inside = at[0] > p.west && at[0] < p.east && at[1] > p.south && at[1] < p.north &&
                      at[2] > p.bottom && at[2] < p.top;
  ReferenceRow row{inside ? "inside" : "outside", p, {at[0], at[1], at[2]}, quad_field(p, at)};
  for (Quad& value : row.value) value *= static_cast<Quad>(default_gravitational_constant);
  return row;
}

FieldTable quad_table(const PrismList& prisms, const StationList& stations) {
  FieldTable table(gravity::channel_count, std::vector<double>(stations.size()));
  for (std::size_t s = 0; s < stations.size(); ++s) {
    std::array<Quad, 10> sum{};
    for (std::size_t n = 0; n < prisms.size(); ++n) {
      const auto q = quad_field(
          {prisms.west[n], prisms.east[n], prisms.south[n], prisms.north[n], prisms.bottom[n], prisms.top[n]},
          {stations.easting[s], stations.northing[s], stations.up[s]});
      for (std::size_t c = 0; c < gravity::channel_count; ++c)
        sum[c] += q[c] * static_cast<Quad>(prisms.density[n]);
    }
    for (std::size_t c = 0; c < gravity::channel_count; ++c)
      table[c][s] = static_cast<double>(sum[c] * static_cast<Quad>(default_gravitational_constant));
  }
  return table;
}

Ensemble ensemble() {
  const auto read = [](const char* name) {
    std::ifstream file(std::string(TERRANE_SOURCE_DIR "/tests/support/data/") + name);
    if (!file) throw std::runtime_error(std::string(name) + " is missing");
    std::vector<std::vector<double>> rows;
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      std::stringstream cells(line);
      rows.emplace_back();
      for (std::string text; std::getline(cells, text, ',');) rows.back().push_back(std::stod(text));
    }
    return rows;
  };
  Ensemble e;
  for (const auto& r : read("ensemble_prisms.csv")) e.prisms.add({r[0], r[1], r[2], r[3], r[4], r[5]}, r[6]);
  e.field.resize(10);
  constexpr std::size_t channel_of[10] = {0, 1, 2, 3, 4,
                                          7, 8, 5, 9, 6};  // the file has xx, xy, xz, yy, yz, zz
  for (const auto& r : read("ensemble_points.csv")) {
    e.stations.add(r[0], r[1], r[2]);
    for (std::size_t q = 0; q < 10; ++q) e.field[channel_of[q]].push_back(r[3 + q]);
  }
  return e;
}

Prism random_prism(double aspect, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  const double longest = std::pow(10.0, 3 * unit(random));
  double side[3] = {longest, longest / aspect, longest / std::pow(aspect, unit(random))};
  std::shuffle(side, side + 3, random);
  double low[3];
  for (double& l : low) l = (unit(random) - 0.5) * longest;
  return {low[0], low[0] + side[0], low[1], low[1] + side[1], low[2], low[2] + side[2]};
}

std::array<double, 3> random_station(const Prism& p, double distance, std::mt19937& random) {
  // From a random point of the surface straight out of its face, then turned a little: every part of the
  // surface is seen from every distance.
  std::uniform_real_distribution<double> unit(0, 1);
  std::normal_distribution<double> normal;
  const double low[3] = {p.west, p.south, p.bottom}, high[3] = {p.east, p.north, p.top};
  double at[3], direction[3];
  for (int a = 0; a < 3; ++a) {
    at[a] = low[a] + unit(random) * (high[a] - low[a]);
    direction[a] = normal(random);
  }
  const auto axis = std::uniform_int_distribution<int>(0, 2)(random);
  const bool upper = unit(random) < 0.5;
  at[axis] = upper ? high[axis] : low[axis];
  direction[axis] = upper ? std::fabs(direction[axis]) : -std::fabs(direction[axis]);
  const double length = std::hypot(direction[0], direction[1], direction[2]);
  return {at[0] + distance * direction[0] / length, at[1] + distance * direction[1] / length,
          at[2] + distance * direction[2] / length};
}

}  // namespace terrane::test
