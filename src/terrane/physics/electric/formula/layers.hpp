// A point electrode in an earth of horizontal layers below a flat surface, each alike along easting and
// northing, in closed form but for one integral:
//
//   φ(r, z) = 1/2π ∫ F J₀(λr) dλ      F = λ/(Y↓ + Y↑) · Π 1/(cosh κh + (Y/c) sinh κh)
//   κ = λ (σ_h/σ_v)^½, c = λ (σ_h σ_v)^½
//
// Y are the admittances of what lies below and above, c for the last layer and 0 for the air, Y ← c (Y + c
// t)/ (c + Y t), t = tanh κh through a layer; the product is over the layers from the electrode to z (Koefoed
// 1979, Geosounding Principles 1). F is a sum of exponentials e^{-aλ}, images at depths a; so the integral is
// a sum over even steps of ln λ whose weights are those that give the potentials of such images (a digital
// filter, Ghosh 1971, Geophysical Prospecting 19, 192-217), here by least squares over all a, right to 1e-10.
#pragma once

#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

namespace terrane::electric {

/// Layers without end, the lowest first.
struct Layers {
  std::vector<double> between;                       ///< heights of the faces between layers, m, ascending
  std::vector<std::complex<double>> along, upwards;  ///< σ_h and σ_v of each layer, S/m

  /// The layer at a height; of a face the one above it.
  std::size_t at(double up) const;
  bool complex() const;
  friend bool operator==(const Layers&, const Layers&) = default;
};

/// Potentials of 1 A of one electrode, on planes.
class LayersPotential {
 public:
  /// source, surface: heights, m · planes: heights, at or below the surface, in any order · nearest,
  /// farthest: distances on the map at which it will be asked for, above zero
  LayersPotential(const Layers& layers, double source, double surface, const std::vector<double>& planes,
                  double nearest, double farthest);

  /// V, at a height among the planes and a distance on the map; infinite at the electrode.
  std::complex<double> potential(double up, double r) const;
  /// E away from the electrode's vertical, and upwards.  V/m
  std::pair<std::complex<double>, std::complex<double>> field(double up, double r) const;

 private:
  struct Plane {
    double up = 0;
    bool of_source = false;
    std::complex<double> upwards;                 // σ_v there
    std::vector<std::complex<double>> rphi, rrj;  // r φ, and r² J_u; at even steps of ln r
  };
  const Plane& plane(double up) const;

  std::vector<Plane> planes_;  // ascending
  double nearest_, first_;
};

}  // namespace terrane::electric
