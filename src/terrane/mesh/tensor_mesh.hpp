// A rectilinear mesh: cells between faces that need not be evenly spaced.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "terrane/mesh/prism.hpp"

namespace terrane {

/// Faces along easting, northing and up, each strictly ascending, in metres; n + 1 faces bound n cells.
/// The origin is the lower south-west corner. Cell arrays are [up, north, east], easting contiguous:
/// cell = i + n_east · (j + n_north · k).
class TensorMesh {
 public:
  TensorMesh() = default;
  /// Throws InputError when an axis has fewer than two faces, a NaN, or does not ascend.
  TensorMesh(std::vector<double> easting_faces, std::vector<double> northing_faces,
             std::vector<double> up_faces);

  /// A box cut into equal cells.  box m · shape {east, north, up}
  static TensorMesh regular(const Prism& box, std::array<std::size_t, 3> shape);

  const std::vector<double>& easting() const noexcept { return faces_[0]; }
  const std::vector<double>& northing() const noexcept { return faces_[1]; }
  const std::vector<double>& up() const noexcept { return faces_[2]; }

  std::size_t n_east() const noexcept { return count(0); }
  std::size_t n_north() const noexcept { return count(1); }
  std::size_t n_up() const noexcept { return count(2); }
  std::size_t size() const noexcept { return n_east() * n_north() * n_up(); }

  std::size_t index(std::size_t i, std::size_t j, std::size_t k) const noexcept {
    return i + n_east() * (j + n_north() * k);
  }
  /// {i, j, k} of a cell.
  std::array<std::size_t, 3> cell(std::size_t index) const noexcept {
    return {index % n_east(), index / n_east() % n_north(), index / n_east() / n_north()};
  }
  Prism prism(std::size_t index) const noexcept;
  Prism bounds() const noexcept;

 private:
  std::size_t count(std::size_t axis) const noexcept {
    return faces_[axis].empty() ? 0 : faces_[axis].size() - 1;
  }
  std::array<std::vector<double>, 3> faces_;
};

}  // namespace terrane
