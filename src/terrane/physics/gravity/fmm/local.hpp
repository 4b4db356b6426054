// Local expansions: the field of far sources, for the stations of one box.
//
//   V(t + σ x) = (1/σ) Σ_j L_j H_j(x),   |x| ≤ 1,   j = (a, b, c),  |j| = a + b + c ≤ J
//
// V: potential; t, σ: centre and scale of the box; J: degree of the expansion; L_j: ∂^j V at t, with σ as the
// unit of length. Since V is harmonic there, c = 0 and 1 suffice, as for
// multipole expansions (tree/expansion.hpp), and the numbers are stored in the same order. H_j are the
// harmonic polynomials with ∂^j H_j = 1 at 0 and all other such derivatives 0:
//   |j| H_j = x H_(a−1,b,c) + y H_(a,b−1,c) + z ∂z H_j
//   ∂z H_(a,b,1) = H_(a,b,0),   ∂z H_(a,b,0) = −H_(a−2,b,1) − H_(a,b−2,1)
// A multipole expansion with coefficients C_k and scale s about a centre x₀ (tree/expansion.hpp) gives
//   L_j = Σ_k C_k (s/σ)^|k| D^(j+k) (1/|ξ|),   ξ = (t − x₀)/σ,   D: derivatives with respect to ξ
// Sources: Greengard & Rokhlin, J. Comput. Phys. 73 (1987) 325; the bound on its error: fmm.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "terrane/physics/gravity/tiles/tiles.hpp"
#include "terrane/physics/gravity/tree/expansion.hpp"

namespace terrane::gravity {

/// Degrees that a local expansion keeps beyond the order of the multipoles that it is computed from: one for
/// each derivative.
inline constexpr int most_added = 2;
inline constexpr int most_local_degree = most_order + most_added;

/// A multipole expansion, and the least order to use. A pack of expansions uses the order of its first, up to
/// which all have coefficients.
struct FarSource {
  Expansion expansion;
  int order;
};

/// The centre and scale of a local expansion.
struct LocalPlace {
  double centre[3];  // t, m
  double scale;      // σ, m
};

/// For transposed products: a box of stations, the factor of each number of its local expansion in Σ weight ·
/// value over its stations, and the order up to which a cluster uses these factors.
struct ServedBox {
  LocalPlace place;
  const double* factors;  // [coefficient_count(order + added) at least]
  int order;
};

struct LocalKernels {
  /// Adds the fields of all sources to local [coefficient_count(highest order + added)]. Of a source of order
  /// p the terms |k| ≤ p, |j| + |k| ≤ p + added are used. The sources are sorted, highest p first.
  void (*collect)(std::span<const FarSource> sources, int added, const LocalPlace& place, double* local);
  /// Converts the expansion up to `degree` to another centre and scale: to [coefficient_count(degree)].
  void (*shift)(const LocalPlace& from, int degree, const double* local, const LocalPlace& place, double* to);
  /// Adds V, g and, with `tensor`, Γ at every station: sums [10][tile_size], the order of Channel, G = 1.
  void (*evaluate)(const LocalPlace& place, int degree, const double* local, bool tensor,
                   const StationTile& stations, double* sums);
  // The transposes of collect, shift and evaluate, for sums of weight · value over stations. The factors of
  // L_j are stored multiplied by σ, those of C_k by s. Then a translation is its own transpose, boxes gather
  // the factors of their children as clusters gather expansions (ExpansionKernels::move), and clusters pass
  // factors to their children as boxes do (shift), with the signs of all centres changed.
  /// Transpose of collect: adds to a cluster's factors [coefficient_count(boxes' highest order)]. The boxes
  /// are sorted, highest order first; the factors of each are used up to its own order.
  void (*gather)(std::span<const ServedBox> boxes, int added, const LocalPlace& cluster, double* factors);
  /// Transpose of evaluate: adds the weights of stations to the factors [coefficient_count(degree)] of a
  /// local expansion. weights: [10][tile_size], 0 beyond the stations
  void (*weigh)(const LocalPlace& place, int degree, bool tensor, const StationTile& stations,
                const double* weights, double* factors);
};

/// The kernels for the instruction set of kernel_target(wanted).
const LocalKernels& local_kernels(std::string_view wanted = {});

}  // namespace terrane::gravity
