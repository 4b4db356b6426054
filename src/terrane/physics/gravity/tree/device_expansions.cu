// The kernel is limited by memory traffic: 16 bytes read and 16 written for each coefficient of an expansion,
// once.
#include <algorithm>
#include <span>

#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/tree/device_expansions.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t most_converted = std::size_t{1} << 20;  // coefficients converted at once

/// Converts one coefficient of one cluster.
struct ToHarmonics {
  View<const DeviceExpansions::Given> which;
  /// [which][coefficient_count(order)] coefficients, each in the units of its expansion's scale.
  View<const double> cartesian;
  View<const CartesianToHarmonic> table;  ///< one element: the table
  int order;
  View<ComplexNumber> harmonics;  ///< [expansions][harmonic_count(order)], all in the unit of the result
  TERRANE_FN void operator()(std::size_t i) const {
    const auto terms = static_cast<std::size_t>(harmonic_count(order));
    const DeviceExpansions::Given& cluster = which[i / terms];
    const int place = static_cast<int>(i % terms);
    int n = 0;
    while (harmonic_place(n + 1, 0) <= place) ++n;
    const int m = place - harmonic_place(n, 0), c = (n - m) % 2, degree = n - c, j = (degree + m) / 2;
    double power = m > 0 ? 2 : 1;
    for (int k = 0; k < n; ++k) power *= cluster.scale;
    if ((degree - j) % 2) power = -power;  // ∂₊^j ∂₋^(degree−j) = (−∂z²)^(degree−j) ∂₊^m
    const double* const from = cartesian.data +
                               i / terms * static_cast<std::size_t>(coefficient_count(order)) + n * n +
                               (c == 1 ? n + 1 : 0);
    ComplexNumber sum{0, 0};
    for (int a = 0; a <= degree; ++a) {
      const double value = from[a] * table[0].k[degree][a][j] * power;
      switch ((degree - a) % 4) {  // multiplies the sum by (−i)^b
        case 0:
          sum.re += value;
          break;
        case 1:
          sum.im -= value;
          break;
        case 2:
          sum.re -= value;
          break;
        default:
          sum.im += value;
      }
    }
    if (m == 0) sum.im = 0;
    harmonics[cluster.expansion * terms + static_cast<std::size_t>(place)] = sum;
  }
};

}  // namespace

DeviceExpansions::DeviceExpansions(Stream& stream, Tree& tree, double unit)
    : stream_(stream), tree_(tree), unit_(unit), brought_(tree.clusters()) {
  const auto terms = static_cast<std::size_t>(harmonic_count(tree_.order()));
  coefficients_ =
      Buffer<ComplexNumber>(stream_.device(), std::max<std::size_t>(1, tree_.expansions() * terms));
  const auto table = std::make_unique<CartesianToHarmonic>(tree_.order());
  table_ = Buffer<CartesianToHarmonic>(stream_, {table.get(), 1});
}

double DeviceExpansions::bytes(const Tree& tree) {
  return static_cast<double>(tree.expansions() * static_cast<std::size_t>(harmonic_count(tree.order())) *
                                 sizeof(ComplexNumber) +
                             sizeof(CartesianToHarmonic) + most_converted * sizeof(double));
}

/// Converts a limited number of expansions at a time, because both of their forms are then in memory.
void DeviceExpansions::bring(const std::vector<std::uint8_t>& wanted, Progress& progress) {
  tree_.make_expansions(wanted, progress);
  std::vector<std::uint32_t> missing;
  for (std::size_t c = 0; c < wanted.size(); ++c)
    if (wanted[c] && !brought_[c]) missing.push_back(static_cast<std::uint32_t>(c));
  const int order = tree_.order();
  const auto terms = static_cast<std::size_t>(coefficient_count(order)),
             at_once = std::min(missing.size(), most_converted / terms);
  const auto given = std::make_unique_for_overwrite<double[]>(at_once * terms);
  std::vector<Given> which(at_once);
  for (std::size_t first = 0; first < missing.size(); first += at_once) {
    const std::size_t count = std::min(at_once, missing.size() - first);
    for_each((count + 15) / 16, tree_.threads(), [&](std::size_t chunk) {
      for (std::size_t i = chunk * 16; i < std::min((chunk + 1) * 16, count); ++i) {
        const auto& node = tree_.nodes()[missing[first + i]];
        std::copy_n(tree_.made().of(node).coefficients, terms, given.get() + i * terms);
        which[i] = {unit_ > 0 ? node.scale / unit_ : 1.0, static_cast<std::uint32_t>(node.expansion)};
      }
    });
    enlarge(stream_, which_, at_once);
    which_.upload(stream_, std::span<const Given>(which).first(count));
    enlarge(stream_, given_, at_once * terms);
    given_.upload(stream_, {given.get(), count * terms});
    terrane::for_each(stream_, count * static_cast<std::size_t>(harmonic_count(order)),
                      ToHarmonics{which_.view(), given_.view(), table_.view(), order, coefficients_.view()});
  }
  for (const auto c : missing) brought_[c] = 1;
}

}  // namespace terrane::gravity
