// Potential φ of a point electrode with 1 A in an earth of horizontal layers below a flat surface, at a
// horizontal distance r and a height z. A layer of thickness h has the conductivities σ_h horizontally and
// σ_v vertically.
//
//   φ(r, z) = 1/2π ∫ F J₀(λr) dλ      F = λ/(Y↓ + Y↑) · Π 1/(cosh κh + (Y/c) sinh κh)
//   κ = λ (σ_h/σ_v)^½, c = λ (σ_h σ_v)^½
//
// λ is the horizontal wavenumber and J₀ a Bessel function. Y↓ and Y↑ are the admittances of the medium below
// and above the electrode. Y is c for the lowest layer and 0 for the air. Through a layer Y changes to
// c (Y + c t)/(c + Y t), t = tanh κh. The product is over the layers from the electrode to z, with the Y at
// the far end of each (Koefoed 1979, Geosounding Principles 1).
//
// F is a sum of exponentials e^{-aλ}, each of which gives the potential of an image at a depth a. The
// integral is approximated by a sum over even steps of ln λ (a digital filter, Ghosh 1971, Geophysical
// Prospecting 19, 192-217). The weights fit the known potentials of images by least squares over all a, with
// an error of 1e-10.
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
  /// source, surface: heights, m; planes: heights, m, at or below the surface, in any order; nearest,
  /// farthest: range of horizontal distances, m, above zero
  LayersPotential(const Layers& layers, double source, double surface, const std::vector<double>& planes,
                  double nearest, double farthest);

  /// Potential, V, at one of the planes' heights and a horizontal distance; infinite at the electrode.
  std::complex<double> potential(double up, double r) const;
  /// E of potential(), V/m: radially away from the vertical through the electrode, and upwards.
  std::pair<std::complex<double>, std::complex<double>> field(double up, double r) const;

 private:
  struct Plane {
    double up = 0;
    bool of_source = false;
    std::complex<double> upwards;                 // σ_v at the plane's height
    std::vector<std::complex<double>> rphi, rrj;  // r φ, r² J_u (J: current density), in steps of ln r
  };
  const Plane& plane(double up) const;

  std::vector<Plane> planes_;  // ascending in height
  double nearest_, first_;
};

}  // namespace terrane::electric
