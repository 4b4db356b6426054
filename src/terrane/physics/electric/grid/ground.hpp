// The ground below an uneven surface: the fraction of each cell that is ground, and the conductivity of cells
// that the surface cuts.
//
// The conductivity of a cut cell is f σ_ground, f its fraction of ground; the conductivity of air is 1e-8 of
// the ground's mean. With electrodes at their true heights, the error of the potential four cells away on a
// slope of 1:2 is 1.5 %, and 0.3 % with cells half as wide; a surface made of whole cells, as stairs, would
// move the electrodes. The geometric factor is computed for a homogeneous ground on the same mesh, so that
// most of this error cancels.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "terrane/mesh/ground_below.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"

namespace terrane::electric {

/// The fractions of ground in a model that contains air as cells of low conductivity: a cell is air if it and
/// all cells above it, up to the top of the mesh, have at most 1e-7 S/m. Other cells of low conductivity, for
/// example a cavity or salt, are ground. Returns an empty vector if no cell is air.
std::vector<double> ground_below_air(const TensorMesh& mesh, const std::vector<double>& conductivity);

/// The surface derived from the fractions of ground: heights of columns, with bilinear interpolation between
/// their centres.
std::function<double(double easting, double northing)> surface_of(const TensorMesh& mesh,
                                                                  const std::vector<double>& ground);

/// For each electrode, the height of the surface there and its slopes along the rays of a Slope, over a
/// distance of `cells` cell widths: [electrodes, 1 + Slope::rays].
std::vector<double> slopes_at(const TensorMesh& mesh, const std::vector<Point>& electrodes,
                              const std::function<double(double easting, double northing)>& height,
                              double cells = 1);

/// Mean height of the ground in the column of cells that contains a point, m.
double ground_level(const TensorMesh& mesh, const std::vector<double>& ground, const Point& p);

/// Throws ShapeError: there is not one fraction per cell; InputError: a fraction outside 0 … 1.
void check_ground(const TensorMesh& mesh, const std::vector<double>& ground);

/// Conductivities of all cells, including those of air and of cut cells. Values of the input for cells of air
/// are ignored.
struct CellsWithAir {
  /// Conductivities along easting, northing, up; along easting alone if isotropic.
  std::array<std::vector<double>, 3> along;
  std::array<std::vector<double>, 3> quadrature;
  double air = 0;  ///< conductivity of air, S/m

  /// Air gets 1e-8 times the geometric mean of the ground's conductivities. conductivity.ground must not be
  /// null.
  CellsWithAir(const TensorMesh& mesh, const Conductivity& conductivity);
  Conductivity view() const;
};

/// Lowers electrodes that lie on the ground, or less than `most` (m) above it, but in a cell whose fraction
/// of ground is zero, to the nearest cell below with ground. The surface is sampled at 8 × 8 points per cell,
/// so the highest cell of a narrow crest may have no ground. Returns a note with the number of lowered
/// electrodes and the largest distance, or "".
std::string lower_to_ground(const TensorMesh& mesh, const std::vector<double>& ground,
                            const std::function<double(double easting, double northing)>& height, double most,
                            std::vector<Point>& electrodes);

/// Throws InputError, with `what` as its subject, if no cell at p has ground.
void refuse_air(const TensorMesh& mesh, const std::vector<double>& ground, const Point& p,
                const std::string& what);

}  // namespace terrane::electric
