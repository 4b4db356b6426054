// Conduction of heat in a box of rock.
//
//   C ∂T/∂t = ∇·(k ∇T) + q        T(t = 0) = T₀
//
// T is the temperature above that of the surroundings, K; C the heat capacity per volume, J/(m³ K); k the
// thermal conductivity, W/(m K); q the heat put in or produced, W/m³. The faces of the box let no heat
// through (insulated: n·∇T = 0) or are held at the temperature of the surroundings (fixed: T = 0).
//
// Scheme: finite volumes on a tensor mesh (Patankar 1980, Numerical Heat Transfer and Fluid Flow, chapter 4).
// Between the centres of neighbouring cells two half cells conduct one after the other, so the flow through
// their face is
//
//   F = G (T' − T),   G = A / (w / 2k + w' / 2k')    A: area of the face, w: widths of the cells across it
//
// which is exact where k jumps at the face, and keeps all heat. It is first order in time and second in
// space.
//
//   explicit  V C (T⁺ − T) / Δt = Σ F(T)  + V q     stable and without overshoot for Δt ≤ min V C / Σ G
//   implicit  V C (T⁺ − T) / Δt = Σ F(T⁺) + V q     stable for any Δt; a symmetric positive definite system a
//   step
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/parallel/comm/comm.hpp"

namespace terrane::heat {

enum class Boundary { insulated, fixed };
enum class Method { automatic, explicit_steps, implicit_steps };

struct Problem {
  TensorMesh mesh;
  std::vector<double> conductivity, capacity;  ///< of each cell [up, north, east]: W/(m K), J/(m³ K)
  std::vector<double> initial;                 ///< temperature at time 0 [cells], K
  std::vector<double> power;                   ///< heat put in from time 0 to power_end [cells], W
  double power_end = 0;                        ///< s
  std::vector<double> production;      ///< heat that rock produces all the time [cells], W; empty: none
  std::vector<std::size_t> receivers;  ///< cells whose temperature is kept at every step
  Boundary boundary = Boundary::insulated;
  Method method = Method::automatic;
  double end = 0;  ///< s
  double step =
      0;  ///< s; 0: explicit half of the longest stable one, at which nothing alternates; implicit end / 100
  double tolerance = 1e-12;  ///< of the implicit solver: norm of the residual over that of the right side

  /// Throws InputError: a number that cannot be, an unstable step. Chooses method and step where they are
  /// open, and shortens the step so that the end is reached in whole ones.
  void settle();
  std::size_t steps() const;
  /// The longest stable explicit step, s.
  double stable_step() const;
  double volume(std::size_t cell) const;

  void put_into(Packet& packet) const;
  static Problem from(Packet& packet);
};

/// G of the lower face of a cell on an axis (0 up, 1 north, 2 east), W/K; index may be one beyond the last
/// cell.
double conductance(const Problem& problem, int axis, std::array<std::ptrdiff_t, 3> at);

}  // namespace terrane::heat
