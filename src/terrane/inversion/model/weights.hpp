// Weights w of cells. Without them an inversion would place all bodies near the surface, where data are most
// sensitive. φ_m contains their squares (regulariser.hpp). The weights are divided by their maximum.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/solve/matrices/linear_operator.hpp"

namespace terrane::inversion {

/// Coordinates of stations, m.
struct Points {
  std::span<const double> easting, northing, up;
  std::size_t size() const noexcept { return easting.size(); }
};

/// w = [ (1/Δz) ∫_cell dζ/(ζ+z₀)^a ]^½, ζ: depth below the ground, which is the top of the column's highest
/// active cell or cuts that cell; Δz: height of the cell's part below the ground (Li & Oldenburg 1998).
/// exponent: a, 2 for gravity, 3 for gradients and magnetic fields. active: as in Regulariser; ground: as in
/// Problem; result: [active]
std::vector<double> depth_weights(const TensorMesh& mesh, std::span<const std::uint32_t> active, double z0,
                                  double exponent, std::span<const double> ground = {});

/// The z₀ for which (ζ+z₀)^−a (ζ: depth, a: exponent) decays with depth as a row of G does below its station,
/// by least squares of logarithms. row: [active], for a station at (easting, northing)
double fit_z0(const TensorMesh& mesh, std::span<const std::uint32_t> active, std::span<const double> row,
              double easting, double northing, double exponent, std::span<const double> ground = {});

/// w = { Σ_stations [ (1/V) ∫ dv/(R+R₀)^a ]² }^¼, V: volume of the cell; R: distance from the station; R₀: a
/// quarter of the smallest cell width; a: exponent. The integrals are computed with 8 Gauss points per cell,
/// 64 near a station.
std::vector<double> distance_weights(const TensorMesh& mesh, std::span<const std::uint32_t> active,
                                     const Points& stations, double exponent, int threads = 0);

/// s / s_max,  s = [Σ_i (G_ij/σ_i)²]^½ / V_j: the change of data (in units of σ) per unit volume of each cell
/// j, V_j: its volume, s_max: largest s; all 0 if no datum is sensitive to any cell.  weight: 1/σ [rows];
/// volume [active]
std::vector<double> sensitivity_per_volume(const solve::LinearOperator& g, std::span<const double> weight,
                                           std::span<const double> volume);

/// w = [ max(s, η s_max) / s_max ]^½,  s = [Σ_i (G_ij/σ_i)²]^½ / V_j, s_max: largest s, η: floor.  weight:
/// 1/σ [rows]; volume [active]
std::vector<double> sensitivity_weights(const solve::LinearOperator& g, std::span<const double> weight,
                                        std::span<const double> volume, double floor = 1e-3);

}  // namespace terrane::inversion
