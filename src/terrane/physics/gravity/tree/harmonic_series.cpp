#include "terrane/physics/gravity/tree/harmonic_series.hpp"

#include <algorithm>
#include <type_traits>

namespace terrane::gravity {

namespace {

/// Coefficients by m = a + b: c0[m][a] of D^(a, m − a, 0), c1[m][a] of D^(a, m − a, 1), which has degree
/// m + 1.
struct CartesianSeries {
  static constexpr int size = most_degree + 1;
  int top = 0;
  double c0[size][size], c1[size][size];

  explicit CartesianSeries(int highest) : top(highest) {
    for (int m = 0; m <= top; ++m) {
      std::fill_n(c0[m], m + 1, 0.0);
      std::fill_n(c1[m], m + 1, 0.0);
    }
  }
  /// Calls use(row of one degree, its length, its offset in the coefficients).
  template <class Use>
  void each_row(int order, const Use& use) {
    for (int n = 0; n <= order; ++n) {
      use(c0[n], n + 1, n * n);
      if (n > 0) use(c1[n - 1], n, n * n + n + 1);
    }
  }
};

/// b += factor · a; transposed: a += factor · b.
template <bool transposed, class A, class B>
void move(A& a, B& b, double factor) {
  if constexpr (transposed) a += factor * b;
  else b += factor * a;
}

/// to += factor · ∂axis from, for terms of degree up to `order`; transposed: from += factor · ∂axisᵀ to.
template <bool transposed>
void differentiate(std::conditional_t<transposed, CartesianSeries, const CartesianSeries>& from, int order,
                   int axis, double factor,
                   std::conditional_t<transposed, const CartesianSeries, CartesianSeries>& to) {
  for (int m = 0; m <= order; ++m)
    for (int a = 0; a <= m; ++a) {
      const bool second = m < order;  // whether c1 has row m
      if (axis == 2) {
        move<transposed>(from.c0[m][a], to.c1[m][a], factor);
        if (second) move<transposed>(from.c1[m][a], to.c0[m + 2][a + 2], -factor);
        if (second) move<transposed>(from.c1[m][a], to.c0[m + 2][a], -factor);
      } else {
        const int step = axis == 0 ? 1 : 0;
        move<transposed>(from.c0[m][a], to.c0[m + 1][a + step], factor);
        if (second) move<transposed>(from.c1[m][a], to.c1[m + 1][a + step], factor);
      }
    }
}

constexpr int axes_of[channel_count][2] = {{-1, -1}, {0, -1}, {1, -1}, {2, -1}, {0, 0},
                                           {1, 1},   {2, 2},  {0, 1},  {0, 2},  {1, 2}};

int derivatives_of(std::size_t channel) { return (axes_of[channel][0] >= 0) + (axes_of[channel][1] >= 0); }

/// The factor of a Cartesian coefficient in the stored N_nm: in its real part if b is even, else in the
/// imaginary part.
class Factors {
 public:
  Factors() {
    const CartesianToHarmonic binomial(most_degree);
    double odd = 1;  // (2n − 1)!!
    for (int n = 0; n <= most_degree; ++n) {
      for (int m = 0; m <= n; ++m) {
        const int degree = degree_of(n, m), j = (degree + m) / 2;
        for (int a = 0; a <= degree; ++a) {
          double sign = (degree - j) % 2 ? -1 : 1;  // ∂₊^j ∂₋^(degree−j) = (−∂z²)^(degree−j) ∂₊^m
          if ((degree - a) % 4 == 1 || (degree - a) % 4 == 2) sign = -sign;  // (−i)^b
          of_[n][m][a] = sign * (m > 0 ? 2 : 1) * odd * binomial.k[degree][a][j];
        }
      }
      odd *= 2 * n + 1;
    }
  }
  /// a + b of the Cartesian coefficients in N_nm, which have no or one derivative along z
  static int degree_of(int n, int m) { return n - (n - m) % 2; }
  const double* of(int n, int m) const { return of_[n][m]; }

  static const Factors& all() {
    static const Factors factors;
    return factors;
  }

 private:
  double of_[most_degree + 1][most_degree + 1][most_degree + 1] = {};
};

/// Calls use(Cartesian row, its factors, its degree, index of the real part in the series) for every N_nm.
template <class Series, class Use>
void each_term(Series& cartesian, const Use& use) {
  const auto& factors = Factors::all();
  for (int m = 0, place = 0; m <= cartesian.top; ++m)
    for (int n = m; n <= cartesian.top; ++n, place += 2) {
      const int degree = Factors::degree_of(n, m);
      use(degree == n ? cartesian.c0[degree] : cartesian.c1[degree], factors.of(n, m), degree, place);
    }
}

/// to += the Cartesian series of Σ_c weight_c q_c for the expansion `from`, in units of `scale`; transposed:
/// adds the transposed derivatives of `to` to `from`.
template <bool transposed>
void derive(std::span<const double, channel_count> weight, double scale,
            std::conditional_t<transposed, CartesianSeries, const CartesianSeries>& from, int order,
            std::conditional_t<transposed, const CartesianSeries, CartesianSeries>& to) {
  for (std::size_t c = 0; c < channel_count; ++c) {
    if (weight[c] == 0) continue;
    const auto& axes = axes_of[c];
    const double factor = weight[c] / scale;
    if (derivatives_of(c) == 0) {
      for (int m = 0; m <= order; ++m)
        for (int a = 0; a <= m; ++a) {
          move<transposed>(from.c0[m][a], to.c0[m][a], factor);
          if (m < order) move<transposed>(from.c1[m][a], to.c1[m][a], factor);
        }
    } else if (derivatives_of(c) == 1) {
      differentiate<transposed>(from, order, axes[0], factor / scale, to);
    } else {
      CartesianSeries once(order + 1);
      if constexpr (!transposed) differentiate<false>(from, order, axes[0], 1, once);
      differentiate<transposed>(once, order + 1, axes[1], factor / (scale * scale), to);
      if constexpr (transposed) differentiate<true>(from, order, axes[0], 1, once);
    }
  }
}

}  // namespace

int degrees_added(std::span<const double, channel_count> weight) {
  int most = 0;
  for (std::size_t c = 0; c < channel_count; ++c)
    if (weight[c] != 0) most = std::max(most, derivatives_of(c));
  return most;
}

void make_series(std::span<const double, channel_count> weight, double scale, int order,
                 const double* coefficients, int top, double* series) {
  CartesianSeries given(order), sum(top);
  given.each_row(order, [&](double* row, int count, int at) { std::copy_n(coefficients + at, count, row); });
  derive<false>(weight, scale, given, order, sum);
  each_term(sum, [&](const double* row, const double* factor, int degree, int place) {
    double part[2] = {};
    for (int a = 0; a <= degree; ++a) part[(degree - a) % 2] += factor[a] * row[a];
    series[place] = part[0];
    series[place + 1] = part[1];
  });
}

void add_transposed_series(std::span<const double, channel_count> weight, double scale, int order,
                           const double* series, int top, double* coefficients) {
  CartesianSeries given(order), sum(top);
  each_term(sum, [&](double* row, const double* factor, int degree, int place) {
    for (int a = 0; a <= degree; ++a) row[a] += factor[a] * series[place + (degree - a) % 2];
  });
  derive<true>(weight, scale, given, order, sum);
  given.each_row(order, [&](const double* row, int count, int at) {
    for (int i = 0; i < count; ++i) coefficients[at + i] += row[i];
  });
}

}  // namespace terrane::gravity
