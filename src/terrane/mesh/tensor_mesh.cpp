#include "terrane/mesh/tensor_mesh.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "terrane/base/error.hpp"

namespace terrane {

namespace {

void check_faces(const char* axis, const std::vector<double>& faces) {
  const auto where = fmt::format("mesh.{}", axis);
  if (faces.size() < 2)
    throw InputError(where, fmt::format("{} faces given, a mesh needs at least two", faces.size()),
                     "Give the faces of the cells, one more than there are cells.");
  for (std::size_t i = 0; i < faces.size(); ++i) {
    if (!std::isfinite(faces[i]))
      throw InputError(where, fmt::format("face {} is {}", i + 1, faces[i]),
                       "Faces are finite numbers in metres.");
    if (i > 0 && !(faces[i] > faces[i - 1]))
      throw InputError(
          where,
          fmt::format("face {} ({} m) does not lie beyond face {} ({} m)", i + 1, faces[i], i, faces[i - 1]),
          "Faces must ascend strictly: every cell needs a positive width.");
  }
}

std::vector<double> even_faces(double from, double to, std::size_t cells) {
  // Computes the faces as numpy.linspace does, so that a mesh made in Python has bitwise the same faces:
  // product and sum are rounded separately. Two loops keep compilers from contracting them to one
  // multiply-add.
  std::vector<double> faces(cells + 1);
  const double cell = (to - from) / static_cast<double>(cells);
  for (std::size_t i = 0; i < cells; ++i) faces[i] = static_cast<double>(i) * cell;
  for (double& face : faces) face += from;
  faces[cells] = to;
  return faces;
}

}  // namespace

TensorMesh::TensorMesh(std::vector<double> easting_faces, std::vector<double> northing_faces,
                       std::vector<double> up_faces)
    : faces_{std::move(easting_faces), std::move(northing_faces), std::move(up_faces)} {
  check_faces("easting", faces_[0]);
  check_faces("northing", faces_[1]);
  check_faces("up", faces_[2]);
  const auto limit = std::numeric_limits<std::size_t>::max() / 64;
  if (n_north() > limit / n_east() || n_up() > limit / (n_east() * n_north()))
    throw InputError(
        "mesh", fmt::format("{} × {} × {} cells overflow the address space", n_east(), n_north(), n_up()),
        "Use fewer cells.");
}

TensorMesh TensorMesh::regular(const Prism& box, std::array<std::size_t, 3> shape) {
  for (auto n : shape)
    if (n == 0)
      throw InputError("mesh.shape", "a count of zero cells", "Every axis needs at least one cell.");
  return {even_faces(box.west, box.east, shape[0]), even_faces(box.south, box.north, shape[1]),
          even_faces(box.bottom, box.top, shape[2])};
}

Prism TensorMesh::prism(std::size_t index) const noexcept {
  const auto [i, j, k] = cell(index);
  return {faces_[0][i], faces_[0][i + 1], faces_[1][j], faces_[1][j + 1], faces_[2][k], faces_[2][k + 1]};
}

Prism TensorMesh::bounds() const noexcept {
  return {faces_[0].front(), faces_[0].back(),  faces_[1].front(),
          faces_[1].back(),  faces_[2].front(), faces_[2].back()};
}

}  // namespace terrane
