// The mesh: hexahedral elements, the medium in each, and the boundary conditions at outer faces.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/elastic/element/hexahedron.hpp"
#include "terrane/physics/elastic/element/medium.hpp"
#include "terrane/physics/elastic/kernels/numbers.hpp"

namespace terrane::elastic {

/// An absorbing face of an element. side: 0 … 5 for ξ = −1, ξ = 1, η = −1, η = 1, ζ = −1, ζ = 1. All other
/// outer faces are free of stress.
struct AbsorbingFace {
  std::uint32_t element;
  std::uint32_t side;

  template <class Self, class Field>
  static void fields(Self& f, Field& field) {
    field("element", f.element, carried("elements"));
    field("side", f.side, carried("elements"));
  }
  friend bool operator==(const AbsorbingFace&, const AbsorbingFace&) = default;
};

/// A perfectly matched layer beyond one side of the mesh: elements in which waves are damped (margin.hpp).
struct Margin {
  double from = 0, to = 0;  ///< inner and outer coordinate on the side's axis, m; equal: there is no layer
  double speed = 0;         ///< speed of the fastest wave at the side, m/s
  double reflection = 0;    ///< theoretical reflection coefficient at normal incidence
  double braking = 0;       ///< b / d, b the damping of the medium (margin.hpp)

  template <class Self, class Field>
  static void fields(Self& m, Field& field) {
    field("from", m.from, carried("elements"));
    field("to", m.to, carried("elements"));
    field("speed", m.speed, carried("elements"));
    field("reflection", m.reflection, carried("elements"));
    field("braking", m.braking, carried("elements"));
  }
  friend bool operator==(const Margin&, const Margin&) = default;
};

/// Sorts the faces in ascending order and removes duplicates, which files may contain.
void sort_each_once(std::vector<AbsorbingFace>& faces);

struct Mesh {
  std::vector<Vector> nodes;                           ///< positions: easting, northing, up, m
  std::vector<std::array<std::uint32_t, 8>> elements;  ///< indices of nodes, in the order of Hexahedron
  std::vector<std::uint32_t> medium;                   ///< index in `media` for each element
  std::vector<Medium> media;
  /// Media that vary within elements. at_points: [varying elements][points of the basis, ξ fastest];
  /// variation: for each element its index among the varying elements, or `even`; elements beyond its end are
  /// `even`. The element's medium in `media` determines Q and whether it is a fluid.
  std::vector<PointRock> at_points;
  std::vector<std::uint32_t> variation;
  static constexpr std::uint32_t even = UINT32_MAX;
  /// Positions of the nodes of elements with curved sides, in the order of of_27_points().
  std::vector<std::array<Vector, 27>> curves;
  std::vector<std::uint32_t>
      curve;  ///< index of each element in `curves`, or `straight`; empty: all straight
  static constexpr std::uint32_t straight = UINT32_MAX;
  std::vector<AbsorbingFace> absorbing;  ///< absorbing faces, ascending by element and side
  /// For periodic meshes: node n is identified with node vertex[n], which has another position. Empty: the
  /// mesh is not periodic. A period needs at least three elements.
  std::vector<std::uint32_t> vertex;
  std::array<Margin, 6> margins{};  ///< west, east, south, north, bottom, top
  /// For each element the axes along which a matched layer damps waves, a sum of 1 east, 2 north, 4 up.
  /// Empty: none.
  std::vector<std::uint8_t> fading;

  template <class Self, class Field>
  static void fields(Self& m, Field& field) {
    field("nodes", m.nodes, carried("elements"));
    field("elements", m.elements, carried("elements"));
    field("medium", m.medium, carried("elements"));
    field("media", m.media, carried("media"));
    field("at_points", m.at_points, carried("media"));
    field("variation", m.variation, carried("media"));
    field("curves", m.curves, carried("elements"));
    field("curve", m.curve, carried("elements"));
    field("absorbing", m.absorbing, carried("elements"));
    field("vertex", m.vertex, carried("elements"));
    field("margins", m.margins, carried("elements"));
    field("fading", m.fading, carried("elements"));
  }

  unsigned fading_axes(std::size_t n) const { return fading.empty() ? 0u : fading[n]; }
  std::size_t size() const noexcept { return elements.size(); }
  Hexahedron element(std::size_t n) const;
  /// Indices of an element's corners, with `vertex` applied: neighbours have equal indices for nodes they
  /// share.
  std::array<std::uint32_t, 8> vertices(std::size_t n) const {
    auto all = elements[n];
    if (!vertex.empty())
      for (auto& node : all) node = vertex[node];
    return all;
  }
  const Medium& medium_of(std::size_t n) const { return media[medium[n]]; }
  bool varies(std::size_t n) const { return n < variation.size() && variation[n] != even; }
  std::size_t varying() const;  ///< number of elements whose medium varies
  /// The medium at the points of an element, [each]; null if it does not vary.
  const PointRock* rock_of(std::size_t n, std::size_t each) const {
    return varies(n) ? &at_points[variation[n] * each] : nullptr;
  }

  /// Throws InputError: an inverted or folded element (the message says which and where), an impossible
  /// medium, indices out of range.
  void check() const;
  /// Throws InputError for impossible media that vary within elements. each: number of points of an element
  void check_variation(std::size_t each) const;
};

/// Which outer faces of a box absorb waves; the others are free surfaces.
struct OpenSides {
  bool west = true, east = true, south = true, north = true, bottom = true, top = false;
};

/// One element for each cell of a mesh. If `surface` is given (its height, m up, as a function of easting and
/// northing), columns are stretched vertically from the fixed bottom to the surface. medium: [cells], in the
/// order of elements. Throws InputError.
Mesh bricks(const TensorMesh& cells, std::vector<Medium> media, std::vector<std::uint32_t> medium,
            const OpenSides& open, const std::function<double(double, double)>& surface = {});

/// Whether the map of an element is linear (parallel; to 1e-6 of its size), trilinear, or curved (27 nodes).
Shape shape_of(const Hexahedron& element);

}  // namespace terrane::elastic
