// The weights of the nodes around a receiver or source. A receiver records the weighted sum of the fields at
// these nodes; a source at the same place adds its series to them with the same weights, the transpose.
//
//   pressure               p, with an axis (2p + q)/3, interpolated by a sinc
//   velocity of particles  the integral over time (traces.hpp) of its acceleration
//
//     ρ a = −∇p                              isotropic
//     ρ a = −∇p − n (n·∇)(q − p)             with an axis n: p pushes across it, q along it
//
// Then ∇·(a across n) = −Hp/ρ and ∇·(a along n) = −Vq/ρ, the terms of the equations of p and q (H, V:
// problem.hpp); if n is uniform, this is the momentum equation of the stress p (1 − nnᵀ) + q nnᵀ
// (Duveneck & Bakker 2011). The differences D⁺ on an axis, half-way between two nodes, are interpolated by a
// sinc like pressures. First they are multiplied by the coefficient half-way: in an isotropic medium by
// b = ρ⁻¹ from the two nodes' densities, because the flux b D⁺p is continuous where ρ is not; in the term
// n (n·∇)(q − p) of a tilted axis by ρ⁻¹ and the mean of the two nodes' n_i n_k.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// The field of a node that a weight multiplies: the pressure (p or (2p + q)/3), or one of the two fields of
/// a VTI or TTI medium.
enum class Part : int { pressure, p, q };

/// The weight of one node in a source or receiver.
struct Weight {
  std::array<Index, 3> node;
  double weight;
  Part part = Part::pressure;
};

/// The weights by which a tap records the pressure, or the acceleration that is integrated over time later.
/// They are sorted by node, weights of p before weights of q. Weights of nodes beyond a free surface are
/// subtracted from those of their mirror images; nodes beyond a wall are left out.
std::vector<Weight> weights_at(const Problem& problem, const Tap& tap);
/// Computes something from the weights of each tap: make(index of the tap, its weights) on all threads, in no
/// particular order; then take(index, what make returned) for one tap after the other, in order. Some
/// thousand taps are held at a time.
template <class Make, class Take>
void each_of_weights(const Problem& problem, std::span<const Tap> taps, int threads, const Make& make,
                     const Take& take) {
  constexpr std::size_t at_a_time = 4096;
  std::vector<std::invoke_result_t<Make, std::size_t, const std::vector<Weight>&>> some;
  for (std::size_t first = 0; first < taps.size(); first += at_a_time) {
    some.resize(std::min(at_a_time, taps.size() - first));
    for_each(some.size(), threads,
             [&](std::size_t n) { some[n] = make(first + n, weights_at(problem, taps[first + n])); });
    for (std::size_t n = 0; n < some.size(); ++n) take(first + n, some[n]);
  }
}

}  // namespace terrane::acoustic
