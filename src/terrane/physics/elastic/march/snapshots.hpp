// Snapshots of the whole field: which points they show, joined to which cells, and what a rank sees there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "terrane/physics/elastic/march/field.hpp"
#include "terrane/physics/elastic/problem.hpp"

namespace terrane::elastic {

/// All points of the elements, or of their faces at the free surface: those that look up more than sideways.
/// Where a fluid and a solid touch there are two at one place. Matched layers are not shown.
struct Picture {
  std::vector<std::uint32_t> element, n;  ///< of each point: the first element that has it, its point there
  /// Quadrilaterals or bricks between neighbouring points, numbered as VTK does. [cells][corners]
  std::vector<std::int32_t> cells;
  std::size_t corners = 4;
  std::size_t size() const noexcept { return element.size(); }
};

/// Of a settled problem that has snapshots. Throws InputError at "elastic: snapshots": there is nothing to
/// show.
Picture picture_of(const Problem& problem);
/// Where its points are. [points]
std::vector<Vector> places_of(const Problem& problem, const Picture& picture);
/// When they are taken, s: displacement at the end of a step, velocity in its middle.
std::vector<double> times_of_pictures(const Problem& problem);

/// What a rank sees of it: points whose element it has.
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
  std::vector<std::uint32_t> watched_;  // of each point in a solid
  std::vector<std::size_t> first_;  // gradients of point n: first_[n] … first_[n + 1] − 1; solids have none
  std::vector<Gradient> gradients_;
};

}  // namespace terrane::elastic
