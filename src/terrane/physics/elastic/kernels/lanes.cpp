#include "terrane/physics/elastic/kernels/lanes.hpp"

#include "terrane/parallel/simd/instruction_set.hpp"
#include "terrane/physics/elastic/kernels/lane_table.hpp"

namespace terrane::elastic {

namespace {

const LaneTarget& target(std::string_view wanted) {
  const auto name = instruction_set(wanted);
  for (const auto& one : lane_targets)
    if (one.name == name) return one;
  return lane_targets.front();
}

template <class T, class Matrix>
EvenOdd<T> even_odd(int points, const Matrix& m) {
  EvenOdd<T> parts{};
  const int half = points / 2, last = points - 1;
  for (int i = 0; i < half; ++i) {
    for (int l = 0; l < half; ++l) {
      parts.even[i][l] = static_cast<T>(0.5 * (m(i, l) + m(i, last - l)));
      parts.odd[i][l] = static_cast<T>(0.5 * (m(i, l) - m(i, last - l)));
    }
    if (points % 2) parts.even[i][half] = static_cast<T>(m(i, half));
    parts.middle[i] = static_cast<T>(points % 2 ? m(half, i) : 0);
  }
  return parts;
}

}  // namespace

template <class T>
LaneTables<T> lane_tables(const Basis& basis) {
  LaneTables<T> tables{};
  tables.points = basis.points();
  const auto at = [](int n) { return static_cast<std::size_t>(n); };
  for (int n = 0; n < tables.points; ++n) {
    tables.x[n] = static_cast<T>(basis.x[at(n)]);
    tables.w[n] = static_cast<T>(basis.weight[at(n)]);
  }
  tables.derivative =
      even_odd<T>(tables.points, [&](int i, int l) { return basis.derivative[at(i)][at(l)]; });
  tables.transposed = even_odd<T>(
      tables.points, [&](int i, int l) { return basis.weight[at(l)] * basis.derivative[at(l)][at(i)]; });
  return tables;
}
template LaneTables<float> lane_tables(const Basis&);
template LaneTables<double> lane_tables(const Basis&);

const LaneKernels<float>& lane_kernels_float(std::string_view wanted) { return target(wanted).in_float(); }
const LaneKernels<double>& lane_kernels_double(std::string_view wanted) { return target(wanted).in_double(); }

}  // namespace terrane::elastic
