// The ground under an uneven surface: which part of each cell is ground, and what conducts in cells that the
// surface cuts.
//
// A cut cell conducts by its share of ground, σ = f σ_ground, and air by 1e-8 of the ground's mean: with
// electrodes at their true height that is right to 1.5 % four cells away on a slope of 1:2, and to 0.3 % with
// half the cells; cells cut as stairs move the electrodes. The geometric factor is that of a homogeneous
// ground on the same mesh, in whose ratio most of that error goes, too.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "terrane/mesh/ground_below.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"

namespace terrane::electric {

/// The shares of ground in a model that has air as cells of low conductivity: a cell is air if it and all
/// cells above it, up to the top of the mesh, have at most 1e-7 S/m. Other such cells, for example of a
/// cavity or salt, are ground. Empty: no cell is air.
std::vector<double> ground_below_air(const TensorMesh& mesh, const std::vector<double>& conductivity);

/// The surface that the shares of cells show: heights of columns, between whose middles it is bilinear.
std::function<double(double easting, double northing)> surface_of(const TensorMesh& mesh,
                                                                  const std::vector<double>& ground);

/// For each electrode, the height of the surface there and its slopes along the rays of a Slope, over the
/// width of a cell: [electrodes, 1 + Slope::rays]. cells: least number of cell widths over which slopes are
/// taken
std::vector<double> slopes_at(const TensorMesh& mesh, const std::vector<Point>& electrodes,
                              const std::function<double(double easting, double northing)>& height,
                              double cells = 1);

/// Mean height of the ground in the column of cells that holds a point, m.
double ground_level(const TensorMesh& mesh, const std::vector<double>& ground, const Point& p);

/// Throws ShapeError; InputError: a share that is not from 0 to 1.
void check_ground(const TensorMesh& mesh, const std::vector<double>& ground);

/// Conductivities of all cells, with those of air and of cut cells set. Values that the input has for cells
/// of air are not used.
struct CellsWithAir {
  std::array<std::vector<double>, 3> along;  ///< easting, northing, up; where all are alike, easting alone
  std::array<std::vector<double>, 3> quadrature;
  double air = 0;  ///< S/m

  /// Air gets 1e-8 times the geometric mean of the ground's conductivities. conductivity.ground: not null
  CellsWithAir(const TensorMesh& mesh, const Conductivity& conductivity);
  Conductivity view() const;
};

/// Lowers electrodes that stand on the ground, or less than `most` above it, to the cells that have ground:
/// these know the ground's mean height over an eighth of a cell, so that one on a crest would hang in the air
/// of small cells. Returns a note of how many it lowered by how much; empty: none.
std::string lower_to_ground(const TensorMesh& mesh, const std::vector<double>& ground,
                            const std::function<double(double easting, double northing)>& height, double most,
                            std::vector<Point>& electrodes);

/// Throws InputError at `what` when no cell at p has ground.
void refuse_air(const TensorMesh& mesh, const std::vector<double>& ground, const Point& p,
                const std::string& what);

}  // namespace terrane::electric
