// Faces and widths of a mesh along its axes, in the order of C++ arrays: up, north, east.
#pragma once

#include <array>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/parallel/arrays/index_box.hpp"
#include "terrane/physics/electric/formula/half_space.hpp"

namespace terrane::electric {

/// Faces and widths of a mesh along the axes in the order of arrays: up, north, east.
struct Axes {
  std::array<const std::vector<double>*, 3> faces;
  explicit Axes(const TensorMesh& mesh) : faces{&mesh.up(), &mesh.northing(), &mesh.easting()} {}

  Index nodes(std::size_t a) const { return static_cast<Index>(faces[a]->size()); }
  double face(std::size_t a, Index n) const { return (*faces[a])[static_cast<std::size_t>(n)]; }
  double width(std::size_t a, Index cell) const { return face(a, cell + 1) - face(a, cell); }
  Point point(const Index (&n)[3]) const { return {face(2, n[2]), face(1, n[1]), face(0, n[0])}; }
};

}  // namespace terrane::electric
