#include "terrane/physics/elastic/partition.hpp"

#include <algorithm>
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

}  // namespace

std::vector<int> bisect(const Mesh& mesh, int ranks) {
  std::vector<Vector> centres;
  for (std::size_t n = 0; n < mesh.size(); ++n) centres.push_back(mesh.element(n).monomial[0]);
  Bisection all{centres, std::vector<std::uint32_t>(mesh.size()), std::vector<int>(mesh.size(), 0)};
  std::iota(all.order.begin(), all.order.end(), 0u);
  all.cut(0, mesh.size(), 0, ranks);
  return std::move(all.rank);
}

}  // namespace terrane::elastic
