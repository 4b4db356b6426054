// Plans a tensor mesh from skin depths, and gives the reasons for its cells.
//
//   cells      width: the skin depth 503.3 √(1/(σ f)) m of the highest frequency, with σ at the sources,
//              divided by `cells_per_skin_depth`; height: half of the width
//   core       such cells around all sources and receivers; between a source and its nearest receiver, cells
//              of a tenth of their distance, growing by 1.15 from there
//   beyond     cells of width h + d ln g, d the distance from the core: cells that grow by g, on all sides,
//              up to walls at a wavelength (2π skin depths) of the lowest frequency in the earth, and at
//              least 2.5 times the largest distance between source and receiver
//   faces      at requested heights, such as the sea floor and the surface
//   finer      cells that layers and bodies need (earth_widths.hpp)
//
// Further settings are those of emg3d, with the same words and meaning (Werthmüller et al. 2019): a domain
// instead of the core, a center at which cells are smallest, given faces, and the distance of the wall on
// each side. The number of cells along an axis is the least of cell_numbers that suffices with the largest
// allowed growth; the growth is then reduced as far as that number permits, and remaining cells are added
// beyond the walls. With a domain, a center or a given growth in the domain, cells are no larger than an
// eighth of the shortest distance between source and receiver, and walls are a wavelength away.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/mesh/widths.hpp"
#include "terrane/physics/electromagnetic/survey/sampling.hpp"

namespace terrane::electromagnetic {

struct GridRequest {
  std::vector<double> frequencies;  ///< Hz
  double at_sources = 1;            ///< conductivity at the sources, S/m
  double mean = 1;                  ///< mean conductivity of the earth, S/m
  std::vector<Vector3> sources = {}, receivers = {};
  std::vector<std::array<Vector3, 2>> parts = {};  ///< straight segments of wires, from corner to corner
  std::vector<bool> upright = {};  ///< for each source whether some of its current flows up or down
  /// Whether waves come from above: then `sources` holds the receivers, and `finer` gives the heights of
  /// cells.
  bool plane_waves = false;
  std::vector<double> heights = {};  ///< heights at which conductivity changes, m
  /// Cell widths that the earth needs along east, north, up, and faces that it needs along east and north;
  /// used only if the mesh has a core.
  std::array<std::vector<WidthWish>, 3> finer = {};
  std::array<std::vector<double>, 2> sides = {};
  std::vector<WidthAxis::Least> layers = {};  ///< least numbers of cells within the height of layers
  double cells_per_skin_depth = 4;
  double cell = 0;                         ///< width of cells, m; 0: a fraction of the skin depth
  std::array<double, 2> limits{0, 1e300};  ///< limits of the smallest cells' width, m; for heights, half of
                                           ///< these
  double growth = 1.3;
  double wavelengths = 1;               ///< distance of walls, in wavelengths of the lowest frequency
  std::optional<double> farthest = {};  ///< largest distance of walls, m; none: 100 km
  bool by_offset = true;  ///< whether walls are at least 2.5 times the largest source-receiver distance away;
                          ///< only with a core
  /// The domain that replaces the core around sources and receivers, {low, high} along east, north, up.
  std::array<std::optional<std::array<double, 2>>, 3> domain = {};
  std::array<std::vector<double>, 3> faces = {};  ///< given faces, ascending, along east, north, up
  std::optional<Vector3> center = {};             ///< point at which cells are smallest: on a face, or in the
                                                  ///< middle of a cell
  bool center_on_face = true;
  std::vector<std::size_t> cell_numbers = {};  ///< allowed numbers of cells along an axis; empty: any
  /// Growth of cells within the domain, away from the center or the mean source position. none: 1 in a domain
  /// or around a center; a core is planned as the head of this file says.
  std::optional<double> growth_in_domain = {};
  /// Whether walls are placed such that the path from the center to a wall and back to the end of the domain
  /// is two wavelengths long.
  bool wavelengths_of_way = false;
  /// Height of the sea's surface: a face of the mesh; the domain extends up to it.
  std::optional<double> sea_surface = {};
  /// Conductivity from which the distance of each wall is computed, S/m: west, east, south, north, down, up;
  /// 0: `mean`.
  std::array<double, 6> beyond{};
};

struct GridPlan {
  TensorMesh mesh;
  std::vector<std::string> reasons;  ///< lines for the user
};

/// Throws InputError: no frequency, source or receiver, a conductivity or frequency that is not positive, a
/// growth that is not between 1 and 2, a domain or faces that do not ascend, a sea surface below the center,
/// more cells needed than cell_numbers allows.
GridPlan plan_mesh(const GridRequest& request);

}  // namespace terrane::electromagnetic
