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

#include "terrane/job/fields.hpp"
#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane::heat {

enum class Boundary { insulated, fixed };
inline constexpr std::array<std::string_view, 2> boundary_names{"insulated", "fixed"};
enum class Method { automatic, explicit_steps, implicit_steps };
inline constexpr std::array<std::string_view, 3> method_names{"auto", "explicit", "implicit"};

struct Problem {
  TensorMesh mesh;
  std::vector<double> conductivity, capacity;  ///< of each cell [up, north, east]: W/(m K), J/(m³ K)
  std::vector<double> initial;                 ///< temperature at time 0 [cells], K
  std::vector<double> power;                   ///< heat put in from time 0 to power_end [cells], W
  std::vector<double> production;      ///< heat that rock produces all the time [cells], W; empty: none
  double power_end = 0;                ///< s
  std::vector<std::size_t> receivers;  ///< cells whose temperature is recorded at every step (places.hpp)
  double end = 0;                      ///< s
  double step =
      0;  ///< s; 0: explicit half of the longest stable one, at which nothing alternates; implicit end / 100
  Method method = Method::automatic;
  Boundary boundary = Boundary::insulated;
  double tolerance = 1e-12;

  /// All members, once: job/fields.hpp says what follows from this list.
  template <class Self, class Field>
  static void fields(Self& p, Field& field) {
    field("mesh", p.mesh, carried("cells"));
    field("conductivity", p.conductivity, carried("cells"));
    field("capacity", p.capacity, carried("cells"));
    field("initial", p.initial, carried("temperatures, sources or receivers"));
    field("power", p.power, carried("temperatures, sources or receivers"));
    field("production", p.production, carried("temperatures, sources or receivers"));
    field("power_end", p.power_end, carried("temperatures, sources or receivers"));
    field("receivers", p.receivers, carried("temperatures, sources or receivers"));
    field("end", p.end, number(Quantity::time, positive).must_be_given(),
          "How long to compute; it begins at time 0.", "\"100 ka\"");
    field("step", p.step, number(Quantity::time, positive).or_open(),
          "Time step; without it, half of the longest stable one, or end / 100 where it is implicit.");
    field("method", p.method, one_of(method_names),
          "explicit, implicit (any step is stable; a system is solved), or auto.");
    field("boundary", p.boundary, one_of(boundary_names),
          "Faces of the box: insulated, or fixed at the surroundings' temperature.");
    field("tolerance", p.tolerance, number(between(0, 1)),
          "Of the implicit solver: residual over right-hand side.");
  }

  /// Throws InputError: a number that cannot be, an unstable step. Chooses method and step where they are
  /// open, and shortens the step so that the end is reached in whole ones.
  void settle();
  std::size_t steps() const;
  /// The longest stable explicit step, s.
  double stable_step() const;
  double volume(std::size_t cell) const;
};

/// G of the lower face of a cell on an axis (0 up, 1 north, 2 east), W/K; index may be one beyond the last
/// cell.
double conductance(const Problem& problem, int axis, std::array<std::ptrdiff_t, 3> at);

}  // namespace terrane::heat
