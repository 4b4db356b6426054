// Snapshots of the whole field: the points that they show, the cells between these points, and each rank's
// values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "terrane/physics/elastic/march/field.hpp"
#include "terrane/physics/elastic/problem.hpp"

namespace terrane::elastic {

/// The points of snapshots: all points of elements, or points of faces at the free surface whose normal is
/// less than 60° from the vertical. At contacts of a fluid and a solid there are two points at each position.
/// Matched layers are not shown.
struct Picture {
  std::vector<std::uint32_t> element,
      n;  ///< for each point the first element that contains it, and its index in that element
  /// Quadrilaterals or bricks between neighbouring points, numbered as VTK does. [cells][corners]
  std::vector<std::int32_t> cells;
  std::size_t corners = 4;
  std::size_t size() const noexcept { return element.size(); }
};

/// The picture of a settled problem that has snapshots. Throws InputError at "elastic: snapshots" if there is
/// nothing to show.
Picture picture_of(const Problem& problem);
/// Positions of the picture's points, m: [points].
std::vector<Vector> places_of(const Problem& problem, const Picture& picture);
/// Times of the snapshots, s: displacement at the end of a step, velocity in its middle.
std::vector<double> times_of_pictures(const Problem& problem);

/// A rank's part of the picture: the points whose element (Picture::element) the rank computes.
class Sight {
 public:
  Sight(const Problem& problem, const Picture& picture, Field& field);
  /// Indices in the picture of the points that this rank computes.
  const std::vector<std::uint32_t>& points() const noexcept { return points_; }
  std::vector<float> values();  ///< [points][3], m or m/s

 private:
  /// For a shown point in a fluid, where u = ∇χ/ρ: a watched point on one of the three lines of points of the
  /// element through the shown point, and the weight of the watched point's potential χ.
  struct Gradient {
    std::uint32_t watched;
    Vector weight;
  };
  Field& field_;
  double factor_;
  Field::Of what_;
  std::vector<std::uint32_t> points_;
  std::vector<std::uint32_t> watched_;  // for each shown point in a solid, its index in the part
  std::vector<std::size_t> first_;  // gradients of point n: first_[n] … first_[n + 1] − 1; none in solids
  std::vector<Gradient> gradients_;
};

}  // namespace terrane::elastic
