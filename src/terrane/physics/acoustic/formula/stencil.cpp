#include "terrane/physics/acoustic/formula/stencil.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "terrane/base/error.hpp"

namespace terrane::acoustic {

namespace {

using Table = std::map<int, std::vector<double>>;

/// For each order the coefficients c_r, computed by a linear programme, that minimise the largest error of
/// the group velocity (stencil.hpp), with Σ r² c_r = 1. Tolerance: 1e-3 in this table, 1e-4 in the next.
const Table to_1e_3{{4, {1.362613584, -0.090653396}},
                    {6, {1.582855354, -0.186399558, 0.018082542}},
                    {8, {1.721176751, -0.268402517, 0.049817959, -0.005995520}},
                    {10, {1.805392239, -0.329052035, 0.083161473, -0.019130861, 0.002738257}},
                    {12, {1.859411707, -0.371515533, 0.111652258, -0.034639828, 0.009246396, -0.001531738}},
                    {16,
                     {1.918246081, -0.422252771, 0.150979836, -0.061771749, 0.025562954, -0.009874252,
                      0.003274721, -0.000683870}}};
const Table to_1e_4{{6, {1.538834569, -0.166179900, 0.013987226}},
                    {8, {1.670265522, -0.237710238, 0.037580325, -0.003602968}},
                    {10, {1.758887724, -0.295740093, 0.064960991, -0.012068984, 0.001301099}},
                    {12, {1.819146880, -0.340118686, 0.091056257, -0.023775114, 0.004948669, -0.000597037}},
                    {16,
                     {1.890251084, -0.398068816, 0.131901449, -0.048298605, 0.017158756, -0.005401197,
                      0.001344384, -0.000198622}}};

/// Coefficients a_m of staggered differences, optimised like the coefficients c_r above.
const Table half_to_1e_3{
    {8, {1.224676187, -0.098573798, 0.017598435, -0.002420995}},
    {12, {1.250622204, -0.119999477, 0.031931278, -0.009967381, 0.002918452, -0.000615870}}};
const Table half_to_1e_4{
    {8, {1.213218575, -0.090579332, 0.013713682, -0.001435570}},
    {12, {1.242977164, -0.113622393, 0.027279294, -0.007246608, 0.001643859, -0.000234085}}};

/// Coefficients of second differences of order 2M, M = points: c_r = (−1)^{r+1} / r² Π_{m ≠ r} m² / |m² − r²|
std::vector<double> taylor(int points) {
  std::vector<double> c;
  for (int r = 1; r <= points; ++r) {
    double value = (r % 2 ? 1.0 : -1.0) / (r * r);
    for (int m = 1; m <= points; ++m)
      if (m != r) value *= static_cast<double>(m * m) / std::abs(m * m - r * r);
    c.push_back(value);
  }
  return c;
}

/// Coefficients of staggered differences of order 2M, M = points: a_m = (−1)^{m+1} / (2m − 1) Π_{j ≠ m} (2j −
/// 1)² / |(2m − 1)² − (2j − 1)²|
std::vector<double> taylor_to_half(int points) {
  std::vector<double> a;
  for (int m = 1; m <= points; ++m) {
    const int odd = 2 * m - 1;
    double value = (m % 2 ? 1.0 : -1.0) / odd;
    for (int j = 1; j <= points; ++j)
      if (const int other = 2 * j - 1; other != odd)
        value *= static_cast<double>(other * other) / std::abs(odd * odd - other * other);
    a.push_back(value);
  }
  return a;
}

const std::vector<double>& found_in(const Table& table, int order) {
  const auto found = table.find(order);
  if (found != table.end()) return found->second;
  std::string orders;
  for (const auto& [there, values] : table) orders += fmt::format("{}{}", orders.empty() ? "" : ", ", there);
  throw InputError("acoustic: coefficients",
                   fmt::format("there are no optimised ones of order {} to this tolerance", order),
                   fmt::format("Take one of the orders {}, or the Taylor coefficients.", orders));
}

/// The sum Σ 2 w_n sin((n + 1 − shift) kh) over the weights w_n, and its derivative with respect to kh.
std::array<double, 2> sine_sum(const std::vector<double>& weights, double shift, double kh) {
  std::array<double, 2> sum{};
  for (std::size_t n = 0; n < weights.size(); ++n) {
    const double r = static_cast<double>(n + 1) - shift;
    sum[0] += 2 * weights[n] * std::sin(r * kh);
    sum[1] += 2 * weights[n] * r * std::cos(r * kh);
  }
  return sum;
}

constexpr int samples = 2000;  // number of values of kh between 0 and π

}  // namespace

Differences differences(int order, Coefficients kind, Equation equation) {
  if (order < 2 || order > 2 * widest || order % 2 != 0)
    throw InputError("acoustic: order", fmt::format("{} is not an order in space", order),
                     "Allowed: 2, 4, 6, 8, 10, 12, 14, 16.");
  Differences made;
  made.order = order;
  made.equation = equation;
  const auto plain = taylor(order / 2);
  for (int r = 1; r <= order / 2; ++r) made.first.push_back(r * plain[static_cast<std::size_t>(r - 1)] / 2);
  made.second = plain;
  made.half = taylor_to_half(order / 2);
  if (kind == Coefficients::taylor) return made;
  const bool coarse = kind == Coefficients::optimised;
  if (equation == Equation::tti)
    throw InputError("acoustic: coefficients", "a tilted axis has no optimised ones",
                     "Take the Taylor coefficients.");
  if (equation == Equation::variable_density)
    made.half = found_in(coarse ? half_to_1e_3 : half_to_1e_4, order);
  else made.second = found_in(coarse ? to_1e_3 : to_1e_4, order);
  return made;
}

double Differences::centre() const {
  double sum = 0;
  for (const double c : second) sum += c;
  return -2 * sum;
}

double Differences::symbol(double kh) const {
  double sum = 0;
  for (std::size_t r = 0; r < second.size(); ++r)
    sum += 2 * second[r] * (1 - std::cos(static_cast<double>(r + 1) * kh));
  return sum;
}

double Differences::group_error(double kh) const {
  // Group velocity / v = dK/dk; for L this is (K²)' / (2 K).
  if (equation == Equation::variable_density) return sine_sum(half, 0.5, kh)[1] - 1;
  if (equation == Equation::tti) return sine_sum(first, 0, kh)[1] - 1;
  // slope: (K²)', square: K². 1 − cos is a squared sine here, which stays above zero for very long waves.
  double slope = 0, square = 0;
  for (std::size_t r = 0; r < second.size(); ++r) {
    const auto n = static_cast<double>(r + 1);
    const double sine = std::sin(n * kh / 2);
    slope += 2 * second[r] * n * std::sin(n * kh);
    square += 4 * second[r] * sine * sine;
  }
  return slope / (2 * std::sqrt(square)) - 1;
}

double Differences::worst_group_error(double points_per_wavelength) const {
  const double highest = std::min(2 * std::numbers::pi / points_per_wavelength, std::numbers::pi);
  double worst = 0;
  for (int n = 1; n <= samples; ++n) worst = std::max(worst, std::abs(group_error(highest * n / samples)));
  return worst;
}

double Differences::points_per_wavelength(double tolerance) const {
  double kh = 0;
  for (int n = 1; n <= samples; ++n) {
    const double next = std::numbers::pi * n / samples;
    // The errors of optimised sets reach their tolerance exactly, up to rounding of the coefficients.
    if (std::abs(group_error(next)) > tolerance * (1 + 1e-3)) break;
    kh = next;
  }
  return kh > 0 ? 2 * std::numbers::pi / kh : INFINITY;
}

double longest_step(const Differences& differences, const std::array<double, 3>& spacing,
                    const std::array<bool, 3>& there, double fastest) {
  double highest = 0;
  for (int n = 1; n <= samples; ++n)
    highest = std::max(highest, differences.symbol(std::numbers::pi * n / samples));
  double sum = 0;
  for (std::size_t a = 0; a < 3; ++a)
    if (there[a]) sum += highest / (spacing[a] * spacing[a]);
  return 2 / (fastest * std::sqrt(sum));
}

}  // namespace terrane::acoustic
