#include "terrane/physics/elastic/mesh/numbering.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane::elastic {

namespace {

constexpr std::size_t elements_at_once = 512;            // elements that a thread processes at a time
constexpr int in_face[3][2] = {{1, 2}, {0, 2}, {0, 1}};  // axes in a face, by the axis normal to it

/// An edge, identified by the nodes of its two corners, or a face, by its three lowest nodes, ascending. of:
/// its index among the edges (12 per element) or the faces (6 per element) of all elements.
struct Entity {
  std::array<std::uint32_t, 3> nodes;
  std::uint32_t of;
  bool operator<(const Entity& o) const { return nodes != o.nodes ? nodes < o.nodes : of < o.of; }
};

/// Numbers the edges or faces entity(of), of < count, in the order of their nodes: entities with equal nodes
/// get the same number. All threads put entities, in any order, into a bucket for their lowest node; then
/// each bucket is sorted.
template <class EntityOf>
std::size_t numbered(std::size_t count, std::size_t nodes, int threads, const EntityOf& entity,
                     UnsetList<std::uint32_t>& number) {
  std::vector<std::uint32_t> begin(nodes + 1, 0), next(nodes), different(nodes + 1, 0);
  for_each_stretch(count, threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t of = first; of < last; ++of)
      std::atomic_ref(begin[entity(of).nodes[0] + 1]).fetch_add(1, std::memory_order_relaxed);
  });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::copy(begin.begin(), begin.end() - 1, next.begin());
  const auto entities = std::make_unique_for_overwrite<Entity[]>(count);
  for_each_stretch(count, threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t of = first; of < last; ++of) {
      const Entity one = entity(of);
      entities[std::atomic_ref(next[one.nodes[0]]).fetch_add(1, std::memory_order_relaxed)] = one;
    }
  });
  const auto differs = [&](std::size_t node, std::uint32_t n) {
    return n == begin[node] || entities[n].nodes != entities[n - 1].nodes;
  };
  for_each_stretch(nodes, threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t node = first; node < last; ++node) {
      std::sort(&entities[begin[node]], &entities[begin[node + 1]]);
      for (auto n = begin[node]; n < begin[node + 1]; ++n) different[node + 1] += differs(node, n) ? 1 : 0;
    }
  });
  std::partial_sum(different.begin(), different.end(), different.begin());
  number.resize(count);
  for_each_stretch(nodes, threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t node = first; node < last; ++node) {
      auto known = different[node];
      for (auto n = begin[node]; n < begin[node + 1]; ++n) {
        known += differs(node, n) ? 1 : 0;
        number[entities[n].of] = known - 1;
      }
    }
  });
  return different.back();
}

struct Edge {
  int axis, corner;  // corner: the edge's lower end
};
constexpr std::array<Edge, 12> edges = [] {
  std::array<Edge, 12> all{};
  std::size_t n = 0;
  for (int axis = 0; axis < 3; ++axis)
    for (int corner = 0; corner < 8; ++corner)
      if (!(corner >> axis & 1)) all[n++] = {axis, corner};
  return all;
}();

/// Number of a face's corner at (p, q), each 0 or 1.
int corner_of_side(std::uint32_t side, int p, int q) {
  const int r = static_cast<int>(side / 2), high = static_cast<int>(side % 2);
  return high << r | p << in_face[r][0] | q << in_face[r][1];
}

/// The face with index `of`, which is side (`of` % 6) of element (`of` / 6).
/// vertices(n): corners of element n
template <class Vertices>
Entity face_of(std::size_t of, const Vertices& vertices) {
  const std::array<std::uint32_t, 8> nodes = vertices(of / 6);
  std::array<std::uint32_t, 4> four;
  for (int c = 0; c < 4; ++c)
    four[static_cast<std::size_t>(c)] =
        nodes[static_cast<std::size_t>(corner_of_side(static_cast<std::uint32_t>(of % 6), c & 1, c >> 1))];
  std::sort(four.begin(), four.end());
  return {{four[0], four[1], four[2]}, static_cast<std::uint32_t>(of)};
}

/// The orientation of a face's own axes in an element. They begin at the face's lowest node; the first is
/// directed to the lower one of that node's two neighbours in the face.
struct Turn {
  bool flip_p, flip_q, swap;
};
Turn turn_of(const std::array<std::uint32_t, 8>& nodes, std::uint32_t side) {
  int at = 0;
  const auto node = [&](int pq) {
    return nodes[static_cast<std::size_t>(corner_of_side(side, pq & 1, pq >> 1))];
  };
  for (int pq = 1; pq < 4; ++pq)
    if (node(pq) < node(at)) at = pq;
  return {(at & 1) != 0, (at >> 1) != 0, node(at ^ 2) < node(at ^ 1)};
}

}  // namespace

int point_on_side(std::uint32_t side, int p, int q, int points) {
  const int r = static_cast<int>(side / 2), stride[3] = {1, points, points * points};
  return (side % 2 ? points - 1 : 0) * stride[r] + p * stride[in_face[r][0]] + q * stride[in_face[r][1]];
}

namespace {

/// Numbers of corners, edges and faces, which elements share; and the first point number of each kind: points
/// at corners are first, then those on edges, on faces, inside elements.
struct SharedNumbers {
  // [nodes], [12 edges of each element], [6 faces of each element]
  UnsetList<std::uint32_t> corner, edge, face;
  std::size_t first_edge = 0, first_face = 0, first_inner = 0;

  SharedNumbers(const Mesh& mesh, std::span<const std::uint32_t> elements, std::size_t inner, int threads)
      : corner(filled_by_threads(mesh.nodes.size(), UINT32_MAX, threads)) {
    for (const auto n : elements)
      for (const auto node : mesh.vertices(n))
        if (corner[node] == UINT32_MAX) corner[node] = static_cast<std::uint32_t>(first_edge++);
    const auto edge_of = [&](std::size_t of) {
      const auto nodes = mesh.vertices(elements[of / 12]);
      const auto& e = edges[of % 12];
      const auto a = nodes[static_cast<std::size_t>(e.corner)],
                 b = nodes[static_cast<std::size_t>(e.corner | 1 << e.axis)];
      return Entity{{std::min(a, b), std::max(a, b), 0}, static_cast<std::uint32_t>(of)};
    };
    const auto vertices = [&](std::size_t e) { return mesh.vertices(elements[e]); };
    const auto its_face = [&](std::size_t of) { return face_of(of, vertices); };
    first_face =
        first_edge + inner * numbered(12 * elements.size(), mesh.nodes.size(), threads, edge_of, edge);
    first_inner = first_face +
                  inner * inner * numbered(6 * elements.size(), mesh.nodes.size(), threads, its_face, face);
  }

  /// Writes to `point` the numbers of all points of element e of the list.  nodes: the element's corners
  void put(std::size_t e, const std::array<std::uint32_t, 8>& nodes, int points, std::uint32_t* point) const {
    const int last = points - 1, stride[3] = {1, points, points * points};
    const auto inner = static_cast<std::size_t>(points - 2);
    const auto set = [&](int n, std::size_t number) { point[n] = static_cast<std::uint32_t>(number); };
    for (int c = 0; c < 8; ++c)
      set(last * ((c & 1) * stride[0] + (c >> 1 & 1) * stride[1] + (c >> 2) * stride[2]),
          corner[nodes[static_cast<std::size_t>(c)]]);
    for (std::size_t k = 0; k < 12; ++k) {
      const auto [axis, low] = edges[k];
      const bool turned =
          nodes[static_cast<std::size_t>(low)] > nodes[static_cast<std::size_t>(low | 1 << axis)];
      const int from = last * ((low & 1) * stride[0] + (low >> 1 & 1) * stride[1] + (low >> 2) * stride[2]);
      for (int i = 1; i < last; ++i)
        set(from + i * stride[axis],
            first_edge + inner * edge[12 * e + k] + static_cast<std::size_t>((turned ? last - i : i) - 1));
    }
    for (std::uint32_t side = 0; side < 6; ++side) {
      const auto turn = turn_of(nodes, side);
      for (int q = 1; q < last; ++q)
        for (int p = 1; p < last; ++p) {
          const int a = (turn.flip_p ? last - p : p) - 1, b = (turn.flip_q ? last - q : q) - 1;
          set(point_on_side(side, p, q, points), first_face + inner * inner * face[6 * e + side] +
                                                     static_cast<std::size_t>(turn.swap ? b : a) +
                                                     inner * static_cast<std::size_t>(turn.swap ? a : b));
        }
    }
    std::size_t next = first_inner + inner * inner * inner * e;
    for (int k = 1; k < last; ++k)
      for (int j = 1; j < last; ++j)
        for (int i = 1; i < last; ++i) set(i + points * (j + points * k), next++);
  }
};

}  // namespace

Numbering number_points(const Mesh& mesh, int points, std::span<const std::uint32_t> elements, int threads) {
  const auto inner = static_cast<std::size_t>(points - 2),
             all = static_cast<std::size_t>(points * points * points);
  constexpr std::size_t edges_of_element = 12;
  if (edges_of_element * elements.size() >= UINT32_MAX)
    throw InputError("elastic: mesh", "a rank's part has more than 350 million elements", "Take more ranks.");
  const SharedNumbers shared(mesh, elements, inner, threads);
  Numbering numbering;
  numbering.count = shared.first_inner + inner * inner * inner * elements.size();
  if (numbering.count >= UINT32_MAX)
    throw InputError("elastic: mesh", "a rank's part has more than four thousand million points",
                     "Take more ranks.");
  numbering.point.resize(elements.size() * all);
  for_each_stretch(
      elements.size(), threads,
      [&](std::size_t first, std::size_t end) {
        for (std::size_t e = first; e < end; ++e)
          shared.put(e, mesh.vertices(elements[e]), points, &numbering.point[e * all]);
      },
      elements_at_once);
  return numbering;
}

UnsetList<std::array<std::uint32_t, 6>> neighbours_of(const Mesh& mesh, int threads) {
  const std::size_t sides = 6 * mesh.size();
  if (sides >= UINT32_MAX)
    throw InputError("elastic: mesh", "the mesh has more than 700 million elements", "Take larger elements.");
  UnsetList<std::uint32_t> face;
  const auto vertices = [&](std::size_t n) { return mesh.vertices(n); };
  const auto faces = numbered(
      sides, mesh.nodes.size(), threads, [&](std::size_t of) { return face_of(of, vertices); }, face);
  // For each face the sum of the indices of its one or two elements; minus the index of one element, the sum
  // is the index of the other.
  auto sum = filled_by_threads(faces, std::uint64_t{0}, threads);
  auto count = filled_by_threads(faces, std::uint8_t{0}, threads);
  for_each_stretch(sides, threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t of = first; of < last; ++of) {
      std::atomic_ref(sum[face[of]]).fetch_add(of / 6, std::memory_order_relaxed);
      std::atomic_ref(count[face[of]]).fetch_add(1, std::memory_order_relaxed);
    }
  });
  UnsetList<std::array<std::uint32_t, 6>> all(mesh.size());
  for_each_stretch(mesh.size(), threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n)
      for (std::size_t side = 0; side < 6; ++side) {
        const auto at = face[6 * n + side];
        all[n][side] = count[at] == 2 ? static_cast<std::uint32_t>(sum[at] - n) : nobody;
      }
  });
  return all;
}

}  // namespace terrane::elastic
