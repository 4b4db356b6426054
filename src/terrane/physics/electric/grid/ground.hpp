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

/// What is painted as cells of little conductivity and is air: cells of at most 1e-7 S/m with none but such
/// cells up to the top of the mesh. Others, such as a cavity or salt, are ground. As shares; empty where
/// there is none.
std::vector<double> ground_below_air(const TensorMesh& mesh, const std::vector<double>& conductivity);

/// The surface that the shares of cells show: heights of columns, between whose middles it is bilinear.
std::function<double(double easting, double northing)> surface_of(const TensorMesh& mesh,
                                                                  const std::vector<double>& ground);

/// Of each electrode, the height of the surface there and how it rises along the rays of a Slope, over the
/// width of a cell: [electrodes, 1 + Slope::rays].  cells: so many widths, at least
std::vector<double> slopes_at(const TensorMesh& mesh, const std::vector<Point>& electrodes,
                              const std::function<double(double easting, double northing)>& height,
                              double cells = 1);

/// Mean height of the ground in the column of cells that holds a point, m.
double ground_level(const TensorMesh& mesh, const std::vector<double>& ground, const Point& p);

/// Throws ShapeError; InputError: a share that is not from 0 to 1.
void check_ground(const TensorMesh& mesh, const std::vector<double>& ground);

/// Conductivities in which cells of air and cut cells have theirs. Those of ground above the ground mean
/// nothing.
struct CellsWithAir {
  std::array<std::vector<double>, 3> along;  ///< easting, northing, up; the others empty where all are alike
  std::array<std::vector<double>, 3> quadrature;
  double air = 0;  ///< S/m

  /// The geometric mean of the ground's conductivities times 1e-8 is that of air.  conductivity.ground: not
  /// null
  CellsWithAir(const TensorMesh& mesh, const Conductivity& conductivity);
  Conductivity view() const;
};

/// Throws InputError at `what` when no cell at p has ground.
void refuse_air(const TensorMesh& mesh, const std::vector<double>& ground, const Point& p,
                const std::string& what);

}  // namespace terrane::electric
