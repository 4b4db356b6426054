// Pieces of the earth that tests of elastic waves start from.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "terrane/physics/elastic/mesh/margin.hpp"
#include "terrane/physics/elastic/mesh/variation.hpp"
#include "terrane/physics/elastic/problem.hpp"

namespace terrane::test {

/// Granite: v_P 6000 m/s, v_S 3464 m/s, 2700 kg/m³.
inline elastic::Medium granite() { return elastic::Medium::from_speeds(6000, 3464, 2700); }

/// All 21 constants differ from zero and from each other.
inline elastic::Medium triclinic() {
  const elastic::Stiffness c{{{10, 3.5, 2.5, -.5, .5, .3},
                              {3.5, 8, 1.5, .2, -.1, -.15},
                              {2.5, 1.5, 6, 1, .4, .24},
                              {-.5, .2, 1, 5, .35, .525},
                              {.5, -.1, .4, .35, 4, -1},
                              {.3, -.15, .24, .525, -1, 3}}};
  return elastic::Medium::from_stiffness(c, 1);
}

/// A box of cubes of side h from the origin on, all faces free.
inline elastic::Mesh cubes(std::array<std::size_t, 3> shape, double h, const elastic::Medium& rock) {
  const auto n = [&](std::size_t d) { return static_cast<double>(shape[d]) * h; };
  return elastic::bricks(TensorMesh::regular({0, n(0), 0, n(1), 0, n(2)}, shape), {rock},
                         std::vector<std::uint32_t>(shape[0] * shape[1] * shape[2], 0),
                         {false, false, false, false, false, false});
}

/// Moves every node by up to `most`, but not those of which keep(node) is true.
template <class Keep>
void shake(elastic::Mesh& mesh, double most, const Keep& keep) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-most, most);
  for (auto& node : mesh.nodes) {
    const elastic::Vector by{uniform(random), uniform(random), uniform(random)};
    if (keep(node)) continue;
    for (std::size_t d = 0; d < 3; ++d) node[d] += by[d];
  }
}
inline void shake(elastic::Mesh& mesh, double most) {
  shake(mesh, most, [](const elastic::Vector&) { return false; });
}

/// Rock of every third element, where it is isotropic, varies by up to a fifth.
inline void vary_every_third(elastic::Mesh& mesh, int degree) {
  std::vector<elastic::MediumAt> media(mesh.size());
  std::vector<const elastic::MediumAt*> at(mesh.size(), nullptr);
  for (std::size_t n = 0; n < mesh.size(); n += 3) {
    media[n] = [medium = mesh.medium_of(n)](const elastic::Vector& x, const elastic::Vector& middle) {
      auto here = medium;
      const double more = 1 + 0.2 * std::sin((x[0] - middle[0] + x[1] + 0.5 * x[2]) / 60);
      for (auto& row : here.stiffness)
        for (double& c : row) c *= more;
      here.density *= 2 - more;
      return here;
    };
    at[n] = &media[n];
  }
  elastic::vary_within(mesh, degree, at);
}

/// Three rocks, one of them triclinic, one with a Q if `loses`, and a lake on top to the east, all of which
/// vary within some elements; some elements are cubes and some are bent; a force and a moment tensor, one of
/// them on a corner of elements; receivers inside, on faces and on the ground. Waves leave below and to the
/// west; into margins of two elements, if they `fade`.
inline elastic::Problem rough_earth(elastic::Precision precision, int degree = 4, bool loses = true,
                                    bool fade = false) {
  elastic::Problem p;
  auto mesh = cubes({6, 4, 3}, 100, elastic::Medium::from_speeds(3000, 1500, 2200));
  auto stiff = triclinic();
  for (auto& row : stiff.stiffness)
    for (double& c : row) c *= 1e9;
  stiff.density = 2500;
  mesh.media.push_back(stiff);
  mesh.media.push_back(elastic::Medium::from_speeds(2800, 1400, 2000));
  if (loses) mesh.media.back().quality_kappa = 60, mesh.media.back().quality_mu = 30;
  for (std::size_t n = 0; n < mesh.size(); ++n) mesh.medium[n] = n % 6 > 3 ? 1 : n % 5 == 1 ? 2 : 0;
  mesh.media.push_back(elastic::Medium::from_speeds(1500, 0, 1000));
  for (std::size_t n = 48; n < mesh.size(); ++n)
    if (n % 6 > 2) mesh.medium[n] = 3;
  shake(mesh, 15, [](const elastic::Vector& x) { return x[0] < 250; });
  for (std::uint32_t n = 0; n < mesh.size(); ++n) {
    if (n % 6 == 0) mesh.absorbing.push_back({n, 0});
    if (n < 24) mesh.absorbing.push_back({n, 4});
  }
  if (fade)
    for (auto& node : mesh.nodes)
      if (node[2] < 50) node[2] = 0;
  vary_every_third(mesh, degree);
  if (fade) add_margins(mesh, 2);
  p.mesh = std::move(mesh);
  p.degree = degree;
  p.precision = precision;
  p.sources = {
      {{150, 130, 170}, false, {1e9, -2e9, 3e9, 0, 0, 0}, {elastic::Pulse::ricker, 2, 0.3, {}}},
      {{200, 200, 100}, true, {1e11, 2e11, -1e11, 3e10, 0, 5e10}, {elastic::Pulse::step, 0.2, 0.3, {}}}};
  p.receivers = {{50, 50, 50},    {200, 200, 200}, {300, 250, 150},
                 {100, 100, 300}, {520, 330, 120}, {440, 150, 260}};
  p.end = 0.8;
  p.settle();
  return p;
}

/// [elements] of a job: two columns and two rows of elements whose rock a tomography gives.
inline std::string imaged_layers(const std::string& tomography) {
  return R"([elements]
kind = "layers"
columns = [2, 1]
box = [0, 200, 0, 100]
top = 0
[[elements.layer]]
bottom = -200
rows = 2
rock = "imaged"
[[elements.rock]]
name = "imaged"
tomography = ")" +
         tomography + "\"\n";
}

}  // namespace terrane::test
