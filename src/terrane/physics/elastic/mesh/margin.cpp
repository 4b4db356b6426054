#include "terrane/physics/elastic/mesh/margin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "terrane/base/error.hpp"

namespace terrane::elastic {

namespace {

constexpr const char* names_of_sides[6] = {"west", "east", "south", "north", "bottom", "top"};

constexpr double most_braking = 0.5;

/// The four corners of a side, in the order of their numbers.
std::array<std::size_t, 4> corners_of(std::uint32_t side) {
  std::array<std::size_t, 4> four{};
  std::size_t at = 0;
  for (std::size_t c = 0; c < 8; ++c)
    if ((c >> side / 2 & 1) == side % 2) four[at++] = c;
  return four;
}

/// The side of the mesh (0 … 5: west, east, south, north, bottom, top) to which a face's normal points; 6 if
/// it is not along an axis.
std::size_t looks_to(const Mesh& mesh, const AbsorbingFace& face) {
  Vector xi{};
  xi[face.side / 2] = face.side % 2 ? 1 : -1;
  const auto normal = mesh.element(face.element).map(xi).cofactor[face.side / 2];
  for (std::size_t d = 0; d < 3; ++d)
    if (std::fabs(normal[d]) > (1 - 1e-6) * norm(normal))
      return 2 * d + ((normal[d] > 0) == (face.side % 2 == 1) ? 1 : 0);
  return 6;
}

/// Permutes and reverses the reference axes ξ, η, ζ of an element such that each is closest in direction to
/// easting, northing, up, respectively; they remain right-handed. For axes in `fixed` the directions agree
/// exactly.
void align(Mesh& mesh, std::size_t element, unsigned fixed) {
  const auto map = mesh.element(element).map({0, 0, 0});
  const auto share = [&](std::size_t r, std::size_t d) { return map.tangent[r][d] / norm(map.tangent[r]); };
  std::array<std::size_t, 3> order{0, 1, 2}, best{0, 1, 2};
  double most = -1;
  do {
    double sum = 0;
    for (std::size_t d = 0; d < 3; ++d) sum += (fixed >> d & 1 ? 10 : 1) * std::fabs(share(order[d], d));
    if (sum > most) most = sum, best = order;
  } while (std::next_permutation(order.begin(), order.end()));
  const bool odd = (best[1] + 3 - best[0]) % 3 != 1;
  std::array<bool, 3> turned{};
  for (std::size_t d = 0; d < 3; ++d) turned[d] = share(best[d], d) < 0;
  if (odd != (turned[0] != (turned[1] != turned[2])))  // keeps the axes right-handed
    for (std::size_t d = 0; d < 3; ++d)
      if (!(fixed >> d & 1)) {
        turned[d] = !turned[d];
        break;
      }
  const auto before = mesh.elements[element];
  for (std::size_t c = 0; c < 8; ++c) {
    std::size_t from = 0;
    for (std::size_t d = 0; d < 3; ++d) from |= ((c >> d & 1) ^ std::size_t{turned[d]}) << best[d];
    mesh.elements[element][c] = before[from];
  }
}

/// Adds the elements of the matched layer beyond one side of the mesh.
class Growth {
 public:
  Growth(Mesh& mesh, std::size_t side, std::size_t elements)
      : mesh_(mesh), axis_(side / 2), elements_(elements), margin_(mesh.margins[side]) {}

  void measure(const std::vector<AbsorbingFace>& faces, std::size_t side) {
    double thickness = INFINITY, fast = 0, slow = INFINITY;
    margin_.from = coordinate(faces.front());
    for (const auto& face : faces) {
      double sum = 0;
      for (const auto c : corners_of(face.side)) {
        const auto inner = mesh_.elements[face.element][c ^ std::size_t{1} << face.side / 2],
                   outer = mesh_.elements[face.element][c];
        sum += std::fabs(mesh_.nodes[outer][axis_] - mesh_.nodes[inner][axis_]) / 4;
        if (std::fabs(mesh_.nodes[outer][axis_] - margin_.from) >
            1e-6 * mesh_.element(face.element).shortest())
          throw InputError("elastic: boundary", fmt::format("the {} side is no plane", names_of_sides[side]),
                           "Layers that waves fade in need plane sides; boundary = \"stacey\" takes any.");
      }
      thickness = std::min(thickness, sum);
      const auto& medium = mesh_.medium_of(face.element);
      margin_.speed = std::max(margin_.speed, medium.fastest());
      if (!of_media_.insert(mesh_.medium[face.element]).second) continue;
      const double slowest = medium.slowest();
      fast = std::max(fast, slowest), slow = std::min(slow, slowest);
      margin_.braking = std::max(margin_.braking, braking_of(medium, axis_));
    }
    margin_.braking = std::max(margin_.braking, braking_of_layers(fast, slow));
    for (const auto& x : mesh_.nodes)
      if ((x[axis_] - margin_.from) * (side % 2 ? 1 : -1) > 1e-6 * thickness)
        throw InputError(
            "elastic: boundary",
            fmt::format("elements lie beyond the {} side, at {:.6g} m", names_of_sides[side], x[axis_]),
            "Layers that waves fade in need the outermost plane; boundary = \"stacey\" takes any.");
    margin_.to = margin_.from + (side % 2 ? 1 : -1) * thickness * static_cast<double>(elements_);
    // Braking is proportional to the damping d, which grows as the reflection R falls. Therefore R is raised
    // from 10^−elements to 10^−2 as braking grows from 0 to 0.1.
    const auto weakened = std::min(1.0, margin_.braking / 0.1), decades = static_cast<double>(elements_);
    margin_.reflection = std::pow(10.0, -(decades + weakened * (2 - decades)));
    if (margin_.braking > most_braking)
      throw InputError(
          "elastic: boundary",
          fmt::format("plane waves of the medium at the {} side bring their phase in where their energy goes "
                      "out, and "
                      "would grow in a matched layer",
                      names_of_sides[side]),
          "Take boundary = \"stacey\", or turn the axis of the anisotropy along or across the sides.");
  }

  /// Adds the elements beyond a face.
  void grow(const AbsorbingFace& face) {
    auto corners = mesh_.elements[face.element];
    const std::size_t bit = std::size_t{1} << face.side / 2;
    const unsigned axes = mesh_.fading[face.element] | 1u << axis_;
    const auto inside = corners_of(face.side);
    for (std::size_t layer = 1; layer <= elements_; ++layer) {
      auto next = corners;
      for (const auto c : inside) {
        next[c ^ bit] = corners[c];
        next[c] = node(mesh_.elements[face.element][c], layer);
      }
      corners = next;
      mesh_.elements.push_back(next);
      mesh_.medium.push_back(mesh_.medium[face.element]);
      if (!mesh_.curve.empty()) mesh_.curve.push_back(Mesh::straight);
      mesh_.fading.push_back(static_cast<std::uint8_t>(axes));
    }
    for (std::size_t n = mesh_.size() - elements_; n < mesh_.size(); ++n) align(mesh_, n, axes);
  }

 private:
  double coordinate(const AbsorbingFace& face) const {
    return mesh_.nodes[mesh_.elements[face.element][corners_of(face.side)[0]]][axis_];
  }
  std::uint32_t node(std::uint32_t of, std::size_t layer) {
    auto& all = beyond_[of];
    if (all.empty()) {
      for (std::size_t n = 1; n <= elements_; ++n) {
        auto x = mesh_.nodes[of];
        x[axis_] = n == elements_ ? margin_.to
                                  : margin_.from + (margin_.to - margin_.from) * static_cast<double>(n) /
                                                       static_cast<double>(elements_);
        all.push_back(static_cast<std::uint32_t>(mesh_.nodes.size()));
        mesh_.nodes.push_back(x);
        if (!mesh_.vertex.empty()) mesh_.vertex.push_back(all.back());
      }
      if (!mesh_.vertex.empty() && mesh_.vertex[of] != of)
        for (std::size_t n = 1; n <= elements_; ++n) mesh_.vertex[all[n - 1]] = node(mesh_.vertex[of], n);
    }
    return all[layer - 1];
  }

  Mesh& mesh_;
  std::size_t axis_, elements_;
  Margin& margin_;
  std::set<std::uint32_t> of_media_;  // indices of the media at the side
  // New nodes beyond each node; in a map, because references stay valid when entries are added.
  std::map<std::uint32_t, std::vector<std::uint32_t>> beyond_;
};

}  // namespace

double braking_of_layers(double fastest, double slowest) {
  return std::clamp(0.1 * (fastest / slowest - 2), 0.0, 0.3);
}

double braking_of(const Medium& medium, std::size_t axis) {
  if (medium.isotropic) return 0;
  constexpr int around = 24, across = 12;
  constexpr double aside = 1e-3;
  double most = 0;
  for (int a = 0; a < across; ++a)
    for (int b = 0; b < around; ++b) {
      // Direction n of the wavenumber k, and n with a slightly larger component on the axis j: their
      // difference gives the group velocity V_j = ∂ω/∂k_j.
      const double cosine = (a + 0.5) / across, sine = std::sqrt(1 - cosine * cosine),
                   angle = 2 * std::numbers::pi * b / around;
      Vector n{}, further{};
      n[axis] = cosine, n[(axis + 1) % 3] = sine * std::cos(angle),
      n[(axis + 2) % 3] = sine * std::sin(angle);
      further = n;
      further[axis] += aside;
      const double longer = norm(further);
      for (auto& x : further) x /= longer;
      const auto here = medium.speeds(n), there = medium.speeds(further);
      for (std::size_t wave = 0; wave < 3; ++wave) {
        const double along = (longer * there[wave] - here[wave]) / aside;
        most = std::max(most, -cosine * along / here[wave]);
      }
    }
  return most > 1e-3 ? 2.5 * most : 0;
}

void add_margins(Mesh& mesh, std::size_t elements) {
  if (mesh.absorbing.empty()) return;
  sort_each_once(mesh.absorbing);
  std::array<std::vector<AbsorbingFace>, 6> faces;
  for (const auto& face : mesh.absorbing) {
    const auto side = looks_to(mesh, face);
    if (mesh.medium_of(face.element).is_fluid())
      throw InputError("elastic: boundary",
                       fmt::format("element {} at a side that waves leave through is a fluid", face.element),
                       "Layers that waves fade in are solid; boundary = \"stacey\" takes fluids, too.");
    if (!mesh.curve.empty() && mesh.curve[face.element] != Mesh::straight)
      throw InputError("elastic: boundary", fmt::format("element {} has curved sides", face.element),
                       "Layers that waves fade in need straight ones; boundary = \"stacey\" takes any.");
    if (side == 6)
      throw InputError("elastic: boundary",
                       fmt::format("side {} of element {} is not across an axis", face.side, face.element),
                       "Layers that waves fade in need plane sides; boundary = \"stacey\" takes any.");
    faces[side].push_back(face);
  }
  mesh.absorbing.clear();
  mesh.fading.assign(mesh.size(), 0);
  std::array<Growth, 6> growths{Growth{mesh, 0, elements}, Growth{mesh, 1, elements},
                                Growth{mesh, 2, elements}, Growth{mesh, 3, elements},
                                Growth{mesh, 4, elements}, Growth{mesh, 5, elements}};
  for (std::size_t side = 0; side < 6; ++side)
    if (!faces[side].empty()) growths[side].measure(faces[side], side);
  for (std::size_t side = 0; side < 6; ++side) {
    const auto before = mesh.size();
    for (const auto& face : faces[side]) growths[side].grow(face);
    // New elements that lie at another absorbing side are continued beyond that side, too.
    for (auto n = static_cast<std::uint32_t>(before); n < mesh.size(); ++n)
      for (std::uint32_t other = 2 * (static_cast<std::uint32_t>(side) / 2 + 1); other < 6; ++other) {
        if (faces[other].empty()) continue;
        const auto& margin = mesh.margins[other];
        const double near = 1e-6 * mesh.element(n).shortest();
        for (std::uint32_t own = 0; own < 6; ++own) {
          const auto four = corners_of(own);
          if (std::all_of(four.begin(), four.end(), [&](std::size_t c) {
                return std::fabs(mesh.nodes[mesh.elements[n][c]][other / 2] - margin.from) <= near;
              }))
            faces[other].push_back({n, own});
        }
      }
  }
}

Fading fading_at(const Mesh& mesh, std::size_t axis, double x, double frequency) {
  Fading all;
  for (std::size_t side = 2 * axis; side < 2 * axis + 2; ++side) {
    const auto& m = mesh.margins[side];
    const double thickness = std::fabs(m.to - m.from);
    if (thickness == 0) continue;
    const double q = (x - m.from) / (m.to - m.from);
    if (!(q > 0)) continue;
    all.d = -3 * m.speed * std::log(m.reflection) / (2 * thickness) * q * q;
    all.alpha = std::numbers::pi * frequency * std::max(0.0, 1 - q);
    all.damping = 0.05 * frequency * q * q;
    all.brake = m.braking * all.d;
  }
  return all;
}

std::array<double, fading_numbers> filters_of(const Fading& fading, double step) {
  std::array<double, fading_numbers> all{fading.d, fading.alpha};
  all[8] = fading.brake;
  const auto put = [&](std::size_t at, double pole, double gain) {
    const double x = pole * step, e = std::exp(-x);
    // r = (1 − e^{−x})/x, and b and c; for small x by series
    const double r = x > 1e-5 ? -std::expm1(-x) / x : 1 - x / 2;
    all[at] = e;
    all[at + 1] = gain * step * (x > 1e-5 ? (r - e) / x : 0.5 - x / 3);
    all[at + 2] = gain * step * (x > 1e-5 ? (1 - r) / x : 0.5 - x / 6);
  };
  put(2, fading.alpha, fading.d);
  put(5, fading.alpha + fading.d, -fading.d);
  return all;
}

}  // namespace terrane::elastic
