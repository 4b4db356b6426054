// Finite differences on a uniform grid: coefficients, numerical dispersion, and the longest stable time step.
//
//   second difference   L p = Σ_r c_r (p_{+r} + p_{−r}) / h² + c_0 p / h²,   c_0 = −2 Σ c_r       r = 1 … M
//   first difference    D p = Σ_r d_r (p_{+r} − p_{−r}) / h,              d_r = r c_r / 2 with Taylor's c_r
//   staggered           D⁺p = Σ_m a_m (p_{+m} − p_{1−m}) / h,             half-way to the next node
//
// p_{+r} is the value r nodes further on the axis, h the spacing. D⁺ is the derivative half-way between nodes
// 0 and 1. Taylor coefficients have order 2M (Fornberg 1988). The optimised sets keep the error of the group
// velocity along an axis below a tolerance up to the highest possible wavenumber (the criterion of Holberg
// 1987); below the tolerance their error does not decrease with h.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/physics/acoustic/formula/equation.hpp"

namespace terrane::acoustic {

/// Kinds of coefficients. The tolerance for the error of the group velocity is 1e-3 with `optimised`, 1e-4
/// with `optimised_fine`.
enum class Coefficients { taylor, optimised, optimised_fine };
inline constexpr std::array<std::string_view, 3> coefficient_names{"taylor", "optimised", "optimised_fine"};

/// Points on each side of the widest stencil, of order 16.
inline constexpr int widest = 8;

struct Differences {
  int order = 0;
  std::vector<double> second;  ///< c_1 … c_M
  std::vector<double> first;   ///< d_1 … d_M
  std::vector<double> half;    ///< a_1 … a_M; empty if the kind has no set of this order
  /// The equation for which errors are computed: those of the operator L; with variable density those of
  /// D⁻D⁺, with a tilted axis those of D applied twice.
  Equation equation = Equation::constant_density;

  int points() const noexcept { return order / 2; }
  double centre() const;                ///< c_0
  double symbol(double kh) const;       ///< K²h² = Σ 2 c_r (1 − cos r k h): L e^{ikx} = −K² e^{ikx}
  double group_error(double kh) const;  ///< relative error of the group velocity along an axis for Δt → 0
  /// The largest |group_error()| of waves with at least this many points per wavelength.
  double worst_group_error(double points_per_wavelength) const;
  /// Fewest points per wavelength for which the group error stays below `tolerance`.
  double points_per_wavelength(double tolerance) const;
};

/// order: 2, 4 … 16; not every order has an optimised set. Throws InputError that lists the orders.
Differences differences(int order, Coefficients kind = Coefficients::taylor,
                        Equation equation = Equation::constant_density);

/// The longest stable step of the leapfrog, s: 2 / (v √(Σ S/h²)), S: maximum of symbol(). The sum is over the
/// axes that have more than one node (`there`).  fastest: v, the largest velocity, m/s
double longest_step(const Differences& differences, const std::array<double, 3>& spacing,
                    const std::array<bool, 3>& there, double fastest);

}  // namespace terrane::acoustic
