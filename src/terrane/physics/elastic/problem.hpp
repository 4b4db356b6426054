// Elastic waves by spectral elements.
//
//   ρ ü = ∇·σ + f        σ = C : ε,  ε = ½ (∇u + ∇uᵀ)
//
// u displacement, m; ρ density, kg/m³; σ stress, Pa; ε strain; C elastic constants, Pa; f force per volume,
// N/m³. Weak form, with any test function φ, and the outward normal n of the surface Γ:
//
//   ∫ ρ φ·ü = − ∫ ∇φ : σ + ∫_Γ φ·(σ n) + ∫ φ·f
//
// At a free surface σ n = 0, so the surface term vanishes. At absorbing sides, with the velocity v = u̇ and
// the speeds v_P and v_S of P and S waves (Lysmer & Kuhlemeyer 1969; Stacey 1988)
//
//   σ n = − ρ [v_P n (n·v) + v_S (v − n (n·v))]
//
// Interpolation by polynomials through the points of `basis.hpp` in each direction of an element, and
// quadrature at the same points, give M ü = − K u + F with a diagonal mass matrix M, the stiffness matrix K
// and the forces F of sources (Patera 1984; Komatitsch & Vilotte 1998, Bulletin of the Seismological Society
// of America 88, 368). Leapfrog steps:
//
//   w⁺ = w + Δt² M⁻¹ (F − K u),   u⁺ = u + w⁺        w = Δt v, at half steps
//
// In fluids the unknown is a potential χ, with κ⁻¹ χ̈ = ∇·(ρ⁻¹ ∇χ), κ bulk modulus: u = ∇χ / ρ, the pressure
// is − χ̈, and χ = 0 at a free surface. A fluid (index f) and a solid (s) are coupled by B = ∫ φ n over their
// contact, with the normal n pointing out of the solid (Komatitsch, Barnes & Tromp 2000, Geophysics 65, 623):
//
//   M_f χ̈ = − K_f χ − Bᵀ u,   then M_s ü = − K_s u + F + B χ̈ with this χ̈
//
// Steps are stable for Δt < 2 / √λ, λ the largest eigenvalue of M⁻¹ K. An upper bound of λ is the largest
// eigenvalue of any single element (Fried 1972). This bound does not depend on how the mesh is cut among
// ranks.
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
/// How forces of elements are summed at points that they share. fixed: in the order of elements, so that
/// results are bitwise identical on any threads and ranks; fast: by atomic additions in any order (devices,
/// one rank).
enum class Sums { fixed, fast };
inline constexpr std::array<std::string_view, 2> sums_names{"fixed", "fast"},
    dispersion_names{"kept", "removed"}, shown_names{"displacement", "velocity"};

/// A point in the mesh: the element that contains it (the first, if there are several), and its coordinates ξ
/// in that element.
struct Place {
  std::uint32_t element = 0;
  Vector xi{};
  template <class Self, class Field>
  static void fields(Self& p, Field& field) {
    field("element", p.element, derived());
    field("xi", p.xi, derived());
  }
};

/// Snapshots of the whole field at evenly spaced times: at the points of the free surface, or in a volume.
struct Snapshots {
  enum class Of { nothing, surface, volume } of = Of::nothing;
  bool velocity = true;  ///< whether snapshots show velocity; else displacement
  double interval = 0;   ///< s; settle() rounds it to whole steps
  /// West, east, south, north, bottom, top, m: elements with their middles in this box are shown.
  std::array<double, 6> box{-INFINITY, INFINITY, -INFINITY, INFINITY, -INFINITY, INFINITY};
  std::size_t every = 0;  ///< number of steps between two snapshots, set by settle()

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

/// The line and key of each source and receiver in the job ("job.toml:12: source.at"), for messages; if
/// empty, messages use numbers.
struct Origins {
  std::vector<std::string> sources, receivers;
};

struct Problem {
  Mesh mesh;
  int degree = 4;
  Precision precision = Precision::single_precision;
  Sums sums = Sums::fixed;
  /// Time of the first instant, when everything is at rest, s. NaN: when the first source begins, but not
  /// after 0.
  double begin = NAN;
  double end = 0;                  ///< s
  double step = 0;                 ///< s; 0: 0.97 of the longest stable step
  double reference_frequency = 1;  ///< frequency to which the speeds of media with a Q refer, Hz
  double fading_frequency = 0;     ///< f of margin.hpp, Hz; 0: from the sources' highest frequency
  double relaxation_middle = 0;  ///< middle of the constant-Q band, Hz; 0: the band ends at highest_frequency
  /// Whether receivers, all in fluids, record potential instead of displacement.
  bool records_pressure = false;
  bool remove_dispersion = true;  ///< whether sources and seismograms are corrected for time dispersion
  std::vector<Source> sources;
  std::vector<Vector> receivers;
  Snapshots snapshots;
  Origins origins;  ///< lines of the job, for messages; not sent to other ranks

  /// Members that settle() computes.
  std::vector<Place> source_places, receiver_places;
  double stable_step = 0;      ///< s
  std::uint32_t stiffest = 0;  ///< the element that determines stable_step
  /// Points per wavelength in the element `coarsest`, at the sources' highest frequency.
  double points_per_wavelength = 0;
  std::uint32_t coarsest = 0;     ///< the element with the fewest points per wavelength
  double resolved_frequency = 0;  ///< frequency at which `coarsest` has five points per wavelength, Hz
  double highest_frequency = 0;   ///< highest frequency of the sources, Hz

  /// Lists all members; job/fields.hpp says what the list is used for.
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

  /// Checks the problem and computes the members that follow from others. Throws what Mesh::check() throws;
  /// InputError for an unstable step, a source or receiver outside the mesh, fewer than 2.5 points per
  /// wavelength, impossible times.
  void settle();
  /// Number of samples of seismograms: of steps from `begin` to `end`.
  std::size_t steps() const;
  /// Number of steps that a run computes: if seismograms are corrected for time dispersion, 32 more than
  /// steps(), because the correction of the last samples needs later ones (source.hpp).
  std::size_t steps_taken() const;
  std::size_t pictures() const { return snapshots.every == 0 ? 0 : steps() / snapshots.every; }
  std::size_t points_of_element() const;
};

/// Largest eigenvalue of M⁻¹ K of a single element, 1/s², by at most `iterations` iterations: fewer give a
/// smaller value. rock: the medium at the element's points if it varies, else null.
double largest_eigenvalue(const Basis& basis, const Hexahedron& element, const Medium& medium,
                          int iterations = 120, const PointRock* rock = nullptr);

/// Largest eigenvalue, 1/s², of a pair of a solid and a fluid element, coupled at the face that they share.
/// areas: factor of the face's area. (B, M, K: see the head of this file. Steps have the eigenvalues of S x =
/// λ T x with S = [K_s 0; 0 0] + [B; K_f] M_f⁻¹ [Bᵀ K_f] and T = diag(M_s, K_f); S is bounded by the sum over
/// pairs, where elements with several contacts are divided among them.)
double largest_eigenvalue(const Basis& basis, const Mesh& mesh, std::uint32_t in_solid,
                          std::uint32_t in_fluid, double areas);

/// Locates points in elements, with a tolerance of 1e-6 of an element. Searches only the elements of the bin
/// that contains the point. The mesh must outlive this object.
class Locator {
 public:
  explicit Locator(const Mesh& mesh);
  /// Throws InputError at `what` if the point lies outside the mesh.
  Place find(const Vector& at, const std::string& what) const;
  /// Height of the mesh's surface at a horizontal position, m up: the highest, if there are several; none if
  /// no element lies there.
  std::optional<double> top(double easting, double northing) const;

 private:
  /// A sentence for messages about the allowed positions: the extent of the mesh, or, for a point within its
  /// sides, its height there.
  std::string allowed(const Vector& at) const;
  std::string coordinates(const Vector& at) const;
  /// The box around an element, enlarged by a tenth on each side: west, east, south, north, bottom, top.
  std::array<double, 6> around(std::uint32_t n) const;
  bool is_curved(std::uint32_t n) const;
  std::size_t bin(std::size_t axis, double x) const;

  const Mesh& mesh_;
  Vector low_{INFINITY, INFINITY, INFINITY}, high_{-INFINITY, -INFINITY, -INFINITY};
  std::array<double, 6> extent_;  // box around all elements, not enlarged
  std::array<std::size_t, 3> bins_{1, 1, 1};
  std::vector<std::size_t> first_;       // index in elements_ at which each bin begins
  std::vector<std::uint32_t> elements_;  // elements whose box around() overlaps each bin, ascending
};

}  // namespace terrane::elastic
