// An elastic medium: its density and the constants of Hooke's law.
//
//   σ_p = Σ_q C_pq ε_q        p, q: xx, yy, zz, yz, xz, xy; the strains of yz, xz, xy are doubled (Voigt)
//
// σ is the stress, ε the strain, C the stiffness.
//
// Isotropic media: C from ρ, v_P and v_S. Vertical axis of symmetry (VTI): Thomsen 1986, Geophysics 51, 1954;
// tilted axis: rotation by the matrix of Bond 1943. All others: 21 constants.
#pragma once

#include <array>
#include <cmath>
#include <string>

#include "terrane/base/field.hpp"

namespace terrane::elastic {

using Stiffness = std::array<std::array<double, 6>, 6>;  ///< symmetric, Pa

/// An isotropic solid or a fluid at a point of an element: density, kg/m³, λ and μ, Pa.
using PointRock = std::array<double, 3>;

struct Medium {
  double density = 0;  ///< kg/m³
  Stiffness stiffness{};
  bool isotropic = true;                                   ///< true: stiffness follows from lambda() and mu()
  double quality_kappa = INFINITY, quality_mu = INFINITY;  ///< Q_κ, Q_μ; anisotropic media: Q of mean κ and μ
  /// The part of κ and μ that each mechanism of attenuation.hpp relaxes, Pa; if not zero, `stiffness` is the
  /// unrelaxed one.
  std::array<double, 3> taken_kappa{}, taken_mu{};
  std::string name;  ///< name of the medium for messages; may be empty

  template <class Self, class Field>
  static void fields(Self& m, Field& field) {
    field("density", m.density, carried("media"));
    field("stiffness", m.stiffness, carried("media"));
    field("isotropic", m.isotropic, carried("media"));
    field("quality_kappa", m.quality_kappa, carried("media"));
    field("quality_mu", m.quality_mu, carried("media"));
    field("taken_kappa", m.taken_kappa, carried("media"));
    field("taken_mu", m.taken_mu, carried("media"));
    field("name", m.name, kept_here());
  }

  /// An isotropic medium. Velocities in m/s, density in kg/m³.
  static Medium from_speeds(double velocity_p, double velocity_s, double density);
  static Medium from_stiffness(const Stiffness& stiffness, double density);

  /// The isotropic medium with Voigt's averages of κ and μ; all other members are copied.
  Medium mean() const;
  /// The isotropic medium with density, λ and μ of a point; all other members are copied.
  Medium with(const PointRock& rock) const;
  PointRock point() const { return {density, lambda(), mu()}; }
  /// Adds these values to κ and μ, Pa.
  void stiffen(double kappa, double mu);

  double lambda() const noexcept { return stiffness[0][1]; }
  double mu() const noexcept { return stiffness[3][3]; }
  double kappa() const noexcept { return lambda() + 2.0 / 3 * mu(); }
  /// Whether the medium is a fluid (μ = 0): it has pressure waves only, computed by a potential
  /// (problem.hpp).
  bool is_fluid() const noexcept { return isotropic && mu() == 0; }
  bool loses_energy() const noexcept { return taken_kappa[1] > 0 || taken_mu[1] > 0; }
  /// Speeds of the three plane waves that travel along a unit vector, fastest first: roots of Christoffel's
  /// equation det(C_ijkl n_j n_l − ρ v² δ_ik) = 0, m/s.
  std::array<double, 3> speeds(const std::array<double, 3>& direction) const;
  /// Speed of the fastest wave along the axes and the diagonals of faces and cubes, m/s.
  double fastest() const;
  double slowest() const;  ///< the least speed of a wave, m/s; in a fluid the speed of sound
  /// Throws InputError at `where` for impossible values, or if the stiffness is not positive definite.
  void check(const std::string& where) const;

  friend bool operator==(const Medium& a, const Medium& b) {
    return a.density == b.density && a.stiffness == b.stiffness && a.quality_kappa == b.quality_kappa &&
           a.quality_mu == b.quality_mu;
  }
};

/// Thomsen's parameters of a medium with a vertical axis of symmetry: speeds along this axis, m/s, ε, δ and
/// γ.
struct Thomsen {
  double velocity_p = 0, velocity_s = 0, epsilon = 0, delta = 0, gamma = 0;
};
/// The stiffness of a medium with a vertical axis of symmetry. Throws InputError if no real C_13 has these
/// parameters.
Stiffness vertical_axis(const Thomsen& medium, double density);
/// The stiffness after a rotation of its vertical axis of symmetry by `tilt` from the vertical towards
/// `azimuth`, which is measured from east to north; both in degrees.
Stiffness tilted(const Stiffness& stiffness, double tilt, double azimuth);

/// Eigenvalues of a symmetric n × n matrix (n ≤ 6), ascending, by Jacobi rotations.
template <std::size_t n>
std::array<double, n> eigenvalues(std::array<std::array<double, n>, n> matrix);

}  // namespace terrane::elastic
