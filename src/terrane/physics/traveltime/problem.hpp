// The problem of first arrivals of P waves: shots, receivers, picks, and velocity.
//
//   |∇T| = 1/v      T(shot) = 0       v: velocity of P waves in the cells of a mesh, m/s; T: s
//
// front.hpp describes the finite differences, medium.hpp the slowness 1/v at nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "terrane/job/fields.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/traveltime/medium.hpp"

namespace terrane::traveltime {

/// A computed or observed time: the indices of its shot and receiver.
struct Pick {
  std::uint32_t shot = 0, receiver = 0;
  friend bool operator==(const Pick&, const Pick&) = default;
};

struct Problem {
  TensorMesh mesh;
  std::vector<double> velocity;  ///< [up, north, east], m/s; 0: air
  std::vector<Point> shots, receivers;
  std::vector<Pick> picks;
  int order = 2;

  /// All members; job/fields.hpp says what is derived from this list.
  template <class Self, class Field>
  static void fields(Self& p, Field& field) {
    field("mesh", p.mesh, carried("cells"));
    field("velocity", p.velocity, carried("cells"));
    field("shots", p.shots, carried("shots or receivers"));
    field("receivers", p.receivers, carried("shots or receivers"));
    field("picks", p.picks, carried("shots or receivers"));
    field("order", p.order, count(1, 2),
          "Order of the differences in cells: 2, or 1, the slow reference implementation for tests.");
  }

  /// Throws InputError: an impossible velocity; a shot or receiver ("survey: receiver 3", "source: shot 1")
  /// outside the mesh, in air, off the plane of a mesh of one cell, or not reached by any wave.
  void settle() const;
  /// For each shot the indices of its picks.
  std::vector<std::vector<std::size_t>> picks_of_shots() const;
};

/// All pairs of a shot and a receiver.
std::vector<Pick> all_picks(std::size_t shots, std::size_t receivers);

}  // namespace terrane::traveltime
