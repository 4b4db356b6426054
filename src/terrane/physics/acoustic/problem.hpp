// Sound in a medium.
//
//   m p_tt = Δp + f,   m = 1 / v²,   p = p_t = 0 at first
//
// With densities ρ       m/ρ p_tt = ∇·(ρ⁻¹ ∇p) + f/ρ(x_s), x_s: the source's position. Half-way
//                        between two nodes ρ is their mean (harmonic in ρ⁻¹), so interfaces lie on the
//                        faces of cells.
// With an axis of symmetry n (VTI, TTI)
//                        two fields p, q (Duveneck & Bakker 2011; Zhang, Zhang & Zhang 2011), v along
//                        the axis:
//
//   p_tt = v² [(1 + 2ε) H p + √(1 + 2δ) V q]     V = (n·∇)(n·∇) along the axis
//   q_tt = v² [√(1 + 2δ) H p + V q]              H = Δ − V across it
//
//                        the source is C (2/3, 1/3) s δ(x − x_s), receivers record (2p + q)/3, with
//                        C = v² [[1 + 2ε, √(1 + 2δ)], [√(1 + 2δ), 1]]. Where ε = δ = 0, receivers therefore
//                        record p = q, and the source is s. Stable for ε ≥ δ only.
//
// p is the pressure, Pa; v the velocity, m/s; f the source, s(t) δ(x − x_s) with s in Pa m: then far from all
// boundaries of a homogeneous medium p = s(t − r/v) / (4π r). A grid with one node across has two dimensions.
//
// Scheme: leapfrog in time, central differences of order 2M in space (formula/stencil.hpp), in place:
//
//   p⁺ = 2p − p⁻ + v²Δt² (A p + f),   A = L_up + L_north + L_east (and layers)
//   ρ:    A p = Σ D⁻(b D⁺p), b = 1/ρ half-way between nodes, D⁻ = −(D⁺)ᵀ; ρv²Δt² in place of v²Δt²
//   VTI:  V = L_up, H = L_north + L_east
//   TTI:  V = −GᵀG, G = Σ n_k D_k, H = L − V: both ≤ 0 for every n, so waves do not grow
//
// Receivers record p, or the velocity of particles: ρ v_t = −∇p; with an axis n ρ v_t = −∇p − n (n·∇)(q − p),
// which agrees with H and V: p acts across the axis, q along it (weights.hpp).
//
// Nodes are the centres of the mesh's cells. Each side of the box has one of these boundaries:
//
//   cpml          convolutional perfectly matched layer on the second-order equation (Pasalić &
//                 McGarry 2010), outside the mesh, separated from it by as many nodes as stencils read. On
//                 one axis, in this order:
//                   ψ ← b ψ + a D p        ζ ← b ζ + a (L p + D ψ)        A p gets L p + D ψ + ζ
//                   b = exp(−(d + α)Δt),  a = d (b − 1)/(d + α),  d = d₀ t^q,  α = α₀(1 − t),  0 < t ≤ 1
//                   d₀ = −(q + 1) v ln R / (2 P h),  α₀ = π f
//                 t: depth in the layer relative to its thickness P h;  P, R, the exponent q (not
//                 the field) and the frequency f (not the source): see Layers
//                 After a z-transform in time ψ = κ_i D p on axis i. Scaled by Π (1 + κ_i)⁻¹, which is 1
//                 outside the layers, this operator is symmetric: so the adjoint of a run is the same run on
//                 data reversed in time, to rounding. With variable density ψ is staggered, half-way between
//                 nodes, and D⁻ ρ⁻¹ (D⁺p + ψ) replaces L p + D ψ. With a tilted axis the layers would be
//                 unstable: therefore the axis turns to the vertical over eight nodes outside the mesh. In V,
//                 ψ and ζ are those of q, in H those of p.
//   sponge        m p_tt + m d p_t = A p + f in a layer, d = d₀ t^q,  d₀ = −(q + 1) v ln R / (P h)
//   free_surface  p = 0 on the face of the mesh, half a node beyond the last: p(−n) = −p(n − 1)
//   wall          p = 0 beyond the last node of the mesh
//
// In absorbing layers the velocity is that at the edge of the mesh; it is not an unknown of inversions.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/job/fields.hpp"
#include "terrane/parallel/arrays/index_box.hpp"
#include "terrane/physics/acoustic/formula/stencil.hpp"
#include "terrane/physics/acoustic/formula/wavelet.hpp"

namespace terrane::acoustic {

/// Number of nodes between the mesh and a cpml over which a tilted axis turns to the vertical.
inline constexpr Index turning_nodes = 8;

enum class Boundary { cpml, sponge, free_surface, wall };
inline constexpr std::array<std::string_view, 4> boundary_names{"cpml", "sponge", "free_surface", "wall"};
inline constexpr std::array<std::string_view, 4> equation_names{"constant_density", "variable_density", "vti",
                                                                "tti"};
inline constexpr int up = 0, north = 1, east = 2;  ///< indices of axes in arrays
using Place = std::array<double, 3>;               ///< easting, northing, up, m

struct Layers {
  int points = 10;           ///< P, thickness of a layer, nodes
  double reflection = 1e-8;  ///< R of a wave at normal incidence, in theory
  double power = 3;          ///< exponent q of the damping profile
  double frequency = 0;      ///< f of α₀, Hz; 0: the main frequency of the wavelet

  template <class Self, class Field>
  static void fields(Self& l, Field& field) {
    field("points", l.points, count(1, 1000), "Thickness of cpml and sponge, in cells outside the mesh.");
    field("reflection", l.reflection, number(between(0, 1)),
          "Reflection for which a cpml is designed; use 1e-12 for twenty cells.");
    field("power", l.power, number(not_negative), "Exponent of the damping profile of a layer.");
    field("frequency", l.frequency, number(Quantity::frequency, positive).or_open(),
          "Lowest significant frequency, for a cpml; by default that of the wavelet.");
  }
};

struct Shot {
  std::vector<Place> sources;  ///< sources of the shot; all send the same wavelet
  std::vector<Place> receivers;

  template <class Self, class Field>
  static void fields(Self& s, Field& field) {
    field("sources", s.sources, carried("sources or receivers"));
    field("receivers", s.receivers, carried("sources or receivers"));
  }
};

/// The quantity that a receiver records: p, Pa, or the velocity of particles along an axis, m/s.
enum class Component { pressure, velocity_east, velocity_north, velocity_up };
inline constexpr std::array<std::string_view, 4> component_names{"pressure", "velocity_east",
                                                                 "velocity_north", "velocity_up"};
/// Throws InputError that lists the names.
Component component_of(std::string_view name);
/// The axis of a velocity component.
constexpr int axis_of(Component component) { return 3 - static_cast<int>(component); }

/// One component, recorded at one position.
struct Tap {
  Place at{};
  Component component = Component::pressure;
};
std::vector<Tap> pressure_at(std::span<const Place> places);

/// The positions of the nodes. Indices are [up, north, east]; the mesh has indices 0 … nodes − 1, absorbing
/// layers have indices outside this range.
struct Grid {
  std::array<Index, 3> nodes{};
  std::array<double, 3> spacing{}, first{};  ///< m; first: coordinates of node 0

  template <class Self, class Field>
  static void fields(Self& g, Field& field) {
    field("nodes", g.nodes, carried("medium"));
    field("spacing", g.spacing, carried("medium"));
    field("first", g.first, carried("medium"));
  }
  IndexBox<3> box() const { return index_box(nodes[0], nodes[1], nodes[2]); }
  bool there(int axis) const { return nodes[static_cast<std::size_t>(axis)] > 1; }
  std::array<bool, 3> axes() const { return {there(0), there(1), there(2)}; }
  /// Distance of a position from node 0 along an axis, in units of the spacing.
  double steps(const Place& at, int axis) const {
    const auto a = static_cast<std::size_t>(axis);
    return (at[2 - a] - first[a]) / spacing[a];
  }
  /// Volume of the cell around a node, m³; in two dimensions its area, m².
  double volume() const;
};

struct Problem {
  Grid grid;
  Equation equation = Equation::constant_density;
  std::vector<double> velocity;        ///< velocity at each node, m/s; VTI, TTI: along the axis of symmetry
  std::vector<double> density;         ///< density at each node, kg/m³; only for variable_density
  std::vector<double> epsilon, delta;  ///< Thomsen's ε and δ, only for vti and tti
  std::vector<double> tilt, azimuth;   ///< direction of the axis of symmetry, only for tti, radians
  /// Boundaries [axis][below, above]; those of an axis with one node are not used.
  std::array<std::array<Boundary, 2>, 3> sides{};
  Layers layers;
  int order = 8;
  Coefficients coefficients = Coefficients::taylor;
  int radius = 4;  ///< radius of the interpolation of sources and receivers, in nodes
  Wavelet wavelet;
  double end = 0;          ///< s
  double step = 0;         ///< s; 0: 0.9 of the longest stable step
  bool exact_time = true;  ///< whether the run corrects time dispersion (time_dispersion.hpp)
  std::vector<Shot> shots;
  std::vector<Component> record{Component::pressure};  ///< components that every receiver records
  double even_density = 1000;  ///< kg/m³: uniform ρ in ρ v_t = −∇p; variable_density uses `density` instead

  /// Lists all members; job/fields.hpp says what the list is used for. The medium is sent separately, because
  /// it is too large for a packet.
  template <class Self, class Field>
  static void fields(Self& p, Field& field) {
    field("grid", p.grid, carried("medium"));
    for (auto* values : {&p.velocity, &p.density, &p.epsilon, &p.delta, &p.tilt, &p.azimuth})
      field("values of nodes", *values, apart("medium"));
    field("equation", p.equation, one_of(equation_names).formerly("rock"),
          "constant_density; variable_density, with the model's density; vti or tti, rock with an axis of "
          "symmetry. The axis is vertical (vti) or has the model's tilt and tilt_azimuth (tti), velocity_p "
          "is the velocity along it, and the model has epsilon and delta.");
    field("end", p.end, number(Quantity::time, positive).must_be_given(),
          "Length of the gathers; they begin at time 0.", "\"1 s\"");
    field("record", p.record, own_key("list of texts", "[\"pressure\"]", "record"),
          "Recorded quantities: pressure, and the particle velocities velocity_east, velocity_north and "
          "velocity_up.");
    field("density", p.even_density, number(Quantity::density, positive).written("\"1000 kg/m3\""),
          "Density from which particle velocities are computed; equation = \"variable_density\" uses the "
          "model's density instead.");
    field("step", p.step, number(Quantity::time, positive).or_open(),
          "Time step; by default 0.9 of the longest stable one.");
    field("order", p.order, count(2, 16), "Order of the differences in space: 2, 4 ... 16.");
    field("coefficients", p.coefficients, one_of(coefficient_names),
          "Coefficients of the differences in space: taylor; or optimised or optimised_fine, with which "
          "velocities are right to 1e-3 or 1e-4 for shorter waves.");
    field("interpolation", p.radius, count(2, 8),
          "Cells on each side over which a source or receiver is spread, 2 to 8.");
    field("exact_time", p.exact_time, flag(),
          "Remove the error of the time steps from the gathers; exact for traces that have decayed at their "
          "end.");
    field("sides", p.sides, carried("boundaries"));
    field("layers", p.layers, in_table("boundary"));
    field("wavelet", p.wavelet, in_table("source"));
    field("shots", p.shots, carried("sources or receivers"));
  }

  /// Checks the problem, chooses the step if none is given, and makes the end a whole number of steps.
  /// Throws InputError: an impossible number, an unstable step, too few points per wavelength, or sources and
  /// receivers outside of the mesh or on a free surface.
  void settle();
  std::size_t steps() const;  ///< samples of a trace, at times 0 … end
  double slowest() const;     ///< the least velocity, over all nodes and directions
  double fastest() const;
  double longest_step() const;
  /// Nodes per shortest wavelength: the wavelet's highest frequency at the velocity `slowest`, m/s.
  double points_per_wavelength(double slowest) const;
  double group_error(double slowest) const;  ///< relative error of the shortest wave's group velocity
  /// The wavelet, sampled at the time steps; with time dispersion applied if exact_time is set.
  std::vector<double> source_series() const;
  /// Warnings about the wavelet: the run begins or ends within it, or it is zero.
  std::vector<std::string> doubts_of_wavelet() const;

  /// Number of nodes outside the mesh on a side: the absorbing layer, and between mesh and layer enough nodes
  /// that neither stencils nor the interpolation of sources and receivers reach into the layer.
  Index margin(int axis, int side) const;
  IndexBox<3> whole() const;  ///< the mesh and its margins
  Index points() const;       ///< M of the differences that kernels compute: 2, 4, 6 or 8
  Index reach() const;        ///< nodes on each side that a step reads: M, or 2M if differences are nested
  int fields() const { return equation == Equation::vti || equation == Equation::tti ? 2 : 1; }
  bool hears_velocities() const;
  std::size_t traces(const Shot& shot) const { return record.size() * shot.receivers.size(); }
  /// The taps (a component at a position) of a shot's traces, in the order [component, receiver].
  std::vector<Tap> taps(const Shot& shot) const;
  /// The factor of s δ(x − x_s) in the equation: with variable density 1/ρ of the source's cell, else 1.
  double source_factor(const Place& place) const;
};

/// A copy of the problem without the medium's values: grid, boundaries, and the radii of stencils and
/// receivers, which determine the sizes of arrays over nodes, are kept.
Problem without_medium(const Problem& problem);

}  // namespace terrane::acoustic
