// Snapshots of the whole field: which points they show, joined to which cells, and what a rank sees there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "terrane/physics/elastic/march/field.hpp"
#include "terrane/physics/elastic/problem.hpp"

namespace terrane::elastic {

/// The points of snapshots: all points of elements, or those on faces at the free surface whose normal is
/// more upward than sideways. Where a fluid and a solid touch there are two at one place. Matched layers are
/// not shown.
struct Picture {
  std::vector<std::uint32_t> element,
      n;  ///< of each point the first element that has it, and its number in that element
  /// Quadrilaterals or bricks between neighbouring points, numbered as VTK does. [cells][corners]
  std::vector<std::int32_t> cells;
  std::size_t corners = 4;
  std::size_t size() const noexcept { return element.size(); }
};

/// The picture for a settled problem that has snapshots. Throws InputError at "elastic: snapshots": there is
/// nothing to show.
Picture picture_of(const Problem& problem);
/// Positions of its points: [points].
std::vector<Vector> places_of(const Problem& problem, const Picture& picture);
/// Times of the snapshots, s: displacement at the end of a step, velocity in its middle.
std::vector<double> times_of_pictures(const Problem& problem);

/// A rank's part of the picture: the points whose element it has.
class Sight {
 public:
  Sight(const Problem& problem, const Picture& picture, Field& field);
  const std::vector<std::uint32_t>& points() const noexcept { return points_; }  ///< of the picture
  std::vector<float> values();                                                   ///< [points][3], m or m/s

 private:
  /// Points in fluids: u = ∇χ/ρ by the values along the three lines of points through it.
  struct Gradient {
    std::uint32_t watched;
    Vector weight;
  };
  Field& field_;
  double factor_;
  Field::Of what_;
  std::vector<std::uint32_t> points_;
  std::vector<std::uint32_t> watched_;  // point of the part, for each point shown that lies in a solid
  std::vector<std::size_t> first_;  // gradients of point n: first_[n] … first_[n + 1] − 1; solids have none
  std::vector<Gradient> gradients_;
};

}  // namespace terrane::elastic
