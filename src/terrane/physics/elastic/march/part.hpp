// One rank's part of a problem: its elements in the order in which they are computed, its points, and in
// which order what elements contribute to a point is added.
//
// Every point adds contributions in the order of the elements' numbers in the whole mesh, also those of other
// ranks' elements, which come as they are and not summed. So all ranks that share a point compute the same
// bits for it, as one rank alone would, and displacements need never be sent.
#pragma once

#include <cstdint>
#include <vector>

#include "terrane/parallel/threads/filled.hpp"
#include "terrane/physics/elastic/kernels/numbers.hpp"
#include "terrane/physics/elastic/problem.hpp"

namespace terrane::elastic {

/// Elements of one kind, one after the other in Part::elements.
struct Segment {
  Shape shape;
  Rheology rheology;
  unsigned axes;  ///< axes along which waves fade
  bool outer;     ///< true: shares points with other ranks, so it is computed first
  std::size_t first, count;
};

struct Neighbour {
  int rank;
  std::vector<std::size_t> send;  ///< own contributions: element in Part::elements · points + point
  std::size_t first_received, received;
};

struct PointSource {
  std::uint32_t point, source;
  Vector change;  ///< change of w for a unit of the source's time function, m
};

struct PointReceiver {
  std::uint32_t receiver;
  std::size_t element;         ///< in Part::elements
  bool in_fluid;               ///< those in solids come first
  std::vector<double> weight;  ///< [points of the element]; in a fluid [points of the element][3]
};

/// A place where a fluid and a solid touch: a point of each.
struct Contact {
  std::uint32_t fluid, solid;
  Vector area;           ///< area with its normal, which points out of the solid, m²
  double leaving_fluid;  ///< R of these points, as of Part::leaving
  std::array<double, 6> leaving_solid;
  double mass_solid;  ///< kg
};

/// A point to which no element of the part contributes, on the other side of a contact; and where it lies.
struct FarPoint {
  std::uint32_t point, element;  ///< number of a point in the part, of an element in the mesh
  std::size_t n;                 ///< point of the element
};

struct Part {
  std::vector<std::uint32_t> elements;  ///< numbers in the mesh
  std::vector<Segment> segments;
  std::size_t each = 0;            ///< points of an element
  UnsetList<std::uint32_t> point;  ///< [elements][each]
  std::size_t points = 0;
  std::size_t meeting = 0;  ///< from here on each belongs to one element alone, within it (uses_inner)

  /// Contributions of point p < meeting: from first[p] to first[p + 1]. Each is element · points + point of
  /// an own element, or own() + number of what is received. Both are empty where sums need no order.
  UnsetList<std::uint32_t> first, contribution;
  std::size_t own() const noexcept { return elements.size() * each; }
  std::size_t received = 0;
  std::vector<Neighbour> neighbours;

  /// [points] Δt² / m, m in kg, of fluids ∫ 1/κ; 0 where the outer edge of a margin holds the displacement,
  /// or a fluid's free surface the potential, at 0
  UnsetList<double> factor;

  /// Points through which waves leave or in which they fade, and there R = (1 + ½ Δt C/m)⁻¹: xx, yy, zz, yz,
  /// xz, xy. Ascending. Then w⁺ = R (2 w + Δt² f / m) − w, centred in time.
  std::vector<std::uint32_t> absorbing;
  std::vector<std::array<double, 6>> leaving;

  std::vector<Contact> contacts;  ///< faces between solids and fluids; `absorbing` lacks their points
  std::vector<FarPoint> far;

  std::vector<PointSource> sources;  ///< in the order of points, then of sources
  std::vector<PointReceiver> receivers;
};

/// How an element is computed, and how many numbers it keeps per point.
Rheology rheology_of(const Mesh& mesh, std::size_t element);
std::size_t memory_of(const Mesh& mesh, std::size_t element);
/// Where the numbers of each element begin in the list of all that elements keep; and the list's end.
std::vector<std::size_t> memory_begins(const Problem& problem);

/// The part of rank `rank` of `ranks` of a settled problem. threads: 0 for all; the part does not depend on
/// them. ordered: with the order of contributions, which sums that are not fixed do not need.
Part make_part(const Problem& problem, int rank, int ranks, int threads = 0, bool ordered = true);

}  // namespace terrane::elastic
