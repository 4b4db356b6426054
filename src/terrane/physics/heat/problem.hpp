// Conduction of heat in a box of rock.
//
//   C ∂T/∂t = ∇·(k ∇T) + q        T(t = 0) = T₀
//
// T is the temperature above that of the surroundings, K; C the heat capacity per volume, J/(m³ K); k the
// thermal conductivity, W/(m K); q the heat added by a source or produced by rock, W/m³. The faces of the box
// are insulated (n·∇T = 0), or fixed at the temperature of the surroundings (T = 0).
//
// Scheme: finite volumes on a tensor mesh (Patankar 1980, Numerical Heat Transfer and Fluid Flow, chapter 4).
// Between the centres of neighbouring cells, two half cells conduct in series, so the heat flow through their
// face is
//
//   F = G (T' − T),   G = A / (w / 2k + w' / 2k')    A: area of the face, w: widths of the cells across it
//
// which is exact if k jumps at the face, and conserves heat. The scheme is first order in time and second in
// space.
//
//   explicit  V C (T⁺ − T) / Δt = Σ F(T)  + V q     stable and without overshoot for Δt ≤ min V C / Σ G
//   implicit  V C (T⁺ − T) / Δt = Σ F(T⁺) + V q     stable for any Δt; each step solves a symmetric positive
//                                                   definite system
//
// T⁺ is the temperature after the step, V the volume of the cell; Σ sums over the faces of the cell.
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
  std::vector<double> conductivity, capacity;  ///< W/(m K) and J/(m³ K), [up, north, east]
  std::vector<double> initial;                 ///< temperature at time 0 [cells], K
  std::vector<double> power;                   ///< power of the source from time 0 to power_end [cells], W
  std::vector<double> production;      ///< heat production of rock, at all times [cells], W; empty: none
  double power_end = 0;                ///< s
  std::vector<std::size_t> receivers;  ///< cells whose temperature is recorded after every step (places.hpp)
  double end = 0;                      ///< s
  /// s; 0: automatic. An explicit step is then half of the longest stable step, so that no mode changes sign
  /// from step to step; an implicit step is end / 100.
  double step = 0;
  Method method = Method::automatic;
  Boundary boundary = Boundary::insulated;
  double tolerance = 1e-12;

  /// Lists all members; job/fields.hpp says what the list is used for.
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
    field("tolerance", p.tolerance, number(Allowed{1e-14, 1e-2}),
          "Of the implicit solver: residual over right-hand side.");
  }

  /// Throws InputError: an impossible value, an unstable step. Chooses method and step if they are not given,
  /// and shortens the step so that the end is a whole number of steps.
  void settle();
  std::size_t steps() const;
  /// The longest stable explicit step, s.
  double stable_step() const;
  double volume(std::size_t cell) const;
};

/// The conductance G (head of this file), W/K, of the lower face of a cell along an axis (0 up, 1 north, 2
/// east). at: indices of the cell [up, north, east]; one beyond the last cell for the uppermost face.
double conductance(const Problem& problem, int axis, std::array<std::ptrdiff_t, 3> at);

}  // namespace terrane::heat
