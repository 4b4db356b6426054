// Companions of a mesh: one whose cells are twice as wide, from which the error of the mesh is estimated, and
// a finer one.
//
// The error of a second-order solution on cells of width h is C h², with a constant C; with cells of 2h it is
// 4 C h². The difference of the two solutions is therefore three times the error of the finer one. This holds
// only if both meshes describe the same earth and differ in nothing but their cells:
//
//   faces across which properties change are kept. Of three or more such faces in a row (rounded bodies,
//   models given cell by cell) every second one is kept, and the wider cells have mean properties;
//   faces at sources and receivers are kept if at least two cells lie between them;
//   between kept faces n cells become n/2 with the same grading: their growth factor is squared;
//   outer walls are moved to twice their distance from the survey by appended cells. No other face moves
//   with them: a mesh planned anew would differ in all its faces, and the difference of the solutions
//   would contain their errors as well as that of the walls.
//
// A finer mesh (finer_mesh) keeps the same faces and has n/f cells instead of n between them, with a factor f
// ≤ 1 for each axis and the same grading: the growth factor g becomes g^f.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane {

/// The points and walls of each axis (easting, northing, up) that a companion mesh has to respect.
struct CompanionWish {
  std::array<std::vector<double>, 3> places;  ///< [axis]: coordinates of sources and receivers, m
  /// [axis]{low, high}: whether the earth continues beyond this wall, so that the wall is moved outwards.
  std::array<std::array<bool, 2>, 3> goes_on{{{true, true}, {true, true}, {true, true}}};
  std::array<bool, 3> coarser{
      true, true, true};  ///< axes along which cells become twice as wide; along others they are kept
  /// Axes along which the cells between neighbouring `places` are kept if merging would leave fewer than two.
  std::array<bool, 3> two_between{};

  /// A copy of these requirements with which no wall is moved.
  CompanionWish with_its_walls() const;
};

/// For each face of an axis (0: easting, 1: northing, 2: up), whether a property differs between any two
/// cells that it separates.  rock: arrays of properties of the cells; empty ones are skipped
std::vector<bool> changes_along(std::size_t axis, const TensorMesh& mesh,
                                std::span<const std::vector<double>* const> rock);

/// The faces that a finer mesh keeps, of those across which properties change: all, so that the values of
/// cells can be copied (values_on); or every second one of three or more in a row: then mean properties
/// must be computed again.
enum class KeptFaces { all, every_second };

/// A mesh whose cells are factor[axis] times as wide along easting, northing and up; walls beyond which the
/// earth continues are moved to twice their distance from wish.places.  rock: as for Companion
TensorMesh finer_mesh(const TensorMesh& mesh, std::span<const std::vector<double>* const> rock,
                      const CompanionWish& wish, const std::array<double, 3>& factor, KeptFaces keeps);

/// Values for the cells of mesh `other`: the value of the cell of `mesh` that contains the centre of the
/// cell; for a centre outside `mesh`, that of the nearest cell. Empty if `values` is empty.
std::vector<double> values_on(const TensorMesh& other, const TensorMesh& mesh,
                              const std::vector<double>& values);

class Companion {
 public:
  /// rock: arrays of cell properties, each [up, north, east]. Faces across which one of them changes are
  /// kept. Empty arrays are ignored.
  Companion(const TensorMesh& mesh, std::span<const std::vector<double>* const> rock,
            const CompanionWish& wish);

  const TensorMesh& mesh() const { return mesh_; }

  /// Averages `values` [cells of the mesh] over each cell of the companion. weight [cells of the mesh]: a
  /// factor by which the volume of the cell is multiplied; empty: 1. Cells with weight 0 or value NaN are
  /// left out. If all averaged cells have one value, the mean equals it bitwise. Empty if `values` is empty.
  std::vector<double> mean(const std::vector<double>& values, const std::vector<double>& weight = {}) const;
  /// The same as mean(), but averages the logarithms of the values; for conductivities.
  std::vector<double> geometric_mean(const std::vector<double>& values,
                                     const std::vector<double>& weight = {}) const;

  /// A cell of the companion along one axis: the indices of the mesh's cells in it, and the fraction of its
  /// width that each fills.
  using Parts = std::vector<std::pair<std::size_t, double>>;

 private:
  template <class Read>
  std::vector<double> folded(const std::vector<double>& values, const std::vector<double>& weight,
                             const Read& read, double (*write)(double)) const;
  template <class Read>
  double folded_at(std::size_t cell_of_companion, const std::vector<double>& values,
                   const std::vector<double>& weight, const Read& read, double (*write)(double)) const;

  std::array<std::size_t, 2> of_{};          // number of cells of the mesh along easting and northing
  std::array<std::vector<Parts>, 3> parts_;  // [easting, northing, up][cells of the companion]
  TensorMesh mesh_;
};

}  // namespace terrane
