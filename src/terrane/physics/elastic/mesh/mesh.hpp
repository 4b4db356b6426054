// Bricks that fill a piece of the earth, the medium in each, and what happens at the outer faces.
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

/// A face of an element through which waves leave. side: 0 … 5 for ξ = −1, ξ = 1, η = −1, η = 1, ζ = −1,
/// ζ = 1. All other outer faces are free of stress.
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

/// Beyond a side: elements in which waves fade, a perfectly matched layer (margin.hpp).
struct Margin {
  double from = 0, to = 0;  ///< m along the side's axis, outward; equal: there is none
  double speed = 0;         ///< speed of the fastest wave at the side, m/s
  double reflection = 0;    ///< reflection coefficient at normal incidence, in theory
  double braking = 0;       ///< b / d: damping of the medium (margin.hpp)

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

/// Sorts the faces in ascending order and keeps each once: files may list one twice.
void sort_each_once(std::vector<AbsorbingFace>& faces);

struct Mesh {
  std::vector<Vector> nodes;                           ///< m: east, north, up
  std::vector<std::array<std::uint32_t, 8>> elements;  ///< nodes, in the order of Hexahedron
  std::vector<std::uint32_t> medium;                   ///< of each element
  std::vector<Medium> media;
  /// Rock that varies within elements: at the points of the basis of each such element, ξ fastest, one
  /// element after the other; and which of them an element is, or `even`. Q is that of the element's medium,
  /// which also says whether it is a fluid. Elements without a place in `variation` are even.
  std::vector<PointRock> at_points;
  std::vector<std::uint32_t> variation;
  static constexpr std::uint32_t even = UINT32_MAX;
  /// Nodes of elements with curved sides, as of_27_points(), and which of them an element has, or `straight`.
  std::vector<std::array<Vector, 27>> curves;
  std::vector<std::uint32_t> curve;  ///< index of each element in `curves`, or `straight`; empty: all are
  static constexpr std::uint32_t straight = UINT32_MAX;
  std::vector<AbsorbingFace> absorbing;  ///< ascending by element and side
  /// For periodic meshes: node n is the same node as vertex[n], though they lie apart. Empty: all nodes
  /// differ. A period needs three elements or more.
  std::vector<std::uint32_t> vertex;
  std::array<Margin, 6> margins{};  ///< west, east, south, north, bottom, top
  /// For each element the axes along which waves fade: 1 east, 2 north, 4 up. Empty: nowhere.
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
  /// The corners, with `vertex` applied: neighbours have the same numbers for the nodes that they share.
  std::array<std::uint32_t, 8> vertices(std::size_t n) const {
    auto all = elements[n];
    if (!vertex.empty())
      for (auto& node : all) node = vertex[node];
    return all;
  }
  const Medium& medium_of(std::size_t n) const { return media[medium[n]]; }
  bool varies(std::size_t n) const { return n < variation.size() && variation[n] != even; }
  std::size_t varying() const;  ///< elements whose rock varies
  /// Rock at the points of an element, `each` of them; null where it is even.
  const PointRock* rock_of(std::size_t n, std::size_t each) const {
    return varies(n) ? &at_points[variation[n] * each] : nullptr;
  }

  /// Throws InputError: a turned or folded element (which, where), an impossible medium, indices that do not
  /// exist.
  void check() const;
  /// The same for rock that varies, at `each` points of an element.
  void check_variation(std::size_t each) const;
};

/// Which outer faces of a box let waves out; the others are free surfaces.
struct OpenSides {
  bool west = true, east = true, south = true, north = true, bottom = true, top = false;
};

/// One element for each cell of a mesh. Where `surface` is given (height above the mesh's own up axis at the
/// top, by easting and northing), columns are stretched between the bottom, which stays, and the surface.
/// medium [cells, up north east], in the order of elements. Throws InputError.
Mesh bricks(const TensorMesh& cells, std::vector<Medium> media, std::vector<std::uint32_t> medium,
            const OpenSides& open, const std::function<double(double, double)>& surface = {});

/// Whether the map of an element is linear, to 1e-6 of its size, trilinear, or goes through 27 nodes.
Shape shape_of(const Hexahedron& element);

}  // namespace terrane::elastic
