// The kernels of local.hpp, compiled once for each instruction set by local_<target>.cpp.
//
// `collect` is limited by flops. A pack of sources of order p needs Σ_n (2n + 1)(p + added + 1 − n)²
// multiply-adds (n = 0 .. p; added: degrees that local expansions keep beyond p), and 13 (p + 3)² / 2
// operations for the derivatives of 1/r.
#pragma once

#include <algorithm>
#include <cmath>

#include "terrane/math/pack.hpp"
#include "terrane/physics/gravity/fmm/local.hpp"
#include "terrane/physics/gravity/tree/derivatives.hpp"

namespace terrane::gravity::TERRANE_SIMD_TARGET {
namespace {

constexpr int local_rows = most_local_degree + 4;

/// One expansion that occupies a lane of a pack: multipole coefficients, or the factors of a local
/// expansion's numbers.
struct LaneOfPack {
  const double *centre, *numbers;
  double scale;
};
LaneOfPack lane_of(const FarSource& s) {
  return {s.expansion.centre, s.expansion.coefficients, s.expansion.scale};
}
LaneOfPack lane_of(const ServedBox& b) { return {b.place.centre, b.factors, b.place.scale}; }

/// A pack of expansions, or of factors of local expansions, with the scale of `place` as the unit of length.
/// c0[m][a], c1[m][a]: the numbers with index (a, m − a, 0) and (a, m − a, 1) (local.hpp).
struct SourcesOfPack {
  Pack c0[local_rows][local_rows], c1[local_rows][local_rows];
  Pack at[3];  // vector from the multipole's centre to that of the local expansion, in units of `place`

  /// Lanes beyond the last source contain a copy of it, multiplied by 0.  sign: −1 if `place` is a
  /// multipole's
  template <class Source>
  void take(std::span<const Source> sources, int order, const LocalPlace& place, double sign) {
    alignas(64) double lanes[pack_lanes], power[pack_lanes], ratio[pack_lanes];
    const double* from[pack_lanes];
    const double inverse = 1 / place.scale;
    for (int axis = 0; axis < 3; ++axis) {
      for (int l = 0; l < pack_lanes; ++l) {
        const auto e = lane_of(sources[std::min(static_cast<std::size_t>(l), sources.size() - 1)]);
        lanes[l] = sign * (place.centre[axis] - e.centre[axis]) * inverse;
      }
      at[axis] = Pack(lanes, vector_aligned);
    }
    for (int l = 0; l < pack_lanes; ++l) {
      const auto i = static_cast<std::size_t>(l);
      const auto e = lane_of(sources[std::min(i, sources.size() - 1)]);
      from[l] = e.numbers;
      ratio[l] = i < sources.size() ? e.scale * inverse : 0.0;
      power[l] = i < sources.size() ? 1.0 : 0.0;
    }
    Pack factor(power, vector_aligned);
    const Pack step(ratio, vector_aligned);
    const auto next = [&](int i) {
      for (int l = 0; l < pack_lanes; ++l) lanes[l] = from[l][i];
      return Pack(lanes, vector_aligned) * factor;
    };
    for (int n = 0; n <= order; ++n) {
      for (int a = 0; a <= n; ++a) c0[n][a] = next(n * n + a);
      for (int a = 0; a < n; ++a) c1[n - 1][a] = next(n * n + n + 1 + a);
      factor *= step;
    }
  }
};

/// Number of partial sums that are computed side by side, because each addition waits for the last one of its
/// sum.
constexpr int chains_of(int together) { return together == 1 ? 4 : together < 4 ? 3 : together < 6 ? 2 : 1; }

/// sum[k][i] += Σ_a c[a] d[a + i], with successive a in successive chains k
template <int together, int chains>
inline void correlate(Pack (&sum)[chains][together], const Pack* c, int terms, const Pack* d) {
  int a = 0;
  for (; a + chains <= terms; a += chains)
    for (int k = 0; k < chains; ++k) {
      const Pack factor = c[a + k];
      for (int i = 0; i < together; ++i) sum[k][i] += factor * d[a + k + i];
    }
  for (; a < terms; ++a) {
    const Pack factor = c[a];
    for (int i = 0; i < together; ++i) sum[0][i] += factor * d[a + i];
  }
}

/// The coefficients c0 and c1 of `s`, and the derivatives t and u that are multiplied with them.
struct RowTerms {
  const SourcesOfPack& s;
  int row, last0, last1;  // degree a + b of the row; index of the last row of c0 and of c1
  const Pack (&t)[rows][rows];
  const Pack (&u)[rows][rows];
};

/// to[first ..] += Σ_m Σ_a c[m][a] t[m + row][a + first ..]
template <int together>
inline void add_to_row(Pack* to, int first, const RowTerms& r) {
  constexpr int chains = chains_of(together);
  Pack sum[chains][together];
  for (int i = 0; i < together; ++i) {
    sum[0][i] = to[first + i];
    for (int k = 1; k < chains; ++k) sum[k][i] = Pack(0);
  }
  for (int m = 0; m <= r.last0; ++m)
    correlate<together, chains>(sum, r.s.c0[m], m + 1, r.t[m + r.row] + first);
  for (int m = 0; m <= r.last1; ++m)
    correlate<together, chains>(sum, r.s.c1[m], m + 1, r.u[m + r.row] + first);
  for (int i = 0; i < together; ++i) {
    for (int k = 1; k < chains; ++k) sum[0][i] += sum[k][i];
    to[first + i] = sum[0][i];
  }
}

/// Adds a row in pieces of up to eight sums, of nearly equal length.
inline void add_row(Pack* to, const RowTerms& r) {
  const int count = r.row + 1, pieces = (count + 7) / 8;
  for (int piece = 0, first = 0; piece < pieces; ++piece) {
    const int size = (count - first) / (pieces - piece);
    switch (size) {
      case 1:
        add_to_row<1>(to, first, r);
        break;
      case 2:
        add_to_row<2>(to, first, r);
        break;
      case 3:
        add_to_row<3>(to, first, r);
        break;
      case 4:
        add_to_row<4>(to, first, r);
        break;
      case 5:
        add_to_row<5>(to, first, r);
        break;
      case 6:
        add_to_row<6>(to, first, r);
        break;
      case 7:
        add_to_row<7>(to, first, r);
        break;
      default:
        add_to_row<8>(to, first, r);
    }
    first += size;
  }
}

/// Sums in packs for the numbers of an expansion, with index (a, m − a, 0) in s0[m][a] and (a, m − a, 1) in
/// s1[m][a].
struct SumsOfPack {
  Pack s0[local_rows][local_rows], s1[local_rows][local_rows];

  explicit SumsOfPack(int degree) {
    for (int m = 0; m <= degree; ++m) {
      std::fill_n(s0[m], m + 1, Pack(0));
      std::fill_n(s1[m], m + 1, Pack(0));
    }
  }
  void add_to(double* numbers, int degree) const {
    for (int n = 0; n <= degree; ++n) {
      for (int a = 0; a <= n; ++a) numbers[n * n + a] += sum_of_lanes(s0[n][a]);
      for (int a = 0; a < n; ++a) numbers[n * n + n + 1 + a] += sum_of_lanes(s1[n - 1][a]);
    }
  }
};

void collect(std::span<const FarSource> sources, int added, const LocalPlace& place, double* local) {
  if (sources.empty()) return;
  const int degree = sources.front().order + added;
  SumsOfPack l(degree);
  SourcesOfPack s;
  Derivatives d;
  for (std::size_t first = 0; first < sources.size(); first += pack_lanes) {
    const int p = sources[first].order, top = p + added;
    s.take(sources.subspan(first, std::min<std::size_t>(pack_lanes, sources.size() - first)), p, place, 1);
    d.fill(top, s.at[0], s.at[1], s.at[2]);
    for (int m = 0; m <= top; ++m) {
      // c0[k] has degree k, c1[k] degree k + 1: at most p, and at most `top` when added to that of the row.
      add_row(l.s0[m], {s, m, std::min(p, top - m), std::min(p - 1, top - m - 1), d.t0, d.t1});
      if (m < top)
        add_row(l.s1[m], {s, m, std::min(p, top - m - 1), std::min(p - 1, top - m - 2), d.t1, d.t2});
    }
  }
  l.add_to(local, degree);
}

/// Number of boxes, from the first on, that form a pack: those of the same order, at most one per lane.
std::size_t pack_of(std::span<const ServedBox> boxes) {
  std::size_t count = 1;
  while (count < pack_lanes && count < boxes.size() && boxes[count].order == boxes[0].order) ++count;
  return count;
}

/// The sums of collect(), with L and C exchanged.
void gather_boxes(std::span<const ServedBox> boxes, int added, const LocalPlace& cluster, double* factors) {
  if (boxes.empty()) return;
  const int order = boxes.front().order;
  SumsOfPack c(order);
  SourcesOfPack s;
  Derivatives d;
  while (!boxes.empty()) {
    const int p = boxes.front().order, top = p + added;
    const std::size_t count = pack_of(boxes);
    s.take(boxes.first(count), top, cluster, -1);
    d.fill(top, s.at[0], s.at[1], s.at[2]);
    for (int m = 0; m <= p; ++m) {
      add_row(c.s0[m], {s, m, top - m, top - m - 1, d.t0, d.t1});
      if (m < p) add_row(c.s1[m], {s, m, top - m - 1, top - m - 2, d.t1, d.t2});
    }
    boxes = boxes.subspan(count);
  }
  c.add_to(factors, order);
}

// ---- shift to another centre and scale ----

/// A local expansion: c0[m][a], c1[m][a] are its numbers with index (a, m − a, 0) and (a, m − a, 1).
struct LocalRows {
  double c0[local_rows][local_rows], c1[local_rows][local_rows];

  /// Reads an expansion and converts its units.  ratio: new scale over old; factor: multiplies degree 0
  void take(int degree, const double* local, double ratio, double factor) {
    for (int n = 0; n <= degree; ++n) {
      for (int a = 0; a <= n; ++a) c0[n][a] = factor * local[n * n + a];
      for (int a = 0; a < n; ++a) c1[n - 1][a] = factor * local[n * n + n + 1 + a];
      factor *= ratio;
    }
  }
  void give(int degree, double* local) const {
    for (int n = 0; n <= degree; ++n) {
      for (int a = 0; a <= n; ++a) local[n * n + a] = c0[n][a];
      for (int a = 0; a < n; ++a) local[n * n + n + 1 + a] = c1[n - 1][a];
    }
  }
};

/// Replaces in place: row[m][a] = Σ_i w_i row[m + i][a + step · i], step: 1 along x and 0 along y. The loop
/// goes from the lowest degree up, so that the numbers read are not yet changed.
void shift_along(double (&row)[local_rows][local_rows], int top, const double* w, int step) {
  for (int m = 0; m <= top; ++m) {
    double* const to = row[m];
    for (int i = 1; m + i <= top; ++i) {
      const double* const from = row[m + i] + step * i;
      for (int a = 0; a <= m; ++a) to[a] += w[i] * from[a];
    }
  }
}

/// Applies ∂z² = −∂x² − ∂y² in place, from the lowest degree up; the last two degrees become 0.
void apply_second_derivative(double (&row)[local_rows][local_rows], int top) {
  for (int m = 0; m <= top; ++m)
    for (int a = 0; a <= m; ++a) row[m][a] = m + 2 <= top ? -(row[m + 2][a + 2] + row[m + 2][a]) : 0.0;
}

/// L′ = exp(d · ∂) L, one axis after the other; d: from the old centre to the new, in the new scale.
void shift(const LocalPlace& from, int degree, const double* local, const LocalPlace& place, double* to) {
  const double ratio = place.scale / from.scale;
  LocalRows old, next;
  old.take(degree, local, ratio, ratio);
  double e[3][local_rows];
  for (int axis = 0; axis < 3; ++axis) {
    const double d = (place.centre[axis] - from.centre[axis]) / place.scale;
    e[axis][0] = 1;
    for (int j = 1; j <= degree + 1; ++j) e[axis][j] = e[axis][j - 1] * d / j;
  }
  for (int axis = 0; axis < 2; ++axis) {
    shift_along(old.c0, degree, e[axis], 1 - axis);
    shift_along(old.c1, degree - 1, e[axis], 1 - axis);
  }
  // Along z with K = ∂z²: exp = Σ e_2i K^i + ∂z Σ e_(2i+1) K^i, ∂z (c0, c1) = (c1, K c0).
  for (int m = 0; m <= degree; ++m) {
    std::copy_n(old.c0[m], m + 1, next.c0[m]);
    if (m < degree) std::copy_n(old.c1[m], m + 1, next.c1[m]);
  }
  for (int i = 0; 2 * i <= degree; ++i) {
    const int left = degree - 2 * i;  // the highest degree of the polynomial K^i c0
    if (i > 0) {
      for (int m = 0; m <= left; ++m)
        for (int a = 0; a <= m; ++a) next.c0[m][a] += e[2][2 * i] * old.c0[m][a];
      for (int m = 0; m < left; ++m)
        for (int a = 0; a <= m; ++a) next.c1[m][a] += e[2][2 * i] * old.c1[m][a];
    }
    for (int m = 0; m < left; ++m)
      for (int a = 0; a <= m; ++a) next.c0[m][a] += e[2][2 * i + 1] * old.c1[m][a];
    apply_second_derivative(old.c0, left);
    apply_second_derivative(old.c1, left - 1);
    for (int m = 0; m + 2 <= left; ++m)
      for (int a = 0; a <= m; ++a) next.c1[m][a] += e[2][2 * i + 1] * old.c0[m][a];
  }
  next.give(degree, to);
}

// ---- at stations ----

/// H_j of a pack of stations: h0[m][a], h1[m][a] with m = a + b.
struct Polynomials {
  Pack h0[local_rows][local_rows], h1[local_rows][local_rows];

  void fill(int degree, const Pack& x, const Pack& y, const Pack& z) {
    h0[0][0] = Pack(1);
    h1[0][0] = z;
    for (int n = 1; n <= degree; ++n) {
      const double inverse = 1.0 / n;
      const Pack ux = x * Pack(inverse), uy = y * Pack(inverse), uz = z * Pack(inverse);
      for (int a = 0; a <= n; ++a) {
        Pack sum(0);
        if (a > 0) sum = ux * h0[n - 1][a - 1];
        if (a < n) sum += uy * h0[n - 1][a];
        if (a > 1) sum -= uz * h1[n - 2][a - 2];
        if (a < n - 1) sum -= uz * h1[n - 2][a];
        h0[n][a] = sum;
      }
      if (n == 1) continue;
      for (int a = 0; a < n; ++a) {  // the functions h1 of degree n, for which a + b = n − 1
        Pack sum = uz * h0[n - 1][a];
        if (a > 0) sum += ux * h1[n - 2][a - 1];
        if (a < n - 1) sum += uy * h1[n - 2][a];
        h1[n - 1][a] = sum;
      }
    }
  }
};

/// The numbers of a local expansion with c = 0, 1, 2 and zeros beyond its degree.
struct LocalTable {
  double l[3][local_rows][local_rows] = {};

  LocalTable(int degree, const double* local) {
    for (int n = 0; n <= degree; ++n) {
      for (int a = 0; a <= n; ++a) l[0][n][a] = local[n * n + a];
      for (int a = 0; a < n; ++a) l[1][n - 1][a] = local[n * n + n + 1 + a];
    }
    for (int m = 0; m + 2 <= degree; ++m)
      for (int a = 0; a <= m; ++a) l[2][m][a] = -(l[0][m + 2][a + 2] + l[0][m + 2][a]);
  }
};

/// Adds the terms of H_j, j = (a, m − a, c), of one row to the sums of V, g and Γ; c is 0 or 1.
template <bool tensor>
inline void add_polynomials(const LocalTable& t, int c, int m, const Pack* h, Pack (&sum)[9]) {
  for (int a = 0; a <= m; ++a) {
    const Pack p = h[a];
    sum[0] += p * Pack(t.l[c][m][a]);
    sum[1] += p * Pack(t.l[c][m + 1][a + 1]);
    sum[2] += p * Pack(t.l[c][m + 1][a]);
    sum[3] += p * Pack(t.l[c + 1][m][a]);
    if constexpr (tensor) {
      sum[4] += p * Pack(t.l[c][m + 2][a + 2]);
      sum[5] += p * Pack(t.l[c][m + 2][a]);
      sum[6] += p * Pack(t.l[c][m + 2][a + 1]);
      sum[7] += p * Pack(t.l[c + 1][m + 1][a + 1]);
      sum[8] += p * Pack(t.l[c + 1][m + 1][a]);
    }
  }
}

template <bool tensor>
void evaluate_local_pack(const LocalPlace& place, int degree, const LocalTable& t,
                         const StationTile& stations, int s, double* sums) {
  const Pack inverse(1 / place.scale);
  const Pack x = (load(stations.x + s) - Pack(place.centre[0])) * inverse,
             y = (load(stations.y + s) - Pack(place.centre[1])) * inverse,
             z = (load(stations.z + s) - Pack(place.centre[2])) * inverse;
  Polynomials h;
  h.fill(degree, x, y, z);
  Pack sum[9];
  std::fill_n(sum, 9, Pack(0));
  for (int m = 0; m <= degree; ++m) {
    add_polynomials<tensor>(t, 0, m, h.h0[m], sum);
    if (m < degree) add_polynomials<tensor>(t, 1, m, h.h1[m], sum);
  }
  const auto add = [&](int channel, const Pack& value) {
    double* at = sums + channel * tile_size + s;
    (load(at) + value).copy_to(at, element_aligned);
  };
  const Pack inverse2 = inverse * inverse, inverse3 = inverse2 * inverse;
  add(0, inverse * sum[0]);
  for (int i = 1; i < 4; ++i) add(i, inverse2 * sum[i]);
  if constexpr (tensor) {
    add(4, inverse3 * sum[4]);
    add(5, inverse3 * sum[5]);
    add(6, -inverse3 * (sum[4] + sum[5]));
    for (int i = 6; i < 9; ++i) add(i + 1, inverse3 * sum[i]);
  }
}

void evaluate_local(const LocalPlace& place, int degree, const double* local, bool tensor,
                    const StationTile& stations, double* sums) {
  const LocalTable table(degree, local);
  for (int s = 0; s < stations.count; s += pack_lanes) {
    if (tensor) evaluate_local_pack<true>(place, degree, table, stations, s, sums);
    else evaluate_local_pack<false>(place, degree, table, stations, s, sums);
  }
}

/// The transpose of add_polynomials: adds to the factors of l[c][m][a], for a pack of weighted stations.
template <bool tensor>
inline void weigh_polynomials(Pack (&l)[3][local_rows][local_rows], int c, int m, const Pack* h,
                              const Pack (&w)[9]) {
  for (int a = 0; a <= m; ++a) {
    const Pack p = h[a];
    l[c][m][a] += p * w[0];
    l[c][m + 1][a + 1] += p * w[1];
    l[c][m + 1][a] += p * w[2];
    l[c + 1][m][a] += p * w[3];
    if constexpr (tensor) {
      l[c][m + 2][a + 2] += p * w[4];
      l[c][m + 2][a] += p * w[5];
      l[c][m + 2][a + 1] += p * w[6];
      l[c + 1][m + 1][a + 1] += p * w[7];
      l[c + 1][m + 1][a] += p * w[8];
    }
  }
}

template <bool tensor>
void weigh_local(const LocalPlace& place, int degree, const StationTile& stations, const double* weights,
                 double* factors) {
  Pack l[3][local_rows][local_rows];
  for (auto& of_c : l)
    for (int m = 0; m <= degree + 2; ++m) std::fill_n(of_c[m], m + 1, Pack(0));
  const Pack inverse(1 / place.scale), inverse2 = inverse * inverse;
  Polynomials h;
  for (int s = 0; s < stations.count; s += pack_lanes) {
    const Pack x = (load(stations.x + s) - Pack(place.centre[0])) * inverse,
               y = (load(stations.y + s) - Pack(place.centre[1])) * inverse,
               z = (load(stations.z + s) - Pack(place.centre[2])) * inverse;
    h.fill(degree, x, y, z);
    const auto of = [&](int channel) { return load(weights + channel * tile_size + s); };
    Pack w[9] = {of(0), inverse * of(1), inverse * of(2), inverse * of(3)};
    if constexpr (tensor) {
      w[4] = inverse2 * (of(4) - of(6));
      w[5] = inverse2 * (of(5) - of(6));
      for (int i = 6; i < 9; ++i) w[i] = inverse2 * of(i + 1);
    }
    for (int m = 0; m <= degree; ++m) {
      weigh_polynomials<tensor>(l, 0, m, h.h0[m], w);
      if (m < degree) weigh_polynomials<tensor>(l, 1, m, h.h1[m], w);
    }
  }
  for (int m = 0; m + 2 <= degree; ++m)
    for (int a = 0; a <= m; ++a) {
      l[0][m + 2][a + 2] -= l[2][m][a];
      l[0][m + 2][a] -= l[2][m][a];
    }
  for (int n = 0; n <= degree; ++n) {
    for (int a = 0; a <= n; ++a) factors[n * n + a] += sum_of_lanes(l[0][n][a]);
    for (int a = 0; a < n; ++a) factors[n * n + n + 1 + a] += sum_of_lanes(l[1][n - 1][a]);
  }
}

void weigh(const LocalPlace& place, int degree, bool tensor, const StationTile& stations,
           const double* weights, double* factors) {
  if (tensor) weigh_local<true>(place, degree, stations, weights, factors);
  else weigh_local<false>(place, degree, stations, weights, factors);
}

constexpr LocalKernels local_kernels_here{collect, shift, evaluate_local, gather_boxes, weigh};

}  // namespace
}  // namespace terrane::gravity::TERRANE_SIMD_TARGET
