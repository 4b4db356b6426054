// A chunk of the sphere, one face of the cubed sphere or a part of it (Ronchi, Iacono & Paolucci 1996,
// Journal of Computational Physics 124, 93), between the surface and a depth:
//
//   X = tan ξ, Y = tan η, δ = √(1 + X² + Y²),   x = r/δ (X, Y, 1) − (0, 0, R)
//
// ξ and η are even between the sides, which are planes through the centre of the earth. Axes: east, north and
// up at the middle of the surface, where the origin is. The mesh is that of layers.hpp, doublings too, in ξ,
// η and r; all 27 nodes of an element lie where the formula puts them.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "terrane/physics/elastic/mesh/mesh.hpp"

namespace terrane::elastic {

constexpr double earth_radius = 6'371'000;  ///< m

struct ChunkLayer {
  double bottom;          ///< m, below zero
  std::size_t rows;       ///< of elements; the two of a doubling among them
  bool doubling = false;  ///< columns are twice as wide from here on
};

struct Chunk {
  double radius = earth_radius;            ///< R, m
  double width_east = 0, width_north = 0;  ///< range of ξ and of η, radians, up to π/2
  std::size_t columns_east = 1, columns_north = 1;
  std::vector<ChunkLayer> layers;  ///< from the surface down
};

/// Elements from the surface down, all of medium 0. layer: of each element. Throws InputError at "elastic:
/// chunk".
Mesh chunk_of_sphere(const Chunk& chunk, const OpenSides& open, std::vector<std::uint32_t>& layer);

/// Where on the earth a chunk lies. The earth is a sphere here; latitudes of maps are taken to those seen
/// from its centre, tan φ' = (1 − f)² tan φ, f = 1/298.257.
struct Placement {
  double radius = earth_radius;
  double longitude = 0, latitude = 0;      ///< geodetic coordinates of its middle, degrees
  double azimuth = 0;                      ///< azimuth of its north axis, degrees, clockwise from north
  double width_east = 0, width_north = 0;  ///< widths of the chunk, radians; 0: it has no sides
  double depth = 0;                        ///< of its bottom, m

  using Frame = std::array<Vector, 3>;  ///< unit vectors east, north and up at a place, in the chunk's axes
  Vector at(double longitude, double latitude, double below) const;
  /// Throws InputError at `where`: at() of this lies outside the chunk, which reaches how far.
  void require_inside(double longitude, double latitude, double below, const std::string& where) const;
  Frame frame(double longitude, double latitude) const;
  Frame frame(const Vector& at) const;

 private:
  Frame middle() const;
};

/// Media by radius, without attenuation or with Q as in the tables:
///   PREM, isotropic at 1 s, with its upper crust in place of the ocean (Dziewonski & Anderson 1981, Physics
///   of the Earth and Planetary Interiors 25, 297); ak135 (ak135.hpp); or lines between the rows of a table.
class RadialEarth {
 public:
  struct Row {
    double depth, density, velocity_p, velocity_s;           ///< m, kg/m³, m/s
    double quality_kappa = INFINITY, quality_mu = INFINITY;  ///< of its moduli
  };
  static RadialEarth prem(bool attenuating = false);
  static RadialEarth ak135(bool attenuating = false);
  /// Rows from the surface down; a depth twice where the medium changes at once. Throws InputError at
  /// `where`.
  RadialEarth(std::vector<Row> rows, const std::string& where);
  /// radius: m. Fluids have no Q. inside: a radius between this one and the middle of the element that asks;
  /// where the earth changes at once between the two, the medium is that on its side.
  Medium at(double radius) const { return at(radius, radius); }
  Medium at(double radius, double inside) const;

 private:
  RadialEarth() = default;
  bool attenuating_ = false;
  std::vector<Row> rows_;  // empty: PREM
};

}  // namespace terrane::elastic
