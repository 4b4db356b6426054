// Boxes of rock that tests of heat conduction start from.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "terrane/physics/heat/march.hpp"

namespace terrane::test {

/// Rock of one kind, a kelvin warm nowhere, insulated.
inline heat::Problem heat_box(const Prism& box, std::array<std::size_t, 3> shape, double conductivity,
                              double capacity) {
  heat::Problem p;
  p.mesh = TensorMesh::regular(box, shape);
  p.conductivity.assign(p.mesh.size(), conductivity);
  p.capacity.assign(p.mesh.size(), capacity);
  p.initial.assign(p.mesh.size(), 0.0);
  p.power.assign(p.mesh.size(), 0.0);
  return p;
}

/// Uneven cells, rock of all kinds, a source for half of the time, receivers in every corner. part: of the
/// time.
inline heat::Problem rough_heat_box(heat::Method method, double part = 1) {
  std::mt19937 random(7);
  const auto uniform = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
  };
  const auto faces = [&](std::size_t cells) {
    std::vector<double> all{-10};
    for (std::size_t n = 0; n < cells; ++n) all.push_back(all.back() + uniform(1, 3));
    return all;
  };
  heat::Problem p;
  p.mesh = TensorMesh(faces(37), faces(9), faces(21));
  for (std::size_t n = 0; n < p.mesh.size(); ++n) {
    p.conductivity.push_back(uniform(0.5, 6));
    p.capacity.push_back(uniform(1e6, 3e6));
    p.initial.push_back(uniform(0, 10));
    p.power.push_back(0);
  }
  p.power[p.mesh.index(18, 4, 10)] = 4e4;
  for (const std::size_t k : {0, 4, 20})
    for (const std::size_t i : {0, 31, 32, 36}) p.receivers.push_back(p.mesh.index(i, 8, k));
  p.method = method;
  p.end = part * 4e6;
  p.power_end = part * 2e6;
  if (method == heat::Method::implicit_steps) p.step = 2e5;
  p.tolerance = 1e-10;
  p.settle();
  return p;
}

}  // namespace terrane::test
