// First arrivals of one shot: the factored eikonal equation by fast marching.
//
//   |∇T| = s      T = r τ      r = |x − x_shot|      T: arrival time, s: slowness of the rock at x
//
// T has a conical singularity at the shot, which finite differences of T do not resolve; τ, the mean slowness
// between the shot and a point, is smooth there (Fomel, Luo & Zhao 2009, J. Comput. Phys. 228). At a node,
// with p = ∇r,
//
//   Σ_a (σ_a ∂_a T)² = s²,   σ_a ∂_a T = (σ_a p_a + r κ_a) τ − r (c₁ τ₁ − c₂ τ₂)  ≥ 0
//
// summed over the axes a along which the front arrives. σ_a = ±1 is the direction in which it travels along
// axis a; τ₁, τ₂ are values at the two upwind nodes, at distances d₁ and d₂ from the node:
//
//   first order    κ = 1/d₁                c₁ = 1/d₁                  c₂ = 0
//   second order   κ = 1/d₁ + θ/d₂         c₁ = 1/d₁ + θ/(d₂ − d₁)    c₂ = θ d₁/(d₂ (d₂ − d₁))
//
// θ = 1 in smooth rock, and 0 if velocity jumps between the cells on both sides of the first upwind node
// (medium.hpp). Each cell around a node (octant) yields a time from its own slowness, with the axes along
// which the front arrives; the earliest of these is the node's time.
//
// On an axis on which the shot lies between the node and its neighbour ("beside the node"), the front may
// reach the node before both neighbours. Such an axis contributes (p_a τ + r ∂_a τ)², with ∂_a τ taken at the
// upwind node of another axis; without this term the shot would have to be at a node, and all errors would be
// of first order.
//
// Fast marching (Sethian 1996, PNAS 93; Treister & Haber 2016, J. Comput. Phys. 324, for the factored
// equation) accepts nodes in the order of their times. The equation of each node then contains only nodes
// accepted before it, so the derivative needs one pass over the nodes in this order, and its transpose one
// pass in reverse order; both are exact to rounding error.
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
  std::vector<double> tau;  ///< [nodes] mean slowness between shot and node, s/m; infinite: not reached
  std::vector<std::uint32_t> order;  ///< nodes in the order in which they were accepted
  /// [nodes] How each node's time was computed, as bits. 0–2: octant; 3–5: axes along which the front
  /// arrives; 6–8: those of second order; 9–11: axes on which the shot lies beside the node; 13–14: the axis
  /// of the upwind node at which ∂_a τ is taken for the axes of bits 9–11; from 16 on, two bits per axis:
  /// whether that node's neighbours below and above are used. Bit 12 marks a corner of a cell that contains
  /// the shot: then 0–2 are the cell's index in places(shot), 3–5 the corner.
  std::vector<std::uint32_t> stencil;
};

/// The front from a shot. order: of the finite differences, 1 or 2. cancelled: is called from time to time;
/// if it returns true, the front remains incomplete.
Front march(
    const Medium& medium, const Point& shot, int order,
    const std::function<bool()>& cancelled = [] { return false; });

/// The time at a receiver, s; infinite if no wave reaches it. Precondition: shot and receiver are in rock.
double time_at(const Medium& medium, const Front& front, const Point& receiver);

/// Derivatives of the times at receivers with respect to ln s.
class Derivative {
 public:
  Derivative(const Medium& medium, const Front& front) : medium_(medium), front_(front) {}
  /// change: δ ln s of each cell · returns δT for each receiver
  std::vector<double> apply(std::span<const double> change, std::span<const Point> receivers) const;
  /// cells += Jᵀ w.  weights: w, one number for each receiver
  void add_transpose(std::span<const double> weights, std::span<const Point> receivers,
                     std::span<double> cells) const;

 private:
  const Medium& medium_;
  const Front& front_;
};

}  // namespace terrane::traveltime
