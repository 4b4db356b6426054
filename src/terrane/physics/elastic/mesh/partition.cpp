#include "terrane/physics/elastic/mesh/partition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace terrane::elastic {

namespace {

struct Bisection {
  const std::vector<Vector>& centres;
  std::vector<std::uint32_t> order;
  std::vector<int> rank;

  void cut(std::size_t first, std::size_t last, int low, int high) {  // ranks low … high − 1
    if (high - low == 1) {
      for (std::size_t n = first; n < last; ++n) rank[order[n]] = low;
      return;
    }
    Vector least{INFINITY, INFINITY, INFINITY}, most{-INFINITY, -INFINITY, -INFINITY};
    for (std::size_t n = first; n < last; ++n)
      for (std::size_t d = 0; d < 3; ++d) {
        least[d] = std::min(least[d], centres[order[n]][d]);
        most[d] = std::max(most[d], centres[order[n]][d]);
      }
    std::size_t axis = 2;
    for (std::size_t d = 0; d < 3; ++d)
      if (most[d] - least[d] > (most[axis] - least[axis]) * (1 + 1e-9)) axis = d;
    const int middle = low + (high - low) / 2;
    const std::size_t at = first + (last - first) * static_cast<std::size_t>(middle - low) /
                                       static_cast<std::size_t>(high - low);
    const auto begin = order.begin();
    std::nth_element(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(at),
                     begin + static_cast<std::ptrdiff_t>(last), [&](std::uint32_t a, std::uint32_t b) {
                       return centres[a][axis] != centres[b][axis] ? centres[a][axis] < centres[b][axis]
                                                                   : a < b;
                     });
    cut(first, at, low, middle);
    cut(at, last, middle, high);
  }
};

/// Neighbours of elements through their faces. [elements][6], `nobody` where there are fewer.
constexpr std::uint32_t nobody = UINT32_MAX;
std::vector<std::array<std::uint32_t, 6>> neighbours_of(const Mesh& mesh) {
  struct Face {
    std::array<std::uint32_t, 3> lowest;  // the lowest three numbers of its corners, which no other face has
    std::uint32_t element;
  };
  std::vector<Face> faces;
  faces.reserve(6 * mesh.size());
  for (std::uint32_t n = 0; n < mesh.size(); ++n) {
    const auto corners = mesh.vertices(n);
    for (std::size_t side = 0; side < 6; ++side) {
      std::array<std::uint32_t, 4> four{};
      std::size_t at = 0;
      for (std::size_t a = 0; a < 8; ++a)
        if ((a >> side / 2 & 1) == side % 2) four[at++] = corners[a];
      std::sort(four.begin(), four.end());
      faces.push_back({{four[0], four[1], four[2]}, n});
    }
  }
  std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) {
    return a.lowest != b.lowest ? a.lowest < b.lowest : a.element < b.element;
  });
  std::vector<std::array<std::uint32_t, 6>> all(mesh.size(),
                                                {nobody, nobody, nobody, nobody, nobody, nobody});
  const auto add = [&](std::uint32_t to, std::uint32_t one) {
    *std::find(all[to].begin(), all[to].end() - 1, nobody) = one;
  };
  for (std::size_t n = 0; n + 1 < faces.size(); ++n)
    if (faces[n].lowest == faces[n + 1].lowest) {
      add(faces[n].element, faces[n + 1].element);
      add(faces[n + 1].element, faces[n].element);
    }
  return all;
}

}  // namespace

std::vector<int> bisect(const Mesh& mesh, int ranks) {
  std::vector<Vector> centres;
  for (std::size_t n = 0; n < mesh.size(); ++n) centres.push_back(mesh.element(n).monomial[0]);
  Bisection all{centres, std::vector<std::uint32_t>(mesh.size()), std::vector<int>(mesh.size(), 0)};
  std::iota(all.order.begin(), all.order.end(), 0u);
  all.cut(0, mesh.size(), 0, ranks);
  return std::move(all.rank);
}

void smooth(const Mesh& mesh, int ranks, std::vector<int>& rank) {
  constexpr double slack = 0.01;
  constexpr int most_sweeps = 20;
  const auto neighbours = neighbours_of(mesh);
  std::vector<std::size_t> count(static_cast<std::size_t>(ranks), 0);
  for (const int r : rank) ++count[static_cast<std::size_t>(r)];
  const double even = static_cast<double>(mesh.size()) / ranks;
  const auto most = static_cast<std::size_t>(std::ceil(even * (1 + slack))),
             least = std::max<std::size_t>(1, static_cast<std::size_t>(even * (1 - slack)));
  bool moved = true;
  for (int sweep = 0; sweep < most_sweeps && moved; ++sweep) {
    moved = false;
    for (std::size_t n = 0; n < mesh.size(); ++n) {
      const auto faces_to = [&](int r) {
        return std::count_if(neighbours[n].begin(), neighbours[n].end(),
                             [&](std::uint32_t e) { return e != nobody && rank[e] == r; });
      };
      const int own = rank[n];
      int best = own;
      auto faces = faces_to(own);
      for (const auto e : neighbours[n]) {
        if (e == nobody || rank[e] == own) continue;
        const auto there = faces_to(rank[e]);
        if (there > faces || (there == faces && best != own && rank[e] < best)) best = rank[e], faces = there;
      }
      auto &here = count[static_cast<std::size_t>(own)], &there = count[static_cast<std::size_t>(best)];
      if (best == own || there >= most || here <= least) continue;
      --here, ++there;
      rank[n] = best;
      moved = true;
    }
  }
}

std::vector<int> partition(const Mesh& mesh, int ranks) {
  auto rank = bisect(mesh, ranks);
  if (ranks > 1) smooth(mesh, ranks, rank);
  return rank;
}

}  // namespace terrane::elastic
