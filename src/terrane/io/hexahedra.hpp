// Hexahedra of mesh files, with named groups; nodes are in the order of the file.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "terrane/data/dataset.hpp"

namespace terrane::io {

struct HexahedraFile {
  std::vector<std::array<double, 3>> nodes;  ///< m: east, north, up
  /// Nodes of all elements, one element after the other: 8, 20 or 27 each.
  std::vector<std::uint32_t> element_nodes;
  std::vector<std::size_t> first = {0};  ///< [elements + 1] begin of each element in element_nodes
  /// Position of the k-th node of an element in the reference cube [−1, 1]³: ξ + 3 η + 9 ζ, where 0, 1, 2
  /// mean −1, 0, 1.
  std::array<int, 27> order{};
  std::vector<std::uint32_t> group;  ///< group of each element, as an index into `groups`
  std::vector<std::string> groups;   ///< names of volumes; in SPECFEM3D the numbers of materials

  /// Properties of a group, if the file has them: numbers, or the name of a tomography file.
  struct Material {
    double density = 0, velocity_p = 0, velocity_s = 0;  ///< kg/m³, m/s
    double quality_kappa = INFINITY, quality_mu = INFINITY;
    std::string tomography = {}, where = {};
  };
  std::vector<Material> materials;

  struct Face {
    std::array<std::uint32_t, 4> nodes;
    std::uint32_t side;  ///< index in `sides`
  };
  std::vector<Face> faces;
  std::vector<std::string> sides;  ///< names; in SPECFEM3D: west, east, south, north, bottom, top
  std::vector<std::string> notes;

  std::size_t size() const noexcept { return first.size() - 1; }
  std::span<const std::uint32_t> element(std::size_t n) const {
    return {element_nodes.data() + first[n], first[n + 1] - first[n]};
  }
  void add(std::span<const std::uint32_t> its_nodes, std::uint32_t its_group);
};

/// A data set with the positions of nodes, the eight corner nodes of each element (indices from 0, in VTK's
/// order), and the names of groups.
Dataset to_dataset(const HexahedraFile& mesh);

}  // namespace terrane::io
