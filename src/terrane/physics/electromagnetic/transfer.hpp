// Magnetotellurics: transfer functions of the earth, from the fields of plane waves of two polarisations.
//
//   E = Z H (horizontal),   H_u = T_e H_e + T_n H_n
//
// Z: impedance; T: tipper; e, n, u: components along east, north, up. E and H have one column for each
// polarisation: Z = E H⁻¹ and T = H_u H⁻¹ do not depend on the amplitude of the waves. Time e^{+iωt}: over a
// half space Z_en = −Z, Z_ne = Z = √(iωμ₀/σ), phases −135° and 45°. In the frame of magnetotellurics (x
// north, y east, z down) Z_xy = Z_ne, Z_yx = Z_en, T_x = −T_n, T_y = −T_e.
#pragma once

#include <utility>

#include "terrane/data/dataset.hpp"
#include "terrane/physics/electromagnetic/forward.hpp"

namespace terrane::electromagnetic {

struct TransferFunction {
  std::array<std::complex<double>, 4> z{};       ///< ohm; Z_ee, Z_en, Z_ne, Z_nn
  std::array<std::complex<double>, 2> tipper{};  ///< T_e, T_n

  /// ρ_a = |Z|²/(ωμ₀) ohm m, and the phase of Z in degrees.
  double apparent_resistivity(std::size_t element, double hertz) const;
  double phase(std::size_t element) const;
  /// The phase tensor Φ = X⁻¹Y, Z = X + iY (Caldwell, Bibby & Brown 2004): ee, en, ne, nn. Galvanic
  /// distortion does not change Φ.
  std::array<double, 4> phase_tensor() const;
};

/// The complex values of a transfer function, in this order: z_ee, z_en, z_ne, z_nn, tipper_e, tipper_n.
inline constexpr std::size_t numbers_of_a_function = 6;
std::complex<double> number(const TransferFunction& function, std::size_t which);

/// The two sources of magnetotellurics, plane waves with E along east and along north; and the components
/// recorded for each of them.
std::vector<Source> both_polarisations();
std::vector<Component> recorded_of_plane_waves();
/// Whether a problem has two plane waves as sources and the components recorded_of_plane_waves().
bool is_magnetotelluric(const Problem& problem);

/// Transfer functions [frequency, receiver], from the result of forward() for a problem of plane waves.
std::vector<TransferFunction> transfer_functions(const Problem& problem, const Outcome& outcome);

/// Changes of transfer functions due to small changes of the fields: δZ = (δE − Z δH) H⁻¹, δT = (δH_u − T δH)
/// H⁻¹. changes: dimensions of outcome.data, for example J v of sensitivity.hpp.
std::vector<TransferFunction> transfer_function_changes(const Problem& problem, const Outcome& outcome,
                                                        const std::vector<std::complex<double>>& changes);
/// The derivative of value `which` of the transfer function at a frequency and receiver, as a weighted sum
/// over fields: pairs of an index in outcome.data and a factor.
using SumOfFields = std::vector<std::pair<std::size_t, std::complex<double>>>;
SumOfFields change_of(const Problem& problem, const Outcome& outcome, std::size_t frequency,
                      std::size_t receiver, const TransferFunction& there, std::size_t which);
/// The transpose of transfer_function_changes(): weights of the fields such that their sum of products with
/// δE and δH equals that of w with δZ and δT.
std::vector<std::complex<double>> weights_of_fields(const Problem& problem, const Outcome& outcome,
                                                    const std::vector<TransferFunction>& w);

/// Responses that a job can ask for: impedance, apparent_resistivity, phase, tipper, phase_tensor.
std::span<const std::string_view> names_of_responses();

/// The data-set variables of the named responses, [frequency, receiver]; without values if `all` is empty.
std::vector<Variable> response_variables(const Problem& problem, const std::vector<TransferFunction>& all,
                                         const std::vector<std::string>& responses);

}  // namespace terrane::electromagnetic
