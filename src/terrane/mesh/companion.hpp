// The companion of a mesh: cells twice as wide, by which the error of the mesh is judged.
//
// The error of a solution of second order is C h²; on cells of 2h it is 4 C h², so that the difference of the
// two solutions is three times the error of the finer one. That holds where the two meshes see the same earth
// and differ in nothing but their cells:
//
//   faces where rock changes stay. Where many lie next to each other (rounded bodies, models of cells) every
//   second one does, and cells take means;
//   faces at sources and receivers stay where two cells or more lie between them;
//   between faces that stay n cells become n/2, graded as they were: their growth is the square of what it
//   was; walls move outwards by cells that are appended, until they are twice as far from the survey. No
//   other face moves with them: a mesh that is planned anew differs in all its faces, and shows their errors
//   as the walls'.
//
// A finer mesh (finer_mesh) keeps the same faces, and between them has n/f cells in place of n, along each
// axis by its own f, graded as they were: their growth is the power f of what it was.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane {

/// The points and walls of each axis (easting, northing, up) that a companion mesh has to respect.
struct CompanionWish {
  std::array<std::vector<double>, 3> places;  ///< coordinates of sources and receivers along each axis, m
  /// {low, high}: whether the wall stands for an earth that goes on beyond it, and moves outwards.
  std::array<std::array<bool, 2>, 3> goes_on{{{true, true}, {true, true}, {true, true}}};
  std::array<bool, 3> coarser{true, true,
                              true};  ///< axes whose cells are twice as wide; others are as they are
  /// Axes whose cells stay where there would be fewer than two between neighbouring places.
  std::array<bool, 3> two_between{};

  /// The same, but no wall moves outwards.
  CompanionWish with_its_walls() const;
};

/// Which faces a finer mesh keeps where rock changes: all, so that values of cells can be copied (values_on),
/// or, of three and more in a row, every second one; then cells take new means of the earth.
enum class KeptFaces { all, every_second };

/// A mesh with cells factor[axis] times as wide along easting, northing, up; walls that go on move outwards
/// until they are twice as far from the places.  rock: as for a companion
TensorMesh finer_mesh(const TensorMesh& mesh, std::span<const std::vector<double>* const> rock,
                      const CompanionWish& wish, const std::array<double, 3>& factor, KeptFaces keeps);

/// Values for the cells of another mesh: the mesh's value where their centres are, beyond it that at its
/// nearest side. Empty where `values` is.
std::vector<double> values_on(const TensorMesh& other, const TensorMesh& mesh,
                              const std::vector<double>& values);

class Companion {
 public:
  /// rock: values of cells, [up, north, east]; faces where they change are kept; empty ones are ignored.
  Companion(const TensorMesh& mesh, std::span<const std::vector<double>* const> rock,
            const CompanionWish& wish);

  const TensorMesh& mesh() const { return mesh_; }

  /// Means over the cells of the companion, of values in cells of the mesh. weight: of each cell, times its
  /// volume, or empty; cells of weight 0 or with NaN are left out. Where all parts have one value, the mean
  /// is that one, bit for bit. Empty where `values` is.
  std::vector<double> mean(const std::vector<double>& values, const std::vector<double>& weight = {}) const;
  /// The same means of logarithms, for conductivities.
  std::vector<double> geometric_mean(const std::vector<double>& values,
                                     const std::vector<double>& weight = {}) const;

  /// A cell along an axis as parts of cells of the mesh: their numbers and shares of its width.
  using Parts = std::vector<std::pair<std::size_t, double>>;

 private:
  template <class Read>
  std::vector<double> folded(const std::vector<double>& values, const std::vector<double>& weight,
                             const Read& read, double (*write)(double)) const;

  std::array<std::size_t, 2> of_{};          // number of cells of the mesh along easting and northing
  std::array<std::vector<Parts>, 3> parts_;  // easting, northing, up
  TensorMesh mesh_;
};

}  // namespace terrane
