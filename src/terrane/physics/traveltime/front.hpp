// First arrivals of one shot: the factored eikonal equation by fast marching.
//
//   |∇T| = s      T = r τ      r = |x − x_shot|
//
// T has a cone at the shot, which differences of T do not follow; τ, the mean slowness of the way from the
// shot, is smooth there (Fomel, Luo & Zhao 2009, J. Comput. Phys. 228). At a node, with p = ∇r,
//
//   Σ_a (σ_a ∂_a T)² = s²,   σ_a ∂_a T = (σ_a p_a + r κ_a) τ − r (c₁ τ₁ − c₂ τ₂)  ≥ 0
//
// over the axes a along which the front comes, from the side −σ_a; τ₁, τ₂: the nodes behind, d₁ and d₂ away:
//
//   first order    κ = 1/d₁                c₁ = 1/d₁                  c₂ = 0
//   second order   κ = 1/d₁ + θ/d₂         c₁ = 1/d₁ + θ/(d₂ − d₁)    c₂ = θ d₁/(d₂ (d₂ − d₁))
//
// θ = 1 in smooth rock and 0 where a jump lies between the cells on both sides of the node behind
// (medium.hpp). Each cell around a node (octant) gives a time by its own slowness, along all three axes, or
// fewer where the front does not come along all; the first of them is the node's.
//
// Along an axis on which the shot lies between the node and the next one, the front comes from neither side
// before it is at the node. There (p_a τ + r ∂_a τ)² stands for that axis, with ∂_a τ as it is at the node
// behind: without it the shot would have to be at a node, and all errors were of first order.
//
// Fast marching (Sethian 1996, PNAS 93; Treister & Haber 2016, J. Comput. Phys. 324, of the factored
// equation) accepts nodes in the order of their times. Each has then one equation in nodes that were accepted
// before it, so that the derivative, and its transpose, are one pass over the nodes in this order, or
// backwards, exact to rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "terrane/physics/traveltime/medium.hpp"

namespace terrane::traveltime {

/// Arrival times at all nodes, and the stencil by which each was computed.
struct Front {
  Point shot{};
  std::vector<double> tau;           ///< mean slowness from the shot [nodes], s/m; infinite: not reached
  std::vector<std::uint32_t> order;  ///< nodes in the order in which they were accepted
  /// [nodes] bits: octant 0–2, axes 3–5, of second order 6–8, beside the shot 9–11, the axis that those look
  /// along 13–14, whether they have neighbours below and above from 16 on. Or 1 << 12, a corner of a cell of
  /// the shot: the cell's number among places(shot) in bits 0–2, the corner in 3–5.
  std::vector<std::uint32_t> stencil;
};

/// The front from a shot. order: 1 or 2, of the differences. cancelled: asked from time to time; the front is
/// incomplete where it returned true
Front march(
    const Medium& medium, const Point& shot, int order,
    const std::function<bool()>& cancelled = [] { return false; });

/// The time at a receiver, s.  Precondition: both are in rock. Infinite: no wave gets there.
double time_at(const Medium& medium, const Front& front, const Point& receiver);

/// Changes of the times of receivers with ln s.
class Derivative {
 public:
  Derivative(const Medium& medium, const Front& front) : medium_(medium), front_(front) {}
  /// change: of ln s [cells] · returns δT of each receiver
  std::vector<double> apply(std::span<const double> change, std::span<const Point> receivers) const;
  /// cells += Jᵀ w.  weights: of each receiver
  void add_transpose(std::span<const double> weights, std::span<const Point> receivers,
                     std::span<double> cells) const;

 private:
  const Medium& medium_;
  const Front& front_;
};

}  // namespace terrane::traveltime
