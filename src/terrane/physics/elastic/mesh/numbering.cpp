#include "terrane/physics/elastic/mesh/numbering.hpp"

#include <algorithm>
#include <array>

namespace terrane::elastic {

namespace {

constexpr int in_face[3][2] = {{1, 2}, {0, 2}, {0, 1}};  // the other axes

/// An edge by its two corners, a face by its three lowest; and whose it is.
struct Entity {
  std::array<std::uint32_t, 3> nodes;
  std::uint32_t of;
  bool operator<(const Entity& o) const { return nodes != o.nodes ? nodes < o.nodes : of < o.of; }
};

/// One number for each different entity, in [of].
std::size_t numbered(std::vector<Entity>& entities, std::vector<std::uint32_t>& number) {
  std::sort(entities.begin(), entities.end());
  number.resize(entities.size());
  std::size_t count = 0;
  for (std::size_t n = 0; n < entities.size(); ++n) {
    if (n > 0 && entities[n].nodes != entities[n - 1].nodes) ++count;
    number[entities[n].of] = static_cast<std::uint32_t>(count);
  }
  return entities.empty() ? 0 : count + 1;
}

struct Edge {
  int axis, corner;  // corner: its lower end
};
constexpr std::array<Edge, 12> edges = [] {
  std::array<Edge, 12> all{};
  std::size_t n = 0;
  for (int axis = 0; axis < 3; ++axis)
    for (int corner = 0; corner < 8; ++corner)
      if (!(corner >> axis & 1)) all[n++] = {axis, corner};
  return all;
}();

/// Corner of a face at (p, q) = 0 or 1.
int corner_of_side(std::uint32_t side, int p, int q) {
  const int r = static_cast<int>(side / 2), high = static_cast<int>(side % 2);
  return high << r | p << in_face[r][0] | q << in_face[r][1];
}

/// How a face's own axes lie in an element: they begin at its lowest corner, and the first goes to the lower
/// of that corner's neighbours.
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

Numbering number_points(const Mesh& mesh, int points, std::span<const std::uint32_t> elements) {
  const auto inner = static_cast<std::size_t>(points - 2),
             all = static_cast<std::size_t>(points * points * points);
  std::vector<Entity> of_edges, of_faces;
  std::vector<std::uint32_t> corner(mesh.nodes.size(), UINT32_MAX), edge, face;
  std::size_t corners = 0;
  for (const auto n : elements) {
    const auto nodes = mesh.vertices(n);
    for (const auto node : nodes)
      if (corner[node] == UINT32_MAX) corner[node] = static_cast<std::uint32_t>(corners++);
    for (const auto& e : edges) {
      const auto a = nodes[static_cast<std::size_t>(e.corner)],
                 b = nodes[static_cast<std::size_t>(e.corner | 1 << e.axis)];
      of_edges.push_back({{std::min(a, b), std::max(a, b), 0}, static_cast<std::uint32_t>(of_edges.size())});
    }
    for (std::uint32_t side = 0; side < 6; ++side) {
      std::array<std::uint32_t, 4> four;
      for (int c = 0; c < 4; ++c)
        four[static_cast<std::size_t>(c)] =
            nodes[static_cast<std::size_t>(corner_of_side(side, c & 1, c >> 1))];
      std::sort(four.begin(), four.end());
      of_faces.push_back({{four[0], four[1], four[2]}, static_cast<std::uint32_t>(of_faces.size())});
    }
  }
  const std::size_t first_edge = corners, first_face = first_edge + inner * numbered(of_edges, edge),
                    first_inner = first_face + inner * inner * numbered(of_faces, face);

  Numbering numbering;
  numbering.count = first_inner + inner * inner * inner * elements.size();
  numbering.point.resize(elements.size() * all);
  const int last = points - 1, stride[3] = {1, points, points * points};
  for (std::size_t e = 0; e < elements.size(); ++e) {
    const auto nodes = mesh.vertices(elements[e]);
    std::uint32_t* const point = &numbering.point[e * all];
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
  return numbering;
}

}  // namespace terrane::elastic
