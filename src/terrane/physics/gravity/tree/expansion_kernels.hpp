// The kernels of expansion.hpp, compiled once for each instruction set by expansion_<target>.cpp.
//
// `evaluate` is limited by flops. For order P and a pack of stations, the derivatives of 1/r need
// 13 (P + 3)² / 2 operations, the sums of all ten quantities 9 (P + 1)²; everything fits into the L1 cache.
#pragma once

#include <algorithm>
#include <cmath>

#include "terrane/math/pack.hpp"
#include "terrane/physics/gravity/tree/derivatives.hpp"
#include "terrane/physics/gravity/tree/expansion.hpp"

#ifndef TERRANE_SIMD_TARGET
#define TERRANE_SIMD_TARGET this_file
#endif

namespace terrane::gravity::TERRANE_SIMD_TARGET {
namespace {

template <bool tensor>
void evaluate_pack(const Expansion& e, int order, const StationTile& stations, int s, double* sums) {
  const Pack inverse(1 / e.scale);
  const Pack x = (load(stations.x + s) - Pack(e.centre[0])) * inverse,
             y = (load(stations.y + s) - Pack(e.centre[1])) * inverse,
             z = (load(stations.z + s) - Pack(e.centre[2])) * inverse;
  Derivatives d;
  d.fill(order + (tensor ? 2 : 1), x, y, z);
  Pack v(0), gx(0), gy(0), gz(0), xx(0), xy(0), yy(0), xz(0), yz(0);
  for (int n = 0; n <= order; ++n) {
    const double* c = e.coefficients + n * n;
    for (int a = 0; a <= n; ++a) {
      const Pack w(c[a]);
      v += w * d.t0[n][a];
      gx += w * d.t0[n + 1][a + 1];
      gy += w * d.t0[n + 1][a];
      gz += w * d.t1[n][a];
      if constexpr (tensor) {
        xx += w * d.t0[n + 2][a + 2];
        xy += w * d.t0[n + 2][a + 1];
        yy += w * d.t0[n + 2][a];
        xz += w * d.t1[n + 1][a + 1];
        yz += w * d.t1[n + 1][a];
      }
    }
    if (n == 0) continue;
    c += n + 1;
    for (int a = 0; a < n; ++a) {
      const Pack w(c[a]);
      v += w * d.t1[n - 1][a];
      gx += w * d.t1[n][a + 1];
      gy += w * d.t1[n][a];
      gz += w * d.t2[n - 1][a];
      if constexpr (tensor) {
        xx += w * d.t1[n + 1][a + 2];
        xy += w * d.t1[n + 1][a + 1];
        yy += w * d.t1[n + 1][a];
        xz += w * d.t2[n][a + 1];
        yz += w * d.t2[n][a];
      }
    }
  }
  const auto add = [&](int channel, const Pack& value) {
    double* at = sums + channel * tile_size + s;
    (load(at) + value).copy_to(at, element_aligned);
  };
  const Pack inverse2 = inverse * inverse, inverse3 = inverse2 * inverse;
  add(0, inverse * v);
  add(1, inverse2 * gx);
  add(2, inverse2 * gy);
  add(3, inverse2 * gz);
  if constexpr (tensor) {
    add(4, inverse3 * xx);
    add(5, inverse3 * yy);
    add(6, -inverse3 * (xx + yy));
    add(7, inverse3 * xy);
    add(8, inverse3 * xz);
    add(9, inverse3 * yz);
  }
}

void evaluate(const Expansion& e, int order, bool tensor, const StationTile& stations, double* sums) {
  for (int s = 0; s < stations.count; s += pack_lanes) {
    if (tensor) evaluate_pack<true>(e, order, stations, s, sums);
    else evaluate_pack<false>(e, order, stations, s, sums);
  }
}

// ---- expansions as arrays by degree ----

/// The coefficients c0[m][a] of ∂x^a ∂y^b, and c1[m][a] of ∂x^a ∂y^b ∂z, with m = a + b.
struct Folded {
  double c0[rows][rows] = {}, c1[rows][rows] = {};

  void add_to(double* coefficients, int order) const {
    for (int n = 0; n <= order; ++n) {
      for (int a = 0; a <= n; ++a) coefficients[n * n + a] += c0[n][a];
      for (int a = 0; a < n; ++a) coefficients[n * n + n + 1 + a] += c1[n - 1][a];
    }
  }
};

/// Faces of a pack of prisms relative to a centre, in units of the scale, and their masses; lanes beyond the
/// last prism contain a copy of it with mass 0.
struct FacesOfPack {
  alignas(64) double low[3][pack_lanes], high[3][pack_lanes], mass[pack_lanes];

  FacesOfPack(const PrismColumns& prisms, const std::uint32_t* index, std::size_t first, std::size_t count,
              const double (&centre)[3], double inverse_scale) {
    if (!index && first + pack_lanes <= count) {
      Pack volume(1);
      for (int axis = 0; axis < 3; ++axis) {
        const Pack from = load(prisms.low[axis] + first), to = load(prisms.high[axis] + first);
        volume *= to - from;
        ((from - Pack(centre[axis])) * Pack(inverse_scale)).copy_to(low[axis], vector_aligned);
        ((to - Pack(centre[axis])) * Pack(inverse_scale)).copy_to(high[axis], vector_aligned);
      }
      if (prisms.density) volume *= load(prisms.density + first);
      volume.copy_to(mass, vector_aligned);
      return;
    }
    for (int lane = 0; lane < pack_lanes; ++lane) {
      const std::size_t i = first + static_cast<std::size_t>(lane), place = std::min(i, count - 1),
                        n = index ? index[place] : place;
      double volume = 1;
      for (int axis = 0; axis < 3; ++axis) {
        volume *= prisms.high[axis][n] - prisms.low[axis][n];
        low[axis][lane] = (prisms.low[axis][n] - centre[axis]) * inverse_scale;
        high[axis][lane] = (prisms.high[axis][n] - centre[axis]) * inverse_scale;
      }
      mass[lane] = i < count ? (prisms.density ? prisms.density[n] : 1) * volume : 0.0;
    }
  }
  /// Means of t^k over [low, high]: Σ_i high^i low^(k−i) / (k + 1), without any difference of powers.
  void means(int order, const double* inverse_number, Pack (*mean)[most_order + 1]) const {
    for (int axis = 0; axis < 3; ++axis) {
      const Pack top = load(high[axis]), bottom = load(low[axis]);
      Pack sum(1), power(1);
      mean[axis][0] = sum;
      for (int k = 1; k <= order; ++k) {
        power *= bottom;
        sum = sum * top + power;
        mean[axis][k] = sum * Pack(inverse_number[k + 1]);
      }
    }
  }
};

/// The factors (−1)^k / k! of the coefficients of an expansion.
struct Factorials {
  double inverse[most_order + 1];
  explicit Factorials(int order) {
    inverse[0] = 1;
    for (int k = 1; k <= order; ++k) inverse[k] = -inverse[k - 1] / k;
  }
};

constexpr int packs_together = 4;

/// A pack of prisms: mass, and the means of t^k over their sides along each axis.
struct PackOfPrisms {
  Pack mass, mean[3][most_order + 1];
};

/// Adds mass · <x^a> <y^b> <z^c> of `packs` packs to the sums of every a + b + c ≤ order. At high orders
/// the sums do not fit into the L1 cache, so several packs share one load and store of them.
template <int packs>
void add_moments(const PackOfPrisms* prisms, int order, Pack* sums) {
  for (int a = 0; a <= order; ++a) {
    Pack ma[packs];
    for (int i = 0; i < packs; ++i) ma[i] = prisms[i].mass * prisms[i].mean[0][a];
    for (int b = 0; a + b <= order; ++b) {
      Pack mb[packs];
      for (int i = 0; i < packs; ++i) mb[i] = ma[i] * prisms[i].mean[1][b];
      for (int c = 0; a + b + c <= order; ++c) {
        Pack sum = *sums;
        for (int i = 0; i < packs; ++i) sum += mb[i] * prisms[i].mean[2][c];
        *sums++ = sum;
      }
    }
  }
}

/// Adds Σ |m| r^2n for n = 0, 1, … to the sums, over the corners of a pack of prisms with masses m: an eighth
/// of |m| at each corner, r from the centre.
void add_radial(const FacesOfPack& faces, Pack mass, int radials, Pack* sums) {
  Pack corner[3][2];
  for (int axis = 0; axis < 3; ++axis) {
    corner[axis][0] = load(faces.low[axis]) * load(faces.low[axis]);
    corner[axis][1] = load(faces.high[axis]) * load(faces.high[axis]);
  }
  const Pack eighth = absolute(mass) * Pack(0.125);
  for (int i = 0; i < 8; ++i) {
    const Pack r2 = corner[0][i & 1] + (corner[1][i >> 1 & 1] + corner[2][i >> 2 & 1]);
    Pack power = eighth;
    for (int n = 0; n < radials; ++n) {
      sums[n] += power;
      power *= r2;
    }
  }
}

/// Multiplies the sums of add_moments() by (−1)^|k| / k!, expresses those with c ≥ 2 by c = 0 and 1 with
/// ∂z² = −∂x² − ∂y², from the highest c down, and adds them to the coefficients.
void add_folded(const Pack* at, int order, double* coefficients) {
  const Factorials factorials(order);
  const auto& inverse_factorial = factorials.inverse;
  double by_c[most_order + 1][rows][rows];  // [c][m = a + b][a]
  for (int a = 0; a <= order; ++a)
    for (int b = 0; a + b <= order; ++b)
      for (int c = 0; a + b + c <= order; ++c)
        by_c[c][a + b][a] =
            sum_of_lanes(*at++) * inverse_factorial[a] * inverse_factorial[b] * inverse_factorial[c];
  for (int c = order; c >= 2; --c)
    for (int m = 0; m + c <= order; ++m)
      for (int a = 0; a <= m; ++a) {
        by_c[c - 2][m + 2][a + 2] -= by_c[c][m][a];
        by_c[c - 2][m + 2][a] -= by_c[c][m][a];
      }
  for (int n = 0; n <= order; ++n) {
    for (int a = 0; a <= n; ++a) coefficients[n * n + a] += by_c[0][n][a];
    for (int a = 0; a < n; ++a) coefficients[n * n + n + 1 + a] += by_c[1][n - 1][a];
  }
}

void gather(const PrismColumns& prisms, const std::uint32_t* index, std::size_t count,
            const double (&centre)[3], double scale, int order, double* coefficients, double* radial) {
  constexpr int most = (most_order + 1) * (most_order + 2) * (most_order + 3) / 6;
  Pack sums[most], radial_sums[most_order / 2 + 2];
  const int used = (order + 1) * (order + 2) * (order + 3) / 6, radials = order / 2 + 2;
  if (coefficients) std::fill_n(sums, used, Pack(0));
  std::fill_n(radial_sums, radials, Pack(0));
  const double inverse = 1 / scale;
  double inverse_number[most_order + 2];
  for (int k = 1; k <= order + 1; ++k) inverse_number[k] = 1.0 / k;
  PackOfPrisms waiting[packs_together];
  int packs = 0;
  for (std::size_t first = 0; first < count; first += pack_lanes) {
    const FacesOfPack faces(prisms, index, first, count, centre, inverse);
    const Pack m = load(faces.mass);
    if (coefficients) {
      auto& pack = waiting[packs++];
      pack.mass = m;
      faces.means(order, inverse_number, pack.mean);
      if (packs == packs_together) {
        add_moments<packs_together>(waiting, order, sums);
        packs = 0;
      }
    }
    if (radial) add_radial(faces, m, radials, radial_sums);
  }
  if (packs == 1) add_moments<1>(waiting, order, sums);
  if (packs == 2) add_moments<2>(waiting, order, sums);
  if (packs == 3) add_moments<3>(waiting, order, sums);
  if (radial)
    for (int n = 0; n < radials; ++n) radial[n] += sum_of_lanes(radial_sums[n]);
  if (coefficients) add_folded(sums, order, coefficients);
}

/// The coefficients about another centre, C′ = exp(−d · D) C with D = ∇, one axis after the other; d: from
/// the new centre to the old, in the new scale.
void move(const Expansion& from, const double (&centre)[3], double scale, int order, double* coefficients) {
  Folded old, next;
  const double ratio = from.scale / scale;
  double power = 1;
  for (int n = 0; n <= order; ++n) {
    for (int a = 0; a <= n; ++a) old.c0[n][a] = power * from.coefficients[n * n + a];
    for (int a = 0; a < n; ++a) old.c1[n - 1][a] = power * from.coefficients[n * n + n + 1 + a];
    power *= ratio;
  }
  double e[3][most_order + 2];
  for (int axis = 0; axis < 3; ++axis) {
    const double d = (from.centre[axis] - centre[axis]) / scale;
    e[axis][0] = 1;
    for (int j = 1; j <= order + 1; ++j) e[axis][j] = e[axis][j - 1] * -d / j;
  }
  const auto shift = [order](const double(&c)[rows][rows], double(&to)[rows][rows], int top, const double* w,
                             int step) {  // step: how much the index a grows per degree: 1 along x, 0 along y
    for (int m = 0; m <= top; ++m) std::fill_n(to[m], m + 1, 0.0);
    for (int m = 0; m <= top; ++m)
      for (int j = 0; m + j <= top; ++j) {
        double* row = to[m + j] + step * j;
        for (int a = 0; a <= m; ++a) row[a] += w[j] * c[m][a];
      }
  };
  shift(old.c0, next.c0, order, e[0], 1);
  shift(old.c1, next.c1, order - 1, e[0], 1);
  shift(next.c0, old.c0, order, e[1], 0);
  shift(next.c1, old.c1, order - 1, e[1], 0);
  // Along z with L = ∂z² = −∂x² − ∂y²: exp = Σ e_2i L^i + ∂z Σ e_(2i+1) L^i.
  // The function replaces c by L c in place, from the highest degree down.
  const auto laplacian = [](double(&c)[rows][rows], int top) {
    for (int m = top; m >= 0; --m)
      for (int a = m; a >= 0; --a) {
        double sum = 0;
        if (m >= 2) {
          if (a >= 2) sum -= c[m - 2][a - 2];
          if (a <= m - 2) sum -= c[m - 2][a];
        }
        c[m][a] = sum;
      }
  };
  for (int m = 0; m <= order; ++m) std::fill_n(next.c0[m], m + 1, 0.0);
  for (int m = 0; m < order; ++m) std::fill_n(next.c1[m], m + 1, 0.0);
  for (int i = 0; 2 * i <= order; ++i) {
    for (int m = 2 * i; m <= order; ++m)
      for (int a = 0; a <= m; ++a) next.c0[m][a] += e[2][2 * i] * old.c0[m][a];
    for (int m = 2 * i; m < order; ++m)
      for (int a = 0; a <= m; ++a)
        next.c1[m][a] += e[2][2 * i] * old.c1[m][a] + e[2][2 * i + 1] * old.c0[m][a];
    laplacian(old.c0, order);
    laplacian(old.c1, order);  // old.c1 is now L^(i+1) C1, one degree higher
    for (int m = 2 * i + 2; m <= order; ++m)
      for (int a = 0; a <= m; ++a) next.c0[m][a] += e[2][2 * i + 1] * old.c1[m][a];
  }
  next.add_to(coefficients, order);
}

// ---- series in harmonics ----

/// The factors (n² − m²)/(4n² − 1) in the recurrence for P_nm (harmonic_series.hpp): [m][n − m].
struct Recurrence {
  double back[most_degree + 1][most_degree + 1] = {};
  constexpr Recurrence() {
    for (int m = 0; m <= most_degree; ++m)
      for (int n = m; n <= most_degree; ++n) back[m][n - m] = (n * n - m * m) / (4.0 * n * n - 1);
  }
};
constexpr Recurrence recurrence;

/// A pack of stations relative to a centre: −z/r², 1/r², w = −(x + iy)/r², and w^m / r, with m = 0 at first.
struct SeriesPoint {
  Pack down, inverse2, turn[2], power[2];

  void place(const Series& at, const StationTile& stations, int s) {
    const Pack inverse(1 / at.scale);
    const Pack x = (load(stations.x + s) - Pack(at.centre[0])) * inverse,
               y = (load(stations.y + s) - Pack(at.centre[1])) * inverse,
               z = (load(stations.z + s) - Pack(at.centre[2])) * inverse;
    inverse2 = reciprocal(x * x + (y * y + z * z));
    down = -z * inverse2;
    turn[0] = -x * inverse2;
    turn[1] = -y * inverse2;
    power[0] = square_root(inverse2);
    power[1] = Pack(0);
  }
  void next_power() {
    const Pack real = power[0] * turn[0] - power[1] * turn[1];
    power[1] = power[0] * turn[1] + power[1] * turn[0];
    power[0] = real;
  }
};

/// Calls use(index of N_nm in a series up to degree `stored`, P_nm of each pack) (harmonic_series.hpp) for
/// every n and m up to `top`, begin() before and end() after those of one m. Several packs at once, because
/// each step of the recurrence waits for the one before.
template <int packs, class Begin, class Use, class End>
void each_harmonic(const SeriesPoint* point, int stored, int top, const Begin& begin, const Use& use,
                   const End& end) {
  int column = 0;
  for (int m = 0; m <= top; ++m) {
    begin();
    Pack p[packs], before[packs];
    for (int k = 0; k < packs; ++k) {
      p[k] = Pack(1);
      before[k] = Pack(0);
    }
    for (int i = 0; i <= top - m; ++i) {
      use(column + 2 * i, p);
      const Pack back(recurrence.back[m][i]);
      for (int k = 0; k < packs; ++k) {
        const Pack next = point[k].down * p[k] - back * (point[k].inverse2 * before[k]);
        before[k] = p[k];
        p[k] = next;
      }
    }
    end();
    column += 2 * (stored - m + 1);
  }
}

/// Adds the series of `together` observables, from `first` on, at `packs` packs of stations, from station s
/// on. sums: [together][tile_size]
template <int packs, int together>
void add_series_of(const Series& series, int first, int top, const StationTile& stations, int s,
                   double* sums) {
  SeriesPoint point[packs];
  Pack total[together][packs], re[together][packs], im[together][packs];
  for (int k = 0; k < packs; ++k) {
    point[k].place(series, stations, s + k * pack_lanes);
    for (int o = 0; o < together; ++o) total[o][k] = load(sums + o * tile_size + s + k * pack_lanes);
  }
  const int stride = series_count(series.top);
  const double* const numbers = series.numbers + first * stride;
  each_harmonic<packs>(
      point, series.top, top,
      [&] {
        for (int o = 0; o < together; ++o)
          for (int k = 0; k < packs; ++k) re[o][k] = im[o][k] = Pack(0);
      },
      [&](int place, const Pack* p) {
        for (int o = 0; o < together; ++o) {
          const Pack real(numbers[o * stride + place]), imaginary(numbers[o * stride + place + 1]);
          for (int k = 0; k < packs; ++k) {
            re[o][k] += real * p[k];
            im[o][k] += imaginary * p[k];
          }
        }
      },
      [&] {
        for (int k = 0; k < packs; ++k) {
          for (int o = 0; o < together; ++o)
            total[o][k] += re[o][k] * point[k].power[0] - im[o][k] * point[k].power[1];
          point[k].next_power();
        }
      });
  for (int o = 0; o < together; ++o)
    for (int k = 0; k < packs; ++k)
      total[o][k].copy_to(sums + o * tile_size + s + k * pack_lanes, element_aligned);
}

template <int packs>
void add_series_at(const Series& series, int top, const StationTile& stations, int s, double* sums) {
  int o = 0;
  for (; o + 3 <= series.observables; o += 3)
    add_series_of<packs, 3>(series, o, top, stations, s, sums + o * tile_size);
  for (; o < series.observables; ++o)
    add_series_of<packs, 1>(series, o, top, stations, s, sums + o * tile_size);
}

void add_series(const Series& series, int top, const StationTile& stations, double* sums) {
  int s = 0;
  for (; s + pack_lanes < stations.count; s += 2 * pack_lanes)
    add_series_at<2>(series, top, stations, s, sums);
  if (s < stations.count) add_series_at<1>(series, top, stations, s, sums);
}

/// The transpose of add_series_of(). sums: [together][series_count(top)], a pack for each number of the
/// series
template <int packs, int together>
void collect_series_of(const Series& at, const ServedTile& tile, int s, const double* weights,
                       std::size_t stride, Pack* sums) {
  SeriesPoint point[packs];
  Pack weight[together][packs], re[together][packs], im[together][packs];
  for (int k = 0; k < packs; ++k) {
    point[k].place(at, *tile.stations, s + k * pack_lanes);
    for (int o = 0; o < together; ++o)
      weight[o][k] = load(weights + static_cast<std::size_t>(o) * stride + s + k * pack_lanes);
  }
  const int count = series_count(at.top);
  each_harmonic<packs>(
      point, at.top, tile.top,
      [&] {
        for (int o = 0; o < together; ++o)
          for (int k = 0; k < packs; ++k) {
            re[o][k] = weight[o][k] * point[k].power[0];
            im[o][k] = -weight[o][k] * point[k].power[1];
          }
      },
      [&](int place, const Pack* p) {
        for (int o = 0; o < together; ++o) {
          Pack* const to = sums + o * count + place;
          Pack real = to[0], imaginary = to[1];
          for (int k = 0; k < packs; ++k) {
            real += re[o][k] * p[k];
            imaginary += im[o][k] * p[k];
          }
          to[0] = real;
          to[1] = imaginary;
        }
      },
      [&] {
        for (int k = 0; k < packs; ++k) point[k].next_power();
      });
}

template <int together>
void collect_series_of(const Series& at, int first, std::span<const ServedTile> tiles, std::size_t stride,
                       double* numbers) {
  Pack sums[together * series_count(most_degree)];
  const int count = together * series_count(at.top);
  std::fill_n(sums, count, Pack(0));
  for (const auto& tile : tiles) {
    const double* const weights = tile.weights + static_cast<std::size_t>(first) * stride;
    int s = 0;
    for (; s + pack_lanes < tile.stations->count; s += 2 * pack_lanes)
      collect_series_of<2, together>(at, tile, s, weights, stride, sums);
    if (s < tile.stations->count) collect_series_of<1, together>(at, tile, s, weights, stride, sums);
  }
  for (int i = 0; i < count; ++i) numbers[first * series_count(at.top) + i] = sum_of_lanes(sums[i]);
}

void collect_series(const Series& at, std::span<const ServedTile> tiles, std::size_t stride,
                    double* numbers) {
  int o = 0;
  for (; o + 3 <= at.observables; o += 3) collect_series_of<3>(at, o, tiles, stride, numbers);
  for (; o < at.observables; ++o) collect_series_of<1>(at, o, tiles, stride, numbers);
}

/// Computes found = mass · Σ factor <x^a> <y^b> <z^c> for every lane of `packs` packs, which share the loads
/// of factors.
template <int packs>
void sum_moments(const PackOfPrisms* prisms, int order, const double* factor, double* found) {
  Pack sum[packs];
  for (Pack& s : sum) s = Pack(0);
  for (int a = 0; a <= order; ++a) {
    Pack of_a[packs];
    for (Pack& s : of_a) s = Pack(0);
    for (int b = 0; a + b <= order; ++b) {
      Pack of_b[packs];
      for (Pack& s : of_b) s = Pack(0);
      for (int c = 0; a + b + c <= order; ++c) {
        const Pack f(*factor++);
        for (int i = 0; i < packs; ++i) of_b[i] += f * prisms[i].mean[2][c];
      }
      for (int i = 0; i < packs; ++i) of_a[i] += prisms[i].mean[1][b] * of_b[i];
    }
    for (int i = 0; i < packs; ++i) sum[i] += prisms[i].mean[0][a] * of_a[i];
  }
  for (int i = 0; i < packs; ++i) (prisms[i].mass * sum[i]).copy_to(found + i * pack_lanes, element_aligned);
}

void scatter(const PrismColumns& prisms, const std::uint32_t* index, std::size_t count,
             const double (&centre)[3], double scale, int order, const double* coefficients, double* values) {
  // The factors of C_abc with c ≥ 2 follow from ∂z² = −∂x² − ∂y².
  double by_c[most_order + 1][rows][rows];  // [c][m = a + b][a]
  for (int n = 0; n <= order; ++n) {
    for (int a = 0; a <= n; ++a) by_c[0][n][a] = coefficients[n * n + a];
    for (int a = 0; a < n; ++a) by_c[1][n - 1][a] = coefficients[n * n + n + 1 + a];
  }
  for (int c = 2; c <= order; ++c)
    for (int m = 0; m + c <= order; ++m)
      for (int a = 0; a <= m; ++a) by_c[c][m][a] = -(by_c[c - 2][m + 2][a + 2] + by_c[c - 2][m + 2][a]);
  double factor[(most_order + 1) * (most_order + 2) * (most_order + 3) / 6];  // factor of the mean of x^a y^b
                                                                              // z^c
  const Factorials factorials(order);
  double* to = factor;
  for (int a = 0; a <= order; ++a)
    for (int b = 0; a + b <= order; ++b)
      for (int c = 0; a + b + c <= order; ++c)
        *to++ = by_c[c][a + b][a] * factorials.inverse[a] * factorials.inverse[b] * factorials.inverse[c];
  double inverse_number[most_order + 2];
  for (int k = 1; k <= order + 1; ++k) inverse_number[k] = 1.0 / k;
  const PrismColumns unit{{prisms.low[0], prisms.low[1], prisms.low[2]},
                          {prisms.high[0], prisms.high[1], prisms.high[2]},
                          nullptr};
  PackOfPrisms waiting[packs_together];
  std::size_t begin = 0;  // index of the first prism of the packs in `waiting`
  int packs = 0;
  for (std::size_t first = 0; first < count; first += pack_lanes) {
    const FacesOfPack faces(unit, index, first, count, centre, 1 / scale);
    waiting[packs].mass = load(faces.mass);
    faces.means(order, inverse_number, waiting[packs].mean);
    if (++packs < packs_together && first + pack_lanes < count) continue;
    alignas(64) double found[packs_together * pack_lanes];
    if (packs == packs_together) sum_moments<packs_together>(waiting, order, factor, found);
    else
      for (int i = 0; i < packs; ++i) sum_moments<1>(waiting + i, order, factor, found + i * pack_lanes);
    const std::size_t end = std::min(first + pack_lanes, count);
    for (std::size_t i = begin; i < end; ++i) values[index ? index[i] : i] += found[i - begin];
    begin = end;
    packs = 0;
  }
}

constexpr ExpansionKernels kernels{evaluate, gather, move, add_series, collect_series, scatter};

}  // namespace
}  // namespace terrane::gravity::TERRANE_SIMD_TARGET
