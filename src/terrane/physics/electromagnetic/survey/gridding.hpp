// A tensor mesh from skin depths, and the reasons for its cells.
//
//   cells      a `cells_per_skin_depth`th of the skin depth 503.3 √(1/(σ f)) m, of the highest frequency,
//              with σ at the sources; upright half of that
//   core       such cells around all sources and receivers; from a source to the receivers next to it a
//              tenth of their distance, growing by 1.15 from there
//   beyond     a cell has h + d ln g, d its distance from the core: cells that grow by g, on all sides up to
//              a wavelength (2π skin depths) of the lowest frequency in the earth, and at least 2.5 times the
//              largest distance between source and receiver
//   faces      at the heights asked for: the sea floor, the surface
//   finer      where the earth asks for it (mesh_plan.hpp): layers and bodies under sites of plane waves
//
// Further settings are emg3d's, with the same words and meaning (Werthmüller et al. 2019): a domain in place
// of the core, a center at which cells are smallest, given faces, and the distance of walls by side. An axis
// gets the least of cell_numbers that suffices when its cells grow as fast as they may; then they grow as
// slowly as that number allows, and cells that are left lie beyond the walls. In a domain, around a center
// and where its growth is given, cells are no larger than an eighth of the shortest distance between source
// and receiver, and walls a wavelength away.
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
  std::vector<std::array<Vector3, 2>> parts = {};  ///< straight parts of wires, between two sources each
  std::vector<bool> upright = {};    ///< for each source whether some of its current flows up or down
  bool plane_waves = false;          ///< sources are then the receivers; upright cells are those of `finer`
  std::vector<double> heights = {};  ///< heights at which conductivity changes, m
  /// Widths of cells that the earth needs along east, north, up, and faces that it needs along east and
  /// north; in a core only.
  std::array<std::vector<WidthWish>, 3> finer = {};
  std::array<std::vector<double>, 2> sides = {};
  std::vector<WidthAxis::Least> layers = {};  ///< least number of cells in the height of a layer
  double cells_per_skin_depth = 4;
  double cell = 0;                         ///< width of cells, m; 0: a part of the skin depth
  std::array<double, 2> limits{0, 1e300};  ///< of the smallest cells, m; vertically half of it
  double growth = 1.3;
  double wavelengths = 1;               ///< where walls are: of the lowest frequency,
  std::optional<double> farthest = {};  ///< and m at most; none: 100 km
  bool by_offset =
      true;  ///< no nearer than 2.5 times the largest distance of source and receiver; a core only
  /// The domain that replaces the core around sources and receivers, {low, high} along east, north, up.
  std::array<std::optional<std::array<double, 2>>, 3> domain = {};
  std::array<std::vector<double>, 3> faces = {};  ///< faces that are given, ascending, along east, north, up
  std::optional<Vector3> center = {};             ///< a place on a face, or in the middle of a cell
  bool center_on_face = true;
  std::vector<std::size_t> cell_numbers = {};  ///< numbers of cells that an axis may have; empty: any
  /// Away from the center, or from the mean source. none: 1 in a domain or around a center; a core is as
  /// above.
  std::optional<double> growth_in_domain = {};
  /// Two wavelengths fit on the way from the center to a wall and back to the end of the domain.
  bool wavelengths_of_way = false;
  /// Height of the sea's surface: a face, up to which the domain reaches.
  std::optional<double> sea_surface = {};
  /// Conductivity by which the distance of each wall is chosen, S/m: west, east, south, north, down, up; 0:
  /// the mean.
  std::array<double, 6> beyond{};
};

struct GridPlan {
  TensorMesh mesh;
  std::vector<std::string> reasons;  ///< lines for the user
};

/// Throws InputError: no frequency, source or receiver, a conductivity or frequency that is not positive, a
/// growth that is not between 1 and 2, a domain or faces that do not ascend, a sea surface below the center,
/// more cells than cell_numbers has.
GridPlan plan_mesh(const GridRequest& request);

}  // namespace terrane::electromagnetic
