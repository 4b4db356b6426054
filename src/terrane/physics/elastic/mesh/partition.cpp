#include "terrane/physics/elastic/mesh/partition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "terrane/parallel/threads/search.hpp"
#include "terrane/physics/elastic/mesh/numbering.hpp"

namespace terrane::elastic {

namespace {

struct Bisection {
  const std::vector<Vector>& centres;
  std::vector<std::uint32_t> order;
  std::vector<int> rank;

  /// Divides the elements order[first] … order[last − 1] among ranks low … high − 1.
  void cut(std::size_t first, std::size_t last, int low, int high) {
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

}  // namespace

std::vector<int> bisect(const Mesh& mesh, int ranks, int threads) {
  std::vector<int> none(mesh.size(), 0);
  if (ranks == 1) return none;
  std::vector<Vector> centres(mesh.size());
  for_each_stretch(mesh.size(), threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) centres[n] = mesh.element(n).monomial[0];
  });
  Bisection all{centres, std::vector<std::uint32_t>(mesh.size()), std::move(none)};
  std::iota(all.order.begin(), all.order.end(), 0u);
  all.cut(0, mesh.size(), 0, ranks);
  return std::move(all.rank);
}

void smooth(const Mesh& mesh, int ranks, std::vector<int>& rank, int threads) {
  constexpr double slack = 0.01;
  constexpr int most_sweeps = 20;
  const auto neighbours = neighbours_of(mesh, threads);
  std::vector<std::size_t> count(static_cast<std::size_t>(ranks), 0);
  for (const int r : rank) ++count[static_cast<std::size_t>(r)];
  const double even = static_cast<double>(mesh.size()) / ranks;
  const auto most = static_cast<std::size_t>(std::ceil(even * (1 + slack))),
             least = std::max<std::size_t>(1, static_cast<std::size_t>(even * (1 - slack)));
  // Only elements with a neighbour of another rank can move; few have one.
  std::vector<std::uint8_t> at_border(mesh.size(), 0);
  const auto differs = [&](std::size_t n) {
    return std::any_of(neighbours[n].begin(), neighbours[n].end(),
                       [&](std::uint32_t e) { return e != nobody && rank[e] != rank[n]; });
  };
  for_each_stretch(mesh.size(), threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) at_border[n] = differs(n) ? 1 : 0;
  });
  bool moved = true;
  for (int sweep = 0; sweep < most_sweeps && moved; ++sweep) {
    moved = false;
    for (std::size_t n = 0; n < mesh.size(); ++n) {
      if (at_border[n] == 0) continue;
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
      for (const auto e : neighbours[n])
        if (e != nobody) at_border[e] = 1;
      moved = true;
    }
  }
}

std::vector<int> partition(const Mesh& mesh, int ranks, int threads) {
  auto rank = bisect(mesh, ranks, threads);
  if (ranks > 1) smooth(mesh, ranks, rank, threads);
  return rank;
}

}  // namespace terrane::elastic
