#include "terrane/physics/elastic/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/physics/elastic/element/plain.hpp"
#include "terrane/physics/elastic/medium/attenuation.hpp"
#include "terrane/physics/elastic/mesh/numbering.hpp"

namespace terrane::elastic {

double largest_eigenvalue(const Basis& basis, const Hexahedron& shape, const Medium& medium, int iterations,
                          const PointRock* rock) {
  const PlainElement element(basis, shape, medium, rock);
  const auto& mass = element.mass();
  const std::size_t size = 3 * mass.size();
  std::vector<double> u(size), f(size);
  unsigned random = 12345;  // the start of the iteration: any vector that is not smooth
  for (auto& value : u) value = static_cast<double>((random = random * 1664525u + 1013904223u) >> 8) - 0x1p23;
  double largest = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    std::fill(f.begin(), f.end(), 0.0);
    element.subtract_forces(u.data(), f.data());
    double above = 0, below = 0;  // numerator and denominator of Rayleigh's quotient uᵀ K u / uᵀ M u
    for (std::size_t n = 0; n < size; ++n) {
      above -= u[n] * f[n];
      below += u[n] * mass[n / 3] * u[n];
    }
    const double before = largest;
    largest = above / below;
    double most = 0;
    for (std::size_t n = 0; n < size; ++n) {
      u[n] = -f[n] / mass[n / 3];
      most = std::max(most, std::fabs(u[n]));
    }
    if (most == 0 || (iteration > 20 && std::fabs(largest - before) <= 1e-6 * largest)) break;
    for (auto& value : u) value /= most;
  }
  return 1.01 * largest;  // one per cent more, because the iteration may not have converged
}

namespace {

/// Points of a solid and a fluid at the same position: indices in their elements, and their area with the
/// normal that points out of the solid, m².
struct Touch {
  std::size_t solid, fluid;
  Vector area;
};

/// The pairs of points at the contact of a solid and a fluid element. partner: for each point of `numbering`
/// the index of the fluid element's point, or SIZE_MAX; areas: a factor of all areas.
std::vector<Touch> touching_points(const Mesh& mesh, const Basis& basis, std::uint32_t in_solid,
                                   const Numbering& numbering, const std::vector<std::size_t>& partner,
                                   double areas) {
  std::vector<Touch> touches;
  const int p = basis.points();
  for (std::uint32_t side = 0; side < 6; ++side) {
    const auto middle = static_cast<std::size_t>(point_on_side(side, 1, 1, p));
    if (partner[numbering.point[middle]] == SIZE_MAX) continue;
    for (int i = 0; i < p * p; ++i) {
      const auto n = static_cast<std::size_t>(point_on_side(side, i % p, i / p, p)),
                 q = static_cast<std::size_t>(p);
      const auto at = [&](std::size_t k) { return basis.x[k]; };
      auto area = mesh.element(in_solid).map({at(n % q), at(n / q % q), at(n / q / q)}).cofactor[side / 2];
      for (double& a : area)
        a *= (side % 2 ? areas : -areas) * basis.weight[static_cast<std::size_t>(i % p)] *
             basis.weight[static_cast<std::size_t>(i / p)];
      touches.push_back({n, partner[numbering.point[n]], area});
    }
  }
  return touches;
}

}  // namespace

double largest_eigenvalue(const Basis& basis, const Mesh& mesh, std::uint32_t in_solid,
                          std::uint32_t in_fluid, double areas) {
  const auto points = static_cast<std::size_t>(basis.points_of_element());
  const auto plain = [&](std::uint32_t n) {
    return PlainElement(basis, mesh.element(n), mesh.medium_of(n), mesh.rock_of(n, points));
  };
  const auto solid = plain(in_solid), fluid = plain(in_fluid);
  const auto& numbering = number_points(mesh, basis.points(), std::array{in_solid, in_fluid});
  const std::size_t each = solid.mass().size();
  std::vector<std::size_t> partner(numbering.count, SIZE_MAX);
  for (std::size_t n = 0; n < each; ++n) partner[numbering.point[each + n]] = n;
  const auto touches = touching_points(mesh, basis, in_solid, numbering, partner, areas);
  std::vector<double> u(3 * each), x(3 * each), f(3 * each), g(3 * each);
  unsigned random = 12345;
  for (std::size_t n = 0; n < each; ++n) {
    x[3 * n] = static_cast<double>((random = random * 1664525u + 1013904223u) >> 8) - 0x1p23;
    u[3 * n] = u[3 * n + 1] = x[3 * n] / mesh.medium_of(in_fluid).density;
  }
  double largest = 0;
  for (int iteration = 0; iteration < 300; ++iteration) {
    std::fill(f.begin(), f.end(), 0.0);
    std::fill(g.begin(), g.end(), 0.0);
    solid.subtract_forces(u.data(), f.data());
    fluid.subtract_forces(x.data(), g.data());
    double below = 0, above = 0;  // denominator and numerator of xᵀ S x / xᵀ T x (problem.hpp)
    for (std::size_t n = 0; n < each; ++n) {
      below -= x[3 * n] * g[3 * n];
      for (std::size_t d = 0; d < 3; ++d) below += u[3 * n + d] * solid.mass()[n] * u[3 * n + d];
    }
    auto push = g;
    for (const auto& t : touches)
      for (std::size_t d = 0; d < 3; ++d) push[3 * t.fluid] -= t.area[d] * u[3 * t.solid + d];
    for (std::size_t n = 0; n < each; ++n) {
      push[3 * n] /= fluid.mass()[n];
      above += g[3 * n] * push[3 * n];
    }
    for (const auto& t : touches)
      for (std::size_t d = 0; d < 3; ++d) f[3 * t.solid + d] += t.area[d] * push[3 * t.fluid];
    double most = 0;
    for (std::size_t n = 0; n < 3 * each; ++n) {
      above -= u[n] * f[n];
      u[n] = -f[n] / solid.mass()[n / 3];
      x[n] = n % 3 ? 0 : -push[n];
      most = std::max({most, std::fabs(u[n]), std::fabs(x[n])});
    }
    const double before = largest;
    largest = above / below;
    if (most == 0 || (iteration > 40 && std::fabs(largest - before) <= 1e-7 * largest)) break;
    for (auto& value : u) value /= most;
    for (auto& value : x) value /= most;
  }
  return 1.01 * largest;
}

namespace {

/// A quick estimate of the largest eigenvalue, up to a factor: v² Σ_r |∂ξ_r/∂x|², maximum over 27 points. For
/// right-angled elements of degree 4 the factor lies between 34 (cubes) and 47 (plates).
double stiffness_measure(const Hexahedron& element, double fastest) {
  double most = 0;
  for (int a = 0; a < 27; ++a) {
    const auto m = element.map(of_27_points(a));
    double sum = 0;
    for (const auto& c : m.cofactor) sum += dot(c, c);
    most = std::max(most, sum / (m.det * m.det));
  }
  return most * fastest * fastest;
}

std::size_t points_of(const Basis& basis) { return static_cast<std::size_t>(basis.points_of_element()); }

/// The speed of the fastest wave in an element; if its medium varies, the largest v_P of its points.
double fastest_of(const Mesh& mesh, std::size_t n, std::size_t each) {
  double most = 0;
  const auto* const rock = mesh.rock_of(n, each);
  for (std::size_t k = 0; k < each && rock; ++k)
    most = std::max(most, (rock[k][1] + 2 * rock[k][2]) / rock[k][0]);
  return rock ? std::sqrt(most) : mesh.medium_of(n).fastest();
}
/// The speed of the slowest wave in an element: v_S, in a fluid the speed of sound.
double slowest_of(const Mesh& mesh, std::size_t n, std::size_t each, double of_medium) {
  double least = INFINITY;
  const auto* const rock = mesh.rock_of(n, each);
  const bool fluid = rock && mesh.medium_of(n).is_fluid();
  for (std::size_t k = 0; k < each && rock; ++k) least = std::min(least, rock[k][fluid ? 1 : 2] / rock[k][0]);
  return rock ? std::sqrt(least) : of_medium;
}

/// A hash of an element's varying medium, equal for elements whose media agree at all points in single
/// precision.
double rock_key(const Mesh& mesh, std::size_t n, std::size_t each) {
  std::uint64_t hash = 14695981039346656037u;  // offset basis of the FNV hash
  const auto* const rock = mesh.rock_of(n, each);
  for (std::size_t k = 0; k < each && rock; ++k)
    for (const double x : rock[k])
      hash = (hash ^ std::bit_cast<std::uint32_t>(static_cast<float>(x))) * 1099511628211u;
  return rock ? static_cast<double>(hash >> 12) : 0;
}

/// A key that is equal for elements of the same medium and, to nine digits, the same shape: these have equal
/// eigenvalues.
std::vector<double> shape_key(const Mesh& mesh, std::uint32_t number, std::size_t each) {
  const auto element = mesh.element(number);
  std::vector<double> key{static_cast<double>(mesh.medium[number]), rock_key(mesh, number, each)};
  const double size = element.shortest();
  for (std::size_t m = 1; m < 8; ++m)
    for (const double x : element.monomial[m]) key.push_back(std::round(x / size * 1e6) + 0.0);
  for (std::size_t n = 0; n < 27 && element.nodes; ++n)
    for (std::size_t d = 0; d < 3; ++d)
      key.push_back(std::round(((*element.nodes)[n][d] - element.monomial[0][d]) / size * 1e6) + 0.0);
  key.push_back(std::round(std::log(size) * 1e9));
  return key;
}

struct Stiffest {
  std::uint32_t element = 0;
  double eigenvalue = 0;
};

Stiffest stiffest_element(const Mesh& mesh, const Basis& basis) {
  std::vector<double> fastest;
  for (const auto& medium : mesh.media) fastest.push_back(medium.fastest());
  const auto each = points_of(basis);
  std::vector<double> measure(mesh.size());
  for_each(mesh.size(), 0, [&](std::size_t n) {
    const double here = mesh.varies(n) ? fastest_of(mesh, n, each) : fastest[mesh.medium[n]];
    measure[n] = stiffness_measure(mesh.element(n), here);
  });
  // Elements with less than half of the largest measure are left out: among right-angled elements the ratio
  // of eigenvalue to measure varies by less than a factor of 2 (stiffness_measure()).
  const double least = 0.5 * *std::max_element(measure.begin(), measure.end());
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t n = 0; n < mesh.size(); ++n)
    if (measure[n] >= least) candidates.push_back(n);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return measure[a] > measure[b]; });
  std::map<std::vector<double>, std::uint32_t> shapes;
  std::vector<std::uint32_t> chosen;
  constexpr std::size_t most = 4000;  // largest number of elements: their eigenvalues take one or two seconds
  constexpr std::size_t some = 1 << 15;  // number of keys that all threads compute, before they are looked up
  std::vector<std::vector<double>> keys(std::min(some, candidates.size()));
  for (std::size_t first = 0; first < candidates.size() && chosen.size() < most; first += some) {
    const auto count = std::min(some, candidates.size() - first);
    for_each(count, 0, [&](std::size_t n) { keys[n] = shape_key(mesh, candidates[first + n], each); });
    for (std::size_t n = 0; n < count && chosen.size() < most; ++n)
      if (shapes.emplace(std::move(keys[n]), candidates[first + n]).second)
        chosen.push_back(candidates[first + n]);
  }
  // Eight iterations reach 0.85 to 0.91 of the eigenvalue (tested with 6,000 elements of a hilly earth and of
  // a sphere); more follow for elements whose value so far is at least 0.8 of the largest.
  const auto iterate = [&](std::size_t n, int iterations) {
    return largest_eigenvalue(basis, mesh.element(chosen[n]), mesh.medium_of(chosen[n]), iterations,
                              mesh.rock_of(chosen[n], each));
  };
  std::vector<double> eigenvalues(chosen.size());
  for_each(chosen.size(), 0, [&](std::size_t n) { eigenvalues[n] = iterate(n, 8); });
  const double promising =
      0.8 * (chosen.empty() ? 0 : *std::max_element(eigenvalues.begin(), eigenvalues.end()));
  for_each(chosen.size(), 0, [&](std::size_t n) {
    if (eigenvalues[n] >= promising) eigenvalues[n] = iterate(n, 120);
  });
  const auto best = static_cast<std::size_t>(std::max_element(eigenvalues.begin(), eigenvalues.end()) -
                                             eigenvalues.begin());
  return {chosen[best], eigenvalues[best]};
}

/// Pairs of a solid and a fluid element that share a face.
struct Touching {
  std::uint32_t solid, fluid;
};
std::vector<Touching> touching(const Mesh& mesh) {
  std::vector<Touching> all;
  if (std::none_of(mesh.media.begin(), mesh.media.end(), [](const Medium& m) { return m.is_fluid(); }))
    return all;
  const auto face = [&](std::uint32_t n, std::size_t side) {
    const auto nodes = mesh.vertices(n);
    std::array<std::uint32_t, 4> four;
    std::size_t at = 0;
    for (std::size_t c = 0; c < 8; ++c)
      if ((c >> side / 2 & 1) == side % 2) four[at++] = nodes[c];
    std::sort(four.begin(), four.end());
    return four;
  };
  std::map<std::array<std::uint32_t, 4>, std::uint32_t> of_fluids;
  for (std::uint32_t n = 0; n < mesh.size(); ++n)
    for (std::size_t side = 0; side < 6 && mesh.medium_of(n).is_fluid(); ++side)
      of_fluids.emplace(face(n, side), n);
  for (std::uint32_t n = 0; n < mesh.size() && !of_fluids.empty(); ++n)
    for (std::size_t side = 0; side < 6 && !mesh.medium_of(n).is_fluid(); ++side)
      if (const auto at = of_fluids.find(face(n, side)); at != of_fluids.end())
        all.push_back({n, at->second});
  return all;
}

/// The pair of adjacent solid and fluid elements with the largest eigenvalue.
Stiffest stiffest_contact(const Mesh& mesh, const Basis& basis) {
  const auto all = touching(mesh);
  const auto each = points_of(basis);
  std::map<std::uint32_t, int> faces;
  for (const auto& pair : all) ++faces[pair.solid], ++faces[pair.fluid];
  std::map<std::vector<double>, Touching> shapes;
  for (const auto& pair : all) {
    auto key = shape_key(mesh, pair.solid, each);
    const auto more = shape_key(mesh, pair.fluid, each);
    key.insert(key.end(), more.begin(), more.end());
    key.push_back(faces[pair.solid] * faces[pair.fluid]);
    shapes.emplace(std::move(key), pair);
  }
  std::vector<std::pair<double, Touching>> by_measure;
  for (const auto& [key, pair] : shapes) {
    const auto measure = [&](std::uint32_t n) {
      return stiffness_measure(mesh.element(n), fastest_of(mesh, n, each));
    };
    by_measure.push_back({std::max(measure(pair.solid), measure(pair.fluid)), pair});
  }
  std::stable_sort(by_measure.begin(), by_measure.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t most = 1000;  // largest number of pairs: their eigenvalues take some seconds
  by_measure.resize(std::min(by_measure.size(), most));
  std::vector<Touching> chosen;
  for (const auto& [measure, pair] : by_measure) chosen.push_back(pair);
  std::vector<double> eigenvalues(chosen.size());
  for_each(chosen.size(), 0, [&](std::size_t n) {
    const auto [solid, fluid] = chosen[n];
    eigenvalues[n] =
        largest_eigenvalue(basis, mesh, solid, fluid, std::sqrt(double(faces.at(solid) * faces.at(fluid))));
  });
  Stiffest worst;
  for (std::size_t n = 0; n < chosen.size(); ++n)
    if (eigenvalues[n] > worst.eigenvalue) worst = {chosen[n].solid, eigenvalues[n]};
  return worst;
}

double longest_edge(const Hexahedron& element) {
  double most = 0;
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t bit = 1; bit < 8; bit *= 2)
      if (!(a & bit)) {
        const auto &p = element.corner[a], &q = element.corner[a + bit];
        most = std::max(most, norm({p[0] - q[0], p[1] - q[1], p[2] - q[2]}));
      }
  return most;
}

/// An error about the n-th source or receiver; the message gives the line of the job that describes it.
InputError of_one(const std::vector<std::string>& origins, const char* kind, std::size_t n,
                  const std::string& problem, const std::string& next = {}) {
  if (n >= origins.size()) return {fmt::format("elastic: {} {}", kind, n + 1), problem, next};
  return {origins[n], fmt::format("{} {}: {}", kind, n + 1, problem), next};
}
InputError of_source(const Problem& p, std::size_t n, const std::string& problem,
                     const std::string& next = {}) {
  return of_one(p.origins.sources, "source", n, problem, next);
}
InputError of_receiver(const Problem& p, std::size_t n, const std::string& problem,
                       const std::string& next = {}) {
  return of_one(p.origins.receivers, "receiver", n, problem, next);
}

void check_numbers(const Problem& p) {
  check_fields("elastic", p);
  for (std::size_t n = 0; n < p.sources.size(); ++n) {
    const auto& s = p.sources[n];
    for (const double x : s.strength)
      if (!std::isfinite(x)) throw of_source(p, n, "its strength is no finite number");
    for (const double x : s.course.samples)
      if (!std::isfinite(x)) throw of_source(p, n, "a sample of its course is no finite number");
    if (!(s.course.width > 0) || !std::isfinite(s.course.width) || !std::isfinite(s.course.delay))
      throw of_source(p, n, fmt::format("width {}, delay {} s", s.course.width, s.course.delay),
                      "The width is a frequency or a time above zero.");
  }
}

/// Locates all sources and receivers in the mesh.
void locate(Problem& p) {
  p.source_places.clear(), p.receiver_places.clear();
  const Locator locator(p.mesh);
  const auto each = [&](std::size_t n, const Vector& at, const auto& error) {
    try {
      return locator.find(at, {});
    } catch (const InputError& outside) {
      throw error(p, n, outside.problem(), outside.next());
    }
  };
  for (std::size_t n = 0; n < p.sources.size(); ++n)
    p.source_places.push_back(each(n, p.sources[n].at, of_source));
  for (std::size_t n = 0; n < p.receivers.size(); ++n)
    p.receiver_places.push_back(each(n, p.receivers[n], of_receiver));
}

/// Checks that sources in fluids are explosions, and that receivers of pressure are in fluids.
void check_fluids(const Problem& p) {
  for (std::size_t n = 0; n < p.sources.size(); ++n) {
    if (p.mesh.medium_of(p.source_places[n].element).is_fluid() && !p.sources[n].is_explosion())
      throw of_source(p, n, "it lies in a fluid and is no explosion",
                      "In a fluid moment = [m, m, m, 0, 0, 0]; forces act on solids.");
  }
  for (std::size_t n = 0; n < p.receivers.size() && p.records_pressure; ++n)
    if (!p.mesh.medium_of(p.receiver_places[n].element).is_fluid())
      throw of_receiver(
          p, n, "it lies in a solid, which has no one pressure",
          "Pressure is recorded in fluids; a receiver on the ground of the sea must lie a little "
          "above it.");
}

}  // namespace

Locator::Locator(const Mesh& mesh) : mesh_(mesh) {
  std::vector<std::uint32_t> shown;
  for (std::uint32_t n = 0; n < mesh.size(); ++n)
    if (!mesh.fading_axes(n)) shown.push_back(n);
  for (std::size_t d = 0; d < 3; ++d) extent_[2 * d] = INFINITY, extent_[2 * d + 1] = -INFINITY;
  for (const auto n : shown) {
    const auto box = around(n);
    for (std::size_t d = 0; d < 3; ++d) {
      low_[d] = std::min(low_[d], box[2 * d]);
      high_[d] = std::max(high_[d], box[2 * d + 1]);
      // Shrinks a box that around() enlarged by a tenth of the element's width on each side, which is 1/12 of
      // the enlarged width.
      const double room = (box[2 * d + 1] - box[2 * d]) / 12;
      extent_[2 * d] = std::min(extent_[2 * d], box[2 * d] + room);
      extent_[2 * d + 1] = std::max(extent_[2 * d + 1], box[2 * d + 1] - room);
    }
  }
  // About as many bins as elements, with equal widths in all directions.
  const double width = std::cbrt((high_[0] - low_[0]) * (high_[1] - low_[1]) * (high_[2] - low_[2]) /
                                 static_cast<double>(shown.size()));
  for (std::size_t d = 0; d < 3; ++d)
    if (const double bins = (high_[d] - low_[d]) / width; bins > 1)
      bins_[d] = static_cast<std::size_t>(std::min(bins, 2000.0));
  const auto each_bin = [&](std::uint32_t n, const auto& use) {
    const auto box = around(n);
    std::size_t from[3], to[3];
    for (std::size_t d = 0; d < 3; ++d) from[d] = bin(d, box[2 * d]), to[d] = bin(d, box[2 * d + 1]);
    for (auto k = from[2]; k <= to[2]; ++k)
      for (auto j = from[1]; j <= to[1]; ++j)
        for (auto i = from[0]; i <= to[0]; ++i) use((k * bins_[1] + j) * bins_[0] + i);
  };
  first_.assign(bins_[0] * bins_[1] * bins_[2] + 1, 0);
  for (const auto n : shown) each_bin(n, [&](std::size_t at) { ++first_[at + 1]; });
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  elements_.resize(first_.back());
  auto next = first_;
  for (const auto n : shown) each_bin(n, [&](std::size_t at) { elements_[next[at]++] = n; });
}

std::array<double, 6> Locator::around(std::uint32_t n) const {
  std::array<double, 6> box{};
  for (std::size_t d = 0; d < 3; ++d) {
    double low = INFINITY, high = -INFINITY;
    const auto reach = [&](const Vector& x) { low = std::min(low, x[d]), high = std::max(high, x[d]); };
    for (const auto node : mesh_.elements[n]) reach(mesh_.nodes[node]);
    if (is_curved(n))
      for (const auto& x : mesh_.curves[mesh_.curve[n]]) reach(x);
    const double room = 0.1 * (high - low);
    box[2 * d] = low - room, box[2 * d + 1] = high + room;
  }
  return box;
}

bool Locator::is_curved(std::uint32_t n) const {
  return !mesh_.curve.empty() && mesh_.curve[n] != Mesh::straight;
}

std::size_t Locator::bin(std::size_t d, double x) const {
  const double part = (x - low_[d]) / (high_[d] - low_[d]) * static_cast<double>(bins_[d]);
  return std::min(static_cast<std::size_t>(std::max(part, 0.0)), bins_[d] - 1);
}

Place Locator::find(const Vector& at, const std::string& what) const {
  // Tolerances for points outside an element, in units of its shortest edge: for rounding; and for curved
  // sides, for the distance of the sphere from the polynomials.
  constexpr double of_straight = 1e-6, of_curved = 1e-3;
  Place best;
  double nearest = INFINITY, most = 0;
  bool inside = true;
  for (std::size_t d = 0; d < 3; ++d) inside = inside && at[d] >= low_[d] && at[d] <= high_[d];
  const std::size_t here = inside ? (bin(2, at[2]) * bins_[1] + bin(1, at[1])) * bins_[0] + bin(0, at[0]) : 0;
  for (auto place = first_[here]; inside && place < first_[here + 1]; ++place) {
    const auto n = elements_[place];
    const auto box = around(n);
    bool near = true;
    for (std::size_t d = 0; d < 3; ++d) near = near && at[d] >= box[2 * d] && at[d] <= box[2 * d + 1];
    if (!near) continue;
    const auto element = mesh_.element(n);
    const auto found = element.locate(at);
    const double miss = found.distance / element.shortest();
    if (miss < nearest && !(nearest < 1e-9)) {  // if several elements contain the point, finds the first
      nearest = miss;
      most = is_curved(n) ? of_curved : of_straight;
      best = {n, found.xi};
    }
  }
  if (!(nearest <= most))
    throw InputError(what, fmt::format("{} m lies outside the mesh", coordinates(at)), allowed(at));
  return best;
}

/// The coordinates of a point outside the mesh, for messages: first the easting or northing that lies
/// outside; if both are within the mesh, first the height.
std::string Locator::coordinates(const Vector& at) const {
  constexpr const char* names[3] = {"easting", "northing", "up"};
  const auto beyond = [&](std::size_t d) { return at[d] < extent_[2 * d] || at[d] > extent_[2 * d + 1]; };
  std::array<std::size_t, 3> order{0, 1, 2};
  if (!beyond(0) && !beyond(1)) order = {2, 0, 1};
  else if (!beyond(0)) order = {1, 0, 2};
  return fmt::format("{} {:.9g}, {} {:.9g}, {} {:.9g}", names[order[0]], at[order[0]], names[order[1]],
                     at[order[1]], names[order[2]], at[order[2]]);
}

std::string Locator::allowed(const Vector& at) const {
  if (const auto surface = top(at[0], at[1]))
    return fmt::format(
        "At this easting and northing the mesh reaches up to {:.6g} m; it goes down to {:.6g} m.", *surface,
        extent_[4]);
  return fmt::format(
      "It reaches from {:.9g} to {:.9g} m east, {:.9g} to {:.9g} m north, {:.9g} to {:.9g} m up.", extent_[0],
      extent_[1], extent_[2], extent_[3], extent_[4], extent_[5]);
}

namespace {

/// Height at which a vertical line intersects a face of an element, by Newton's method for the coordinates ξ
/// in the face; none if it does not.
std::optional<double> height_of_face(const Hexahedron& element, std::size_t side, double east, double north) {
  const std::size_t fixed = side / 2, a = (fixed + 1) % 3, b = (fixed + 2) % 3;
  constexpr double inside = 1 + 1e-6, furthest = 1.5;
  Vector xi{};
  xi[fixed] = side % 2 ? 1 : -1;
  for (int iteration = 0; iteration < 30; ++iteration) {
    const auto now = element.at(xi);
    const auto tangent = element.map(xi).tangent;
    const double miss[2] = {east - now[0], north - now[1]};
    const double det = tangent[a][0] * tangent[b][1] - tangent[a][1] * tangent[b][0];
    const double size = norm(tangent[a]) * norm(tangent[b]);
    if (!(std::fabs(det) > 1e-9 * size)) return std::nullopt;  // the face is vertical
    const double steps[2] = {(miss[0] * tangent[b][1] - miss[1] * tangent[b][0]) / det,
                             (miss[1] * tangent[a][0] - miss[0] * tangent[a][1]) / det};
    xi[a] = std::clamp(xi[a] + steps[0], -furthest, furthest);
    xi[b] = std::clamp(xi[b] + steps[1], -furthest, furthest);
    if (std::fabs(steps[0]) + std::fabs(steps[1]) < 1e-13) break;
  }
  const auto end = element.at(xi);
  const double miss = std::hypot(end[0] - east, end[1] - north);
  const bool on = std::fabs(xi[a]) <= inside && std::fabs(xi[b]) <= inside &&
                  miss <= 1e-9 * (element.shortest() + std::hypot(east, north));
  if (!on) return std::nullopt;
  return end[2];
}

}  // namespace

// Searches bins from the highest down. Each bin lists all elements that overlap it, so a surface found within
// this bin or above is the highest of all.
std::optional<double> Locator::top(double easting, double northing) const {
  if (!(easting >= low_[0] && easting <= high_[0] && northing >= low_[1] && northing <= high_[1]))
    return std::nullopt;
  const std::size_t i = bin(0, easting), j = bin(1, northing);
  std::optional<double> highest;
  for (std::size_t k = bins_[2]; k-- > 0;) {
    const double floor =
        low_[2] + (high_[2] - low_[2]) * static_cast<double>(k) / static_cast<double>(bins_[2]);
    const std::size_t here = (k * bins_[1] + j) * bins_[0] + i;
    for (auto place = first_[here]; place < first_[here + 1]; ++place) {
      const auto n = elements_[place];
      const auto box = around(n);
      if (!(easting >= box[0] && easting <= box[1] && northing >= box[2] && northing <= box[3])) continue;
      if (highest && box[5] <= *highest) continue;
      const auto element = mesh_.element(n);
      for (std::size_t side = 0; side < 6; ++side)
        if (const auto height = height_of_face(element, side, easting, northing))
          highest = std::max(height.value(), highest.value_or(-INFINITY));
    }
    if (highest && *highest >= floor) return highest;
  }
  return highest;
}

std::size_t Problem::points_of_element() const {
  const auto p = static_cast<std::size_t>(degree) + 1;
  return p * p * p;
}

std::size_t Problem::steps() const {
  return static_cast<std::size_t>(std::ceil((end - begin) / step * (1 - 1e-12)));
}

std::size_t Problem::steps_taken() const {
  constexpr std::size_t beyond = 32;
  return steps() + (remove_dispersion && !receivers.empty() ? beyond : 0);
}

namespace {

/// Finds the coarsest element: the one in which the frequency with five points per shortest wavelength is
/// lowest (the first, if there are several).
void find_coarsest(Problem& problem) {
  const auto& mesh = problem.mesh;
  std::vector<double> slowest(mesh.media.size());
  for_each(mesh.media.size(), 0, [&](std::size_t n) { slowest[n] = mesh.media[n].slowest(); });
  struct Found {
    double frequency = INFINITY;
    std::uint32_t element = 0;
  };
  std::vector<Found> found((mesh.size() + stretch_length - 1) / stretch_length);
  for_each_stretch(mesh.size(), 0, [&](std::size_t first, std::size_t last) {
    auto& least = found[first / stretch_length];
    for (std::size_t n = first; n < last; ++n) {
      const double speed = slowest_of(mesh, n, problem.points_of_element(), slowest[mesh.medium[n]]),
                   here = speed * problem.degree / (5 * longest_edge(mesh.element(n)));
      if (here < least.frequency) least = {here, static_cast<std::uint32_t>(n)};
    }
  });
  problem.resolved_frequency = INFINITY;
  for (const auto& one : found)
    if (one.frequency < problem.resolved_frequency)
      problem.resolved_frequency = one.frequency, problem.coarsest = one.element;
}

/// Sets `begin`, if it is not given, and the highest frequency of the sources.
void settle_times(Problem& p) {
  p.highest_frequency = 0;
  const bool begin_given = !std::isnan(p.begin);
  if (!begin_given) p.begin = 0;
  for (const auto& source : p.sources) {
    if (!begin_given) p.begin = std::min(p.begin, source.course.begins());
    p.highest_frequency = std::max(p.highest_frequency, source.course.highest_frequency());
  }
  if (!(p.end > p.begin))
    throw InputError(begin_given && p.begin > 0 ? "elastic: begin" : "elastic: end",
                     fmt::format("{:.6g} s is not after the beginning, {:.6g} s", p.end, p.begin));
}

/// Computes the frequencies that the elements resolve. Throws InputError if the sources have higher ones.
void settle_resolution(Problem& p) {
  find_coarsest(p);
  p.points_per_wavelength =
      p.highest_frequency > 0 ? 5 * p.resolved_frequency / p.highest_frequency : INFINITY;
  if (p.points_per_wavelength < 2.5)
    throw InputError(
        "elastic: mesh",
        fmt::format("at the sources' highest frequency, {:.4g} Hz, there are {:.2g} points per wavelength "
                    "in element {}",
                    p.highest_frequency, p.points_per_wavelength, p.coarsest),
        fmt::format("Five are good, to {:.4g} Hz: take smaller elements there, a higher degree, or a "
                    "slower source.",
                    p.resolved_frequency));
}

/// Computes unrelaxed moduli of media with a Q, for the frequencies of the sources.
void settle_attenuation(Problem& p) {
  if (p.fading_frequency == 0)
    p.fading_frequency = (p.highest_frequency > 0 ? p.highest_frequency : p.resolved_frequency) / 2.5;
  if (p.relaxation_middle == 0)
    p.relaxation_middle = middle_below(p.highest_frequency > 0 ? p.highest_frequency : 1);
  // Media that vary within elements: their moduli are multiplied by the same factors as those of the
  // element's medium.
  std::vector<std::array<double, 2>> more(p.mesh.media.size(), {1, 1});
  for (std::size_t n = 0; n < p.mesh.media.size(); ++n)
    if (auto& medium = p.mesh.media[n]; !medium.loses_energy()) {
      const double kappa = medium.kappa(), mu = medium.mu();
      medium = unrelaxed(medium, p.relaxation_middle, p.reference_frequency,
                         medium.name.empty() ? fmt::format("elastic: medium {}", n) : medium.name);
      if (medium.loses_energy()) more[n] = {medium.kappa() / kappa, medium.mu() / mu};
    }
  const auto each = p.points_of_element();
  for (std::size_t n = 0; n < p.mesh.variation.size(); ++n) {
    if (!p.mesh.varies(n)) continue;
    const auto [of_kappa, of_mu] = more[p.mesh.medium[n]];
    for (std::size_t k = 0; k < each && (of_kappa != 1 || of_mu != 1); ++k) {
      auto& [density, lambda, mu] = p.mesh.at_points[p.mesh.variation[n] * each + k];
      lambda = (lambda + 2.0 / 3 * mu) * of_kappa - 2.0 / 3 * mu * of_mu;
      mu *= of_mu;
    }
  }
}

/// Computes the longest stable step; sets the step, if it is not given, to 0.97 of it.
void settle_step(Problem& p, const Basis& basis) {
  auto worst = stiffest_element(p.mesh, basis);
  if (const auto contact = stiffest_contact(p.mesh, basis); contact.eigenvalue > worst.eigenvalue)
    worst = contact;
  p.stiffest = worst.element;
  p.stable_step = 2 / std::sqrt(worst.eigenvalue);
  const bool own_step = p.step == 0;
  if (own_step) p.step = 0.97 * p.stable_step;
  if (p.step > p.stable_step * (1 + 1e-12))
    throw InputError(
        "elastic: step", fmt::format("{:.6g} s is not stable on this mesh", p.step),
        fmt::format("Steps may be {:.6g} s at most, because of element {}; without the key they are 0.97 "
                    "of that.",
                    p.stable_step, p.stiffest));
  if ((p.end - p.begin) / p.step > 1e9)
    throw InputError(own_step ? "elastic: end" : "elastic: step",
                     fmt::format("{:.3g} steps are too many", (p.end - p.begin) / p.step));
}

}  // namespace

void Problem::settle() {
  const Basis basis(degree);
  check_numbers(*this);
  mesh.check();
  mesh.check_variation(points_of_element());
  if (!mesh.curves.empty() && degree < 4)
    throw InputError(
        "elastic: mesh", fmt::format("elements with curved sides at degree {}", degree),
        "Take degree 4 or more, below which they strain of themselves, or elements.curved = false.");
  sort_each_once(mesh.absorbing);
  locate(*this);
  check_fluids(*this);
  settle_times(*this);
  settle_resolution(*this);
  settle_attenuation(*this);
  settle_step(*this, basis);
  if (snapshots.of == Snapshots::Of::nothing) return;
  if (!(snapshots.interval > 0 && snapshots.interval <= (end - begin) * (1 + 1e-12)))
    throw InputError("elastic: snapshots", fmt::format("one every {:.6g} s", snapshots.interval),
                     fmt::format("The run takes {:.6g} s.", end - begin));
  snapshots.every = std::clamp<std::size_t>(static_cast<std::size_t>(std::llround(snapshots.interval / step)),
                                            1, std::max<std::size_t>(1, steps()));
}

}  // namespace terrane::elastic
