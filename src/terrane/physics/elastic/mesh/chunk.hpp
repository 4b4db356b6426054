// A chunk of the sphere, one face of the cubed sphere or a part of it (Ronchi, Iacono & Paolucci 1996,
// Journal of Computational Physics 124, 93), between the surface and a depth:
//
//   X = tan ξ, Y = tan η, δ = √(1 + X² + Y²),   x = r/δ (X, Y, 1) − (0, 0, R)
//
// ξ and η are angles at the centre of the earth, from the chunk's middle towards east and north; r is the
// distance from this centre, R the radius of the earth's surface. Elements have equal widths in ξ
// and η; the chunk's sides are planes through the centre of the earth. The axes of x are east, north and up
// at the middle of the surface, which is the origin. In ξ, η and r the mesh is that of layers.hpp, with
// doublings; the formula determines the positions of all 27 nodes of an element.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "terrane/physics/elastic/mesh/mesh.hpp"

namespace terrane::elastic {

constexpr double earth_radius = 6'371'000;  ///< m

struct ChunkLayer {
  double bottom;          ///< height relative to the surface, m, negative
  std::size_t rows;       ///< number of rows of elements, including the two rows of a doubling
  bool doubling = false;  ///< whether columns are twice as wide from this layer on
};

struct Chunk {
  double radius = earth_radius;            ///< R, m
  double width_east = 0, width_north = 0;  ///< range of ξ and of η, radians, up to π/2
  std::size_t columns_east = 1, columns_north = 1;
  std::vector<ChunkLayer> layers;  ///< layers from the surface down
};

/// Makes the mesh: elements from the surface down, all with medium index 0. layer: receives the index of each
/// element's layer. Throws InputError at "elastic: chunk".
Mesh chunk_of_sphere(const Chunk& chunk, const OpenSides& open, std::vector<std::uint32_t>& layer);

/// The position of a chunk on the earth. The earth is a sphere here; geodetic latitudes are converted to
/// geocentric ones, tan φ' = (1 − f)² tan φ, f = 1/298.257.
struct Placement {
  double radius = earth_radius;
  double longitude = 0, latitude = 0;  ///< geodetic coordinates of the chunk's middle, degrees
  double azimuth = 0;                  ///< azimuth of the chunk's north axis, degrees, clockwise from north
  double width_east = 0, width_north = 0;  ///< widths of the chunk, radians; 0: it has no sides
  double depth = 0;                        ///< depth of the chunk's bottom, m

  using Frame =
      std::array<Vector, 3>;  ///< unit vectors east, north and up at a position, in the chunk's axes
  /// Position of a point `below` metres below the surface, in the chunk's axes.
  Vector at(double longitude, double latitude, double below) const;
  /// Throws InputError at `where` if the position that at() returns for these coordinates lies outside the
  /// chunk; the message gives the chunk's extent.
  void require_inside(double longitude, double latitude, double below, const std::string& where) const;
  Frame frame(double longitude, double latitude) const;
  Frame frame(const Vector& at) const;

 private:
  Frame middle() const;
};

/// Radial earth models, without attenuation or with Q as in their tables:
///   PREM, isotropic at 1 s, with its upper crust in place of the ocean (Dziewonski & Anderson 1981, Physics
///   of the Earth and Planetary Interiors 25, 297); ak135 (ak135.hpp); or lines between the rows of a table.
class RadialEarth {
 public:
  struct Row {
    double depth, density, velocity_p, velocity_s;           ///< m, kg/m³, m/s
    double quality_kappa = INFINITY, quality_mu = INFINITY;  ///< Q of κ and μ
  };
  static RadialEarth prem(bool attenuating = false);
  static RadialEarth ak135(bool attenuating = false);
  /// rows: from the surface down; a discontinuity is two rows of one depth. Throws InputError at `where`.
  RadialEarth(std::vector<Row> rows, const std::string& where);
  /// The medium at a radius, m. Fluids have no Q. inside: a radius between `radius` and the centre of the
  /// element for which the medium is needed; if there is a discontinuity between both radii, the medium on
  /// the side of `inside`.
  Medium at(double radius) const { return at(radius, radius); }
  Medium at(double radius, double inside) const;

 private:
  RadialEarth() = default;
  bool attenuating_ = false;
  std::vector<Row> rows_;  // empty: PREM
};

}  // namespace terrane::elastic
