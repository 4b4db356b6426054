// The magnetic field of magnetized prisms at stations: gravity's gradients with a component of M as the
// density, for every component; then B = (μ₀/4π) Γ̂ M + μ₀ M, with the M around the station.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "terrane/physics/gravity/forward.hpp"
#include "terrane/physics/magnetic/main_field.hpp"

namespace terrane::magnetic {

/// M of every prism along easting, northing and up, A/m, [prisms] each.
using Magnetization = std::array<std::vector<double>, 3>;

/// B at the stations, T, [stations] each.
struct FluxDensity {
  std::array<std::vector<double>, 3> b;
  std::vector<std::size_t> inside;  ///< stations within magnetized matter, also between prisms
  gravity::Report report;           ///< of all sums together
};

/// susceptibility [prisms] SI · remanent: [prisms] each, or empty.  M = χ F/μ₀ f + M_rem
Magnetization magnetization(std::span<const double> susceptibility, const MainField& field,
                            const Magnetization& remanent = {});

/// parameters: accuracy, method, singular policy, device and threads count, the rest does not. The views'
/// density is not read. Where every M has one direction it takes one sum, otherwise three. Throws as
/// gravity::forward().
FluxDensity forward(const gravity::Prisms& prisms, const Magnetization& m, const gravity::Stations& stations,
                    const gravity::Parameters& parameters, Progress* progress = nullptr,
                    const Runtime& runtime = {});

/// The total-field anomaly, T: f·B, or exactly |F f + B| − F.
std::vector<double> total_field_anomaly(const FluxDensity& field, const MainField& main, bool exact = false);

}  // namespace terrane::magnetic
