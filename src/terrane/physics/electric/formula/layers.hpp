// Potential of a point electrode in an earth of horizontal layers below a flat surface, each isotropic
// horizontally, as one integral:
//
//   φ(r, z) = 1/2π ∫ F J₀(λr) dλ      F = λ/(Y↓ + Y↑) · Π 1/(cosh κh + (Y/c) sinh κh)
//   κ = λ (σ_h/σ_v)^½, c = λ (σ_h σ_v)^½
//
// Y↓, Y↑ are the admittances of the medium below and above, c for the last layer and 0 for the air, Y ← c (Y
// + c t)/ (c + Y t), t = tanh κh through a layer; the product is over the layers from the electrode to z
// (Koefoed 1979, Geosounding Principles 1). F is a sum of exponentials e^{-aλ}, images at depths a; so the
// integral is approximated by a sum over even steps of ln λ, with weights for which the potentials of such
// images are exact (a digital filter, Ghosh 1971, Geophysical Prospecting 19, 192-217), here by least squares
// over all a, with an error of 1e-10.
#pragma once

#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

namespace terrane::electric {

/// Layers of infinite horizontal extent, from the lowest to the highest.
struct Layers {
  std::vector<double> between;                       ///< heights of interfaces, m, ascending
  std::vector<std::complex<double>> along, upwards;  ///< σ_h and σ_v of each layer, S/m

  /// Index of the layer at a height; at an interface, that of the layer above.
  std::size_t at(double up) const;
  bool complex() const;
  friend bool operator==(const Layers&, const Layers&) = default;
};

/// Potentials of 1 A from one electrode, on horizontal planes.
class LayersPotential {
 public:
  /// source, surface: heights, m; planes: heights, at or below the surface, in any order · nearest,
  /// farthest: range of horizontal distances, m, above zero
  LayersPotential(const Layers& layers, double source, double surface, const std::vector<double>& planes,
                  double nearest, double farthest);

  /// Potential, V, at one of the planes' heights and a horizontal distance; infinite at the electrode.
  std::complex<double> potential(double up, double r) const;
  /// E radially away from the vertical through the electrode, and upwards, V/m.
  std::pair<std::complex<double>, std::complex<double>> field(double up, double r) const;

 private:
  struct Plane {
    double up = 0;
    bool of_source = false;
    std::complex<double> upwards;                 // σ_v at this height
    std::vector<std::complex<double>> rphi, rrj;  // r φ and r² J_u, at even steps of ln r
  };
  const Plane& plane(double up) const;

  std::vector<Plane> planes_;  // ascending
  double nearest_, first_;
};

}  // namespace terrane::electric
