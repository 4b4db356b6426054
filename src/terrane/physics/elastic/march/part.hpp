// One rank's part of a problem: its elements in the order in which they are computed, its points, and the
// order in which contributions of elements are summed at each point.
//
// At each point, contributions are added in the order of the elements' indices in the whole mesh, also those
// of other ranks' elements, which are therefore sent individually, not summed. So all ranks that share a
// point compute bitwise identical values there, equal to those of a run on one rank, and displacements need
// not be sent.
#pragma once

#include <cstdint>
#include <vector>

#include "terrane/parallel/threads/filled.hpp"
#include "terrane/physics/elastic/kernels/numbers.hpp"
#include "terrane/physics/elastic/problem.hpp"

namespace terrane::elastic {

/// Elements of one kind, contiguous in Part::elements.
struct Segment {
  Shape shape;
  Rheology rheology;
  unsigned axes;  ///< axes along which matched layers damp waves
  bool outer;     ///< true: elements share points with other ranks, so they are computed first
  std::size_t first, count;
};

struct Neighbour {
  int rank;
  std::vector<std::size_t> send;  ///< own contributions to send, as in Part::contribution
  std::size_t first_received, received;
};

struct PointSource {
  std::uint32_t point, source;
  Vector change;  ///< change of w for a source time function of 1, m
};

struct PointReceiver {
  std::uint32_t receiver;
  std::size_t element;  ///< index in Part::elements
  bool in_fluid;        ///< whether the receiver is in a fluid; receivers in solids precede those in fluids
  /// Weights of the values at points: [points of the element], in a fluid […][3].
  std::vector<double> weight;
};

/// A pair of points at the same position, of a fluid and of a solid in contact.
struct Contact {
  std::uint32_t fluid, solid;
  Vector area;           ///< area times normal, which points out of the solid, m²
  double leaving_fluid;  ///< R of the fluid's point; leaving_solid: of the solid's (Part::leaving)
  std::array<double, 6> leaving_solid;
  double mass_solid;  ///< mass of the solid's point, kg
};

/// A point on the other side of a contact to which only elements of other ranks contribute, and its position
/// in one of these elements.
struct FarPoint {
  std::uint32_t point, element;  ///< index of the point in the part; of the element in the mesh
  std::size_t n;                 ///< index of the point in the element
};

struct Part {
  std::vector<std::uint32_t> elements;  ///< indices of the part's elements in the mesh
  std::vector<Segment> segments;
  std::size_t each = 0;            ///< number of points of an element
  UnsetList<std::uint32_t> point;  ///< [elements][each]
  std::size_t points = 0;
  std::size_t meeting = 0;  ///< points from this index on lie within an element and belong to it alone

  /// Contributions to point p < meeting: contribution[first[p]] … contribution[first[p + 1] − 1]. Each value
  /// is (index in `elements`) · each + index of the point in the element; or own() + index among received
  /// contributions. Both lists are empty if sums need no order.
  UnsetList<std::uint32_t> first, contribution;
  std::size_t own() const noexcept { return elements.size() * each; }
  std::size_t received = 0;
  std::vector<Neighbour> neighbours;

  /// [points]: Δt² / m, with the mass m, kg, in fluids ∫ 1/κ instead; 0 at points where u is fixed at 0: at
  /// the outer edge of a matched layer, and (for the potential) at the free surface of a fluid
  UnsetList<double> factor;

  /// Points of absorbing faces and matched layers, ascending; and at each of them R = (1 + ½ Δt C/m)⁻¹: xx,
  /// yy, zz, yz, xz, xy. C is the damping matrix: the damping force is −C v. The step, centred
  /// in time, is w⁺ = R (2 w + Δt² f / m) − w.
  std::vector<std::uint32_t> absorbing;
  std::vector<std::array<double, 6>> leaving;

  std::vector<Contact> contacts;  ///< contacts of solids and fluids; their points are not in `absorbing`
  std::vector<FarPoint> far;

  std::vector<PointSource> sources;  ///< sorted by point, then by source
  std::vector<PointReceiver> receivers;
};

/// The kind of an element's medium, and its number of memory variables per point.
Rheology rheology_of(const Mesh& mesh, std::size_t element);
std::size_t memory_of(const Mesh& mesh, std::size_t element);
/// For each element the index of its first memory variable in a list of those of all elements; then the
/// list's length.
std::vector<std::size_t> memory_begins(const Problem& problem);

/// Makes the part of rank `rank` of `ranks`, for a problem after Problem::settle(). threads: 0 for all; the
/// part does not depend on them. ordered: whether the order of contributions is listed; only fixed sums need
/// it.
Part make_part(const Problem& problem, int rank, int ranks, int threads = 0, bool ordered = true);

}  // namespace terrane::elastic
