// Elastic waves by spectral elements.
//
//   ρ ü = ∇·σ + f        σ = C : ε,  ε = ½ (∇u + ∇uᵀ)
//
// u displacement, m; ρ density, kg/m³; C Hooke's constants, Pa; f force per volume, N/m³. Multiplied by any w
// and integrated by parts
//
//   ∫ ρ w·ü = − ∫ ∇w : σ + ∫_Γ w·(σ n) + ∫ w·f
//
// A free surface, σ n = 0, needs nothing. Where waves leave (Lysmer & Kuhlemeyer 1969; Stacey 1988)
//
//   σ n = − ρ [v_P n (n·v) + v_S (v − n (n·v))]
//
// With polynomials through the points of `basis.hpp` in each direction of a brick, and quadrature at the same
// points, M ü = − K u + F with diagonal M (Patera 1984; Komatitsch & Vilotte 1998, Bulletin of the
// Seismological Society of America 88, 368). Leapfrog steps:
//
//   w⁺ = w + Δt² M⁻¹ (F − K u),   u⁺ = u + w⁺        w = Δt v, at half steps
//
// Fluids, κ⁻¹ χ̈ = ∇·(ρ⁻¹ ∇χ), have a potential in place of displacement: u = ∇χ / ρ, pressure − χ̈, and χ = 0
// at a free surface. Where they touch a solid with the normal n, outward of the solid, B = ∫ w n (Komatitsch,
// Barnes & Tromp 2000, Geophysics 65, 623):
//
//   M_f χ̈ = − K_f χ − Bᵀ u,   then M_s ü = − K_s u + F + B χ̈ with this χ̈
//
// Steps are stable for Δt < 2 / √λ, λ the largest eigenvalue of M⁻¹ K. It is not more than the largest of any
// element by itself (Fried 1972), which does not depend on how the mesh is cut among ranks.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "terrane/job/fields.hpp"
#include "terrane/physics/elastic/element/basis.hpp"
#include "terrane/physics/elastic/mesh/mesh.hpp"
#include "terrane/physics/elastic/source.hpp"

namespace terrane::elastic {

enum class Precision { single_precision, double_precision };
inline constexpr std::array<std::string_view, 2> precision_names{"single", "double"};
/// How forces of elements are added at the points that they share: in the order of elements, so that bits do
/// not depend on threads and ranks; or by atomic additions in any order (devices, one rank).
enum class Sums { fixed, fast };
inline constexpr std::array<std::string_view, 2> sums_names{"fixed", "fast"},
    dispersion_names{"kept", "removed"}, shown_names{"displacement", "velocity"};

/// A point of the earth: the element that holds it, of several the first, and ξ in that element.
struct Place {
  std::uint32_t element = 0;
  Vector xi{};
  template <class Self, class Field>
  static void fields(Self& p, Field& field) {
    field("element", p.element, derived());
    field("xi", p.xi, derived());
  }
};

/// Snapshots of the whole field at even times: at the points of the free surface, or in a volume.
struct Snapshots {
  enum class Of { nothing, surface, volume } of = Of::nothing;
  bool velocity = true;  ///< or displacement
  double interval = 0;   ///< s; settle() takes whole steps
  /// West, east, south, north, bottom, top: elements whose middles lie within.
  std::array<double, 6> box{-INFINITY, INFINITY, -INFINITY, INFINITY, -INFINITY, INFINITY};
  std::size_t every = 0;  ///< steps from one to the next, as settle() finds

  template <class Self, class Field>
  static void fields(Self& s, Field& field) {
    field("of", s.of, own_key("text", "\"surface\"", "snapshots"),
          "surface: the points under the free surface; volume: all points of elements, 1 kB per element and "
          "snapshot.");
    field("every", s.interval, number(terrane::Quantity::time, positive).must_be_given().same_bits(),
          "Time from one to the next, rounded to whole time steps.", "0.1");
    field("quantity", s.velocity, one_of(shown_names), "What they show: velocity or displacement.");
    field("box", s.box, own_key("list of 6 lengths", "none", "snapshots"),
          "West, east, south, north, bottom, top: only elements with their middles in it. A flat box is a "
          "slice.");
    field("steps", s.every, carried("snapshots"));
  }
};

/// Where sources and receivers come from ("job.toml:12: source.at"), for messages; empty: they have numbers.
struct Origins {
  std::vector<std::string> sources, receivers;
};

struct Problem {
  Mesh mesh;
  int degree = 4;
  Precision precision = Precision::single_precision;
  Sums sums = Sums::fixed;
  /// Time of the first instant, at which all is at rest, s. NaN: when the first source begins, but no later
  /// than 0.
  double begin = NAN;
  double end = 0;                  ///< s
  double step = 0;                 ///< s; 0: 0.97 of the longest stable one
  double reference_frequency = 1;  ///< frequency at which media with a Q have their given speeds, Hz
  double fading_frequency = 0;     ///< f of margin.hpp, Hz; 0: from the sources' highest frequency
  double relaxation_middle = 0;   ///< middle of the band of constant Q, Hz; 0: it ends with the sources' band
  bool records_pressure = false;  ///< receivers, all in fluids, record potential and not displacement
  bool remove_dispersion = true;  ///< the error of time steps, from sources and seismograms
  std::vector<Source> sources;
  std::vector<Vector> receivers;
  Snapshots snapshots;
  Origins origins;  ///< of this process alone

  /// Members that settle() finds.
  std::vector<Place> source_places, receiver_places;
  double stable_step = 0;            ///< s
  std::uint32_t stiffest = 0;        ///< the element that sets this limit
  double points_per_wavelength = 0;  ///< at the sources' highest frequency, of the worst element
  std::uint32_t coarsest = 0;        ///< the element with the fewest points per wavelength
  double resolved_frequency = 0;     ///< at which the worst element has five points per wavelength, Hz
  double highest_frequency = 0;      ///< of the sources, Hz

  /// All members, once: job/fields.hpp says what follows from this list.
  template <class Self, class Field>
  static void fields(Self& p, Field& field) {
    using terrane::Quantity;
    field("mesh", p.mesh, in_same_table());
    field("end", p.end, number(Quantity::time, finite).must_be_given(),
          "Last time. The run begins before the first source does, and no later than at time 0.", "2");
    field("begin", p.begin, number(Quantity::time, finite).or_open(NAN),
          "First time, when everything is at rest; by default it follows from the sources.");
    field("step", p.step, number(Quantity::time, positive).or_open(),
          "Time step; without it, 0.97 of the longest stable one.");
    field("degree", p.degree, count(least_degree, most_degree),
          "Degree of the polynomials in an element, 2 to 8; 4 is the fastest.");
    field("precision", p.precision, one_of(precision_names), "Numbers of the computation: single or double.");
    field("sums", p.sums, one_of(sums_names),
          "fixed: the same bits on any threads and ranks; fast: in any order, on a GPU by itself.");
    field("time_dispersion", p.remove_dispersion, one_of(dispersion_names),
          "The error of time steps: removed from the seismograms, or kept.");
    field("reference_frequency", p.reference_frequency, number(Quantity::frequency, positive),
          "Frequency to which the velocities of a medium with a Q (quality_p, quality_s) refer.");
    field("quantity", p.records_pressure, own_key("text", "\"displacement\"", "quantities"),
          "What receivers record: displacement, velocity, or pressure, which only fluids have (velocity_s = "
          "0).",
          "\"velocity\"");
    field("fading_frequency", p.fading_frequency, carried("frequency of margins"));
    field("relaxation_middle", p.relaxation_middle, carried("band of constant Q"));
    field("sources", p.sources, carried("sources or receivers"));
    field("receivers", p.receivers, carried("sources or receivers"));
    field("snapshots", p.snapshots, carried("snapshots"));
    field("origins", p.origins, kept_here());
    field("source_places", p.source_places, derived());
    field("receiver_places", p.receiver_places, derived());
    field("stable_step", p.stable_step, derived());
    field("stiffest", p.stiffest, derived());
    field("points_per_wavelength", p.points_per_wavelength, derived());
    field("coarsest", p.coarsest, derived());
    field("resolved_frequency", p.resolved_frequency, derived());
    field("highest_frequency", p.highest_frequency, derived());
  }

  /// Throws InputError: what check() of the mesh throws, an unstable step, a source or receiver outside,
  /// fewer than 2.5 points per wavelength, times that cannot be.
  void settle();
  /// Samples of the seismograms: the steps from `begin` to `end`.
  std::size_t steps() const;
  /// The steps that a run takes: where the error of time steps is taken out of seismograms, 32 more than it
  /// records, because the last samples need what comes after them (source.hpp).
  std::size_t steps_taken() const;
  std::size_t pictures() const { return snapshots.every == 0 ? 0 : steps() / snapshots.every; }
  std::size_t points_of_element() const;
};

/// Largest eigenvalue of M⁻¹ K of one element by itself, 1/s², by at most so many iterations: fewer give
/// less. rock: at its points, where it varies.
double largest_eigenvalue(const Basis& basis, const Hexahedron& element, const Medium& medium,
                          int iterations = 120, const PointRock* rock = nullptr);

/// The same for a pair of elements, one of a solid and one of a fluid, joined where they touch. areas: by
/// which factor their contact counts. (With S = [K_s 0; 0 0] + [B; K_f] M_f⁻¹ [Bᵀ K_f] and T = diag(M_s, K_f)
/// the steps are those of S x = λ T x, and S is at most the sum of what pairs have; a pair with several
/// contacts is divided among them.)
double largest_eigenvalue(const Basis& basis, const Mesh& mesh, std::uint32_t in_solid,
                          std::uint32_t in_fluid, double areas);

/// Finds where points lie, to 1e-6 of an element, among the elements of a bin around each: as fast for the
/// last part of a large fault as for the first. The mesh must outlive it.
class Locator {
 public:
  explicit Locator(const Mesh& mesh);
  /// Throws InputError at `what`: outside.
  Place find(const Vector& at, const std::string& what) const;
  /// Height of the mesh above a place, m; nothing where there is no mesh. Of several surfaces the highest.
  std::optional<double> top(double easting, double northing) const;

 private:
  /// A sentence for messages on which places are allowed: how far the mesh reaches, or, inside its sides, its
  /// height there.
  std::string allowed(const Vector& at) const;
  std::string coordinates(const Vector& at) const;
  /// The box around an element, wider by a tenth of it on each side: west, east, south, north, bottom, top.
  std::array<double, 6> around(std::uint32_t n) const;
  bool is_curved(std::uint32_t n) const;
  std::size_t bin(std::size_t axis, double x) const;

  const Mesh& mesh_;
  Vector low_{INFINITY, INFINITY, INFINITY}, high_{-INFINITY, -INFINITY, -INFINITY};
  std::array<double, 6> extent_;  // box around the elements, without the margin of a tenth that each has
  std::array<std::size_t, 3> bins_{1, 1, 1};
  std::vector<std::size_t> first_;       // where each bin begins in elements_
  std::vector<std::uint32_t> elements_;  // elements whose around() meets a bin, ascending
};

}  // namespace terrane::elastic
