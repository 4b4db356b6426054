#include "terrane/physics/elastic/mesh/variation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/elastic/element/basis.hpp"

namespace terrane::elastic {

namespace {

/// The medium at the points of one element.
struct OfElement {
  std::vector<PointRock> rock;
  bool varies = false, mixed = false;
};

/// Whether two media differ by more than rounding of an average of equal media.
bool differ(const PointRock& a, const PointRock& b) {
  constexpr double rounding = 1e-9;
  const double bulk = rounding * (b[1] + 2 * b[2]);
  return std::fabs(a[0] - b[0]) > rounding * b[0] || std::fabs(a[1] - b[1]) > bulk ||
         std::fabs(a[2] - b[2]) > bulk;
}

OfElement rock_within(const Mesh& mesh, std::size_t n, const Basis& basis, const MediumAt& at) {
  const auto& own = mesh.medium_of(n);
  const auto shape = mesh.element(n);
  const auto p = static_cast<std::size_t>(basis.points());
  OfElement out;
  out.rock.assign(p * p * p, own.point());
  for (std::size_t k = 0; k < out.rock.size(); ++k) {
    const auto here =
        at(shape.at({basis.x[k % p], basis.x[k / p % p], basis.x[k / p / p]}), shape.monomial[0]);
    if (!here.isotropic || here.is_fluid() != own.is_fluid()) {
      out.mixed = true;
      continue;
    }
    out.varies = out.varies || differ(here.point(), out.rock[k]);
    out.rock[k] = here.point();
  }
  return out;
}

}  // namespace

Variation vary_within(Mesh& mesh, int degree, const std::vector<const MediumAt*>& at) {
  const Basis basis(degree);
  Variation all;
  mesh.at_points.clear();
  mesh.variation.assign(mesh.size(), Mesh::even);
  constexpr std::size_t at_once = 4096;  // elements in memory at one time: 12 MB
  std::vector<OfElement> some(std::min(at_once, mesh.size()));
  for (std::size_t first = 0; first < mesh.size(); first += at_once) {
    const auto count = std::min(at_once, mesh.size() - first);
    for_each(count, 0, [&](std::size_t n) {
      const auto element = first + n;
      some[n] = at[element] && mesh.medium_of(element).isotropic
                    ? rock_within(mesh, element, basis, *at[element])
                    : OfElement{};
    });
    for (std::size_t n = 0; n < count; ++n) {
      all.anisotropic += at[first + n] && !mesh.medium_of(first + n).isotropic ? 1 : 0;
      all.mixed += some[n].mixed ? 1 : 0;
      if (!some[n].varies) continue;
      mesh.variation[first + n] = static_cast<std::uint32_t>(all.varying++);
      mesh.at_points.insert(mesh.at_points.end(), some[n].rock.begin(), some[n].rock.end());
    }
  }
  if (all.varying == 0) mesh.variation.clear();
  return all;
}

std::string Variation::text() const {
  auto said = varying == 0 ? std::string("rock varies within no element")
                           : fmt::format("rock varies within {} of the elements", varying);
  if (anisotropic > 0)
    said += fmt::format("; {} of anisotropic rock keep that of their middles", anisotropic);
  if (mixed > 0)
    said += fmt::format(
        "; {} reach from rock into a fluid or into anisotropic rock, and have that of their "
        "middles there",
        mixed);
  return said;
}

}  // namespace terrane::elastic
