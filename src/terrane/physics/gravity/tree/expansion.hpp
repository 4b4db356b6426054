// Multipole expansions of clusters of prisms, and the kernels that compute, translate and evaluate them.
//
//   V(x) = (1/s) Σ_k C_k D^k (1/|ξ|),   ξ = (x − x₀)/s,   k = (a, b, c),  |k| = a + b + c ≤ P
//   C_k  = (−1)^|k| / k! · ∫ ρ η^k dv,  η = (y − x₀)/s
//
// V: potential for G = 1 at the station x; x₀, s: centre and scale of the cluster; P: order of the expansion;
// ρ: density at the point y of the prisms; D: derivatives with respect to ξ; k! = a! b! c!.
//
// Since 1/r is harmonic, ∂z² = −∂x² − ∂y²: every C_k with c ≥ 2 is folded into those with c = 0 and 1, which
// leaves (P + 1)² numbers. They are stored by degree, n² + a for (a, n − a, 0) and n² + n + 1 + a for
// (a, n − 1 − a, 1), so that the first (p + 1)² of them are the expansion of order p < P.
// Sources: Duan & Krasny, J. Comput. Chem. 22 (2001) 184 (derivatives of 1/r by recurrence); Applequist, J.
// Phys. A 22 (1989) 4303 (traceless Cartesian tensors); the error bound: docs/theory/fast.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "terrane/physics/gravity/tiles/tiles.hpp"
#include "terrane/physics/gravity/tree/order.hpp"

namespace terrane::gravity {

inline constexpr int most_degree = most_order + 2;  ///< highest degree of a series in harmonics

/// Numbers in an expansion of order p.
constexpr int coefficient_count(int p) { return (p + 1) * (p + 1); }

/// The centre, scale and coefficients of an expansion.
struct Expansion {
  double centre[3];            // m
  double scale;                // s, m
  const double* coefficients;  // [coefficient_count(order)]
};

/// Numbers of a series in harmonics (harmonic_series.hpp).
constexpr int series_count(int top) { return (top + 1) * (top + 2); }

/// Series of several observables about one centre.
struct Series {
  double centre[3], scale;  // m
  int top;                  // highest degree of the series
  int observables;
  const double* numbers;  // [observables][series_count(top)]
};

/// Stations at which a cluster's series is evaluated up to degree `top`, and weights [observables][stride] of
/// the first `count` stations, padded with zeros to a whole number of packs.
struct ServedTile {
  const StationTile* stations;
  int top;
  const double* weights;
};

/// The columns of all prisms, of which an expansion uses some by index.
struct PrismColumns {
  const double *low[3], *high[3], *density;  // m, kg/m³
};

struct ExpansionKernels {
  /// Adds V, g and, with `tensor`, Γ of the first `order` degrees at every station: sums [10][tile_size], the
  /// order of Channel, G = 1.
  void (*evaluate)(const Expansion&, int order, bool tensor, const StationTile&, double* sums);
  /// Adds the prisms index[0 .. count − 1], or the first `count` if index is null, to coefficients
  /// [coefficient_count(order)] about the centre. Adds to radial [order / 2 + 2], for i = 0, 1, …, bounds of
  /// the absolute moments Σ |m| |η|^(2i) of their masses m: |η|^(2i) is the mean over the corners of a prism,
  /// which is not less than the mean over its volume. coefficients or radial may be null.
  void (*gather)(const PrismColumns&, const std::uint32_t* index, std::size_t count,
                 const double (&centre)[3], double scale, int order, double* coefficients, double* radial);
  /// Adds an expansion, translated to another centre and scale.
  void (*move)(const Expansion& from, const double (&centre)[3], double scale, int order,
               double* coefficients);
  /// Adds every observable's series up to degree `top` at every station: sums [observables][tile_size].
  void (*add_series)(const Series&, int top, const StationTile&, double* sums);
  /// The transpose of add_series, for several tiles. Writes to `numbers` [observables][series_count(top)] the
  /// factor of each number of the series in Σ weight · (observable at station).  at: gives centre, scale and
  /// degree of the series; the pointer at.numbers is not used
  void (*collect_series)(const Series& at, std::span<const ServedTile>, std::size_t stride, double* numbers);
  /// The transpose of `gather`: adds Σ_k coefficients_k C_k of the i-th prism, for unit density, to
  /// values[index[i]], or to values[i] if index is null.
  void (*scatter)(const PrismColumns&, const std::uint32_t* index, std::size_t count,
                  const double (&centre)[3], double scale, int order, const double* coefficients,
                  double* values);
};

/// The kernels for the instruction set of kernel_target(wanted).
const ExpansionKernels& expansion_kernels(std::string_view wanted = {});

}  // namespace terrane::gravity
