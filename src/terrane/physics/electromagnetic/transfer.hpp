// Magnetotellurics: transfer functions of the earth, from the fields of plane waves of two polarisations.
//
//   E = Z H (horizontal),   H_u = T_e H_e + T_n H_n
//
// with columns of E and H for the polarisations, Z = E H⁻¹ and T = H_u H⁻¹: they do not depend on how strong
// the waves are. Time e^{+iωt}: over a half space Z_en = −Z, Z_ne = Z = √(iωμ₀/σ), phases −135° and 45°. In
// the frame of magnetotellurics (x north, y east, z down) Z_xy = Z_ne, Z_yx = Z_en, T_x = −T_n, T_y = −T_e.
#pragma once

#include <utility>

#include "terrane/data/dataset.hpp"
#include "terrane/physics/electromagnetic/forward.hpp"

namespace terrane::electromagnetic {

struct TransferFunction {
  std::array<std::complex<double>, 4> z{};       ///< ohm: ee, en, ne, nn
  std::array<std::complex<double>, 2> tipper{};  ///< T_e, T_n

  /// ρ_a = |Z|²/(ωμ₀) ohm m, and the phase of Z in degrees.
  double apparent_resistivity(std::size_t element, double hertz) const;
  double phase(std::size_t element) const;
  /// Φ = X⁻¹Y, Z = X + iY (Caldwell, Bibby & Brown 2004): ee, en, ne, nn. Galvanic distortion does not change
  /// it.
  std::array<double, 4> phase_tensor() const;
};

/// The numbers of a transfer function: z_ee, z_en, z_ne, z_nn, tipper_e, tipper_n.
inline constexpr std::size_t numbers_of_a_function = 6;
std::complex<double> number(const TransferFunction& function, std::size_t which);

/// The two sources of magnetotellurics, E along east and along north; and the components that are recorded of
/// them.
std::vector<Source> both_polarisations();
std::vector<Component> recorded_of_plane_waves();
/// Whether a problem has these sources and components.
bool is_magnetotelluric(const Problem& problem);

/// [frequency, receiver], from what forward() returns for such a problem.
std::vector<TransferFunction> transfer_functions(const Problem& problem, const Outcome& outcome);

/// Changes of transfer functions for small changes of the fields: δZ = (δE − Z δH) H⁻¹, δT = (δH_u − T δH)
/// H⁻¹. changes: as outcome.data, such as J v of sensitivity.hpp.
std::vector<TransferFunction> transfer_function_changes(const Problem& problem, const Outcome& outcome,
                                                        const std::vector<std::complex<double>>& changes);
/// The derivative of one number of the function at a frequency and a receiver, as a sum over fields: their
/// places in outcome.data, each with a factor.
using SumOfFields = std::vector<std::pair<std::size_t, std::complex<double>>>;
SumOfFields change_of(const Problem& problem, const Outcome& outcome, std::size_t frequency,
                      std::size_t receiver, const TransferFunction& there, std::size_t which);
/// The transpose of transfer_function_changes(): weights of fields, whose sum of products with δE and δH is
/// that of w with δZ and δT.
std::vector<std::complex<double>> weights_of_fields(const Problem& problem, const Outcome& outcome,
                                                    const std::vector<TransferFunction>& w);

/// Quantities that a data set can hold, of which a job chooses: impedance, apparent_resistivity, phase,
/// tipper, phase_tensor.
std::span<const std::string_view> names_of_responses();

/// Variables of these quantities, [frequency, receiver]; without values where there are no functions.
std::vector<Variable> response_variables(const Problem& problem, const std::vector<TransferFunction>& all,
                                         const std::vector<std::string>& responses);

}  // namespace terrane::electromagnetic
