// The magnetic field of magnetized prisms at stations. By Poisson's relation, gravity gradients Γ̂ (G = 1)
// are computed with each component of the magnetization M as the density; then B = (μ₀/4π) Γ̂ M + μ₀ M. Γ̂ M
// is the sum over all prisms; the second M is that of the matter at the station, 0 outside prisms.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "terrane/physics/gravity/forward.hpp"
#include "terrane/physics/magnetic/main_field.hpp"

namespace terrane::magnetic {

/// The magnetization M of all prisms: components along easting, northing and up, A/m, [prisms] each.
using Magnetization = std::array<std::vector<double>, 3>;

/// The magnetic flux density B, T: three components [stations].
struct FluxDensity {
  std::array<std::vector<double>, 3> b;
  std::vector<std::size_t> inside;  ///< stations in magnetized matter, also on faces between prisms
  gravity::Report report;           ///< report of all sums over prisms together
};

/// M = χ F/μ₀ f + M_rem, for susceptibility χ [prisms], SI; F, f: intensity and unit vector of the main
/// field. remanent: M_rem, three arrays [prisms]; empty arrays: none.
Magnetization magnetization(std::span<const double> susceptibility, const MainField& field,
                            const Magnetization& remanent = {});

/// parameters: only accuracy, method, singular policy, device and threads are used. The density in `prisms`
/// is not read. If all M have the same direction, one sum over prisms is needed, otherwise up to three.
/// Throws the errors of gravity::forward().
FluxDensity forward(const gravity::Prisms& prisms, const Magnetization& m, const gravity::Stations& stations,
                    const gravity::Parameters& parameters, Progress* progress = nullptr,
                    const Runtime& runtime = {});

/// The total-field anomaly, T: the projection f·B; if `exact`, |F f + B| − F. F, f: intensity and unit vector
/// of the main field.
std::vector<double> total_field_anomaly(const FluxDensity& field, const MainField& main, bool exact = false);

/// |B| at all stations, T.
std::vector<double> amplitude(const FluxDensity& field);

}  // namespace terrane::magnetic
