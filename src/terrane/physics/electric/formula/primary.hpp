// Primary potentials φ of 1 A in closed form: a point electrode in a half space, in horizontal layers
// (layers.hpp), or beside one vertical contact between two media that both extend up to the surface.
//
//   own side      φ = 1/(4πσ₁) (S + k S*)       S = 1/r + 1/r'; S*: S of the image behind the contact
//   beyond        φ = (1 + k)/(4πσ₁) S          k = (σ₁ − σ₂)/(σ₁ + σ₂)
//
// r: distance from the electrode; r': from its image in the surface; σ₁: conductivity around the electrode;
// σ₂: beyond the contact.
//
// Telford, Geldart & Sheriff 1990, § 8.3.6 (images). The formulas also hold for complex conductivities; and
// for anisotropic ones in the stretched coordinates of half_space.hpp, if both media have the same stretch.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <memory>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "terrane/physics/electric/formula/half_space.hpp"
#include "terrane/physics/electric/formula/layers.hpp"
#include "terrane/physics/electric/formula/slope.hpp"

namespace terrane::electric {

/// The medium around an electrode, assumed homogeneous, S/m along easting, northing, up.
struct HalfSpace {
  std::array<double, 3> along{}, quadrature{};

  Stretch stretch() const { return stretch_of(along); }
  /// Geometric mean over the axes; the conductivities along all axes must have the same phase.
  std::complex<double> mean() const {
    const bool alike = along[0] == along[1] && along[0] == along[2];
    const double real = alike ? along[0] : std::cbrt(along[0] * along[1] * along[2]);
    return {real, quadrature[0] == 0 ? 0 : real * (quadrature[0] / along[0])};
  }
  std::complex<double> of(std::size_t axis) const { return {along[axis], quadrature[axis]}; }
  friend bool operator==(const HalfSpace&, const HalfSpace&) = default;
};

/// A vertical plane contact, beyond which another medium begins.
struct Contact {
  std::size_t axis = 0;  ///< axis of the plane's normal: 0 easting, 1 northing
  double at = 0;         ///< coordinate of the plane on this axis, m
  bool above = false;    ///< true: the other medium is on the side of larger coordinates
  HalfSpace beyond;

  double coordinate(const Point& p) const { return axis == 0 ? p.e : p.n; }
  bool is_beyond(double coordinate) const { return above ? coordinate > at : coordinate < at; }
  Point image(Point p) const {
    (axis == 0 ? p.e : p.n) = 2 * at - coordinate(p);
    return p;
  }
};

/// Horizontal layers, each isotropic horizontally.
struct LayeredMedium {
  std::vector<HalfSpace> medium;  ///< layers from the lowest to the highest
  Layers layers;                  ///< boundaries and properties of the layers, as LayersPotential takes them

  LayeredMedium(std::vector<double> between, std::vector<HalfSpace> of_layers)
      : medium(std::move(of_layers)) {
    layers.between = std::move(between);
    for (const auto& one : medium) {
      layers.along.push_back(one.of(0));
      layers.upwards.push_back(one.of(2));
    }
  }
};

/// The medium of a primary potential: that around an electrode, extended to infinity.
struct Primary {
  HalfSpace own;
  std::optional<Contact> contact = {};
  std::shared_ptr<const LayeredMedium> layered = {};  ///< layers, one of which is `own`; null: no layers
  std::shared_ptr<const Slope> slope = {};  ///< slope of the surface above `own`; null if it is flat
  int candidate =
      0;  ///< number of the primary among the candidates of surroundings.cpp, the same on all meshes

  const HalfSpace& medium_at(double easting, double northing, double up) const {
    if (layered) return layered->medium[layered->layers.at(up)];
    const bool other = contact && contact->is_beyond(contact->axis == 0 ? easting : northing);
    return other ? contact->beyond : own;
  }
  std::complex<double> reflection() const {
    const auto one = own.mean(), other = contact->beyond.mean();
    return (one - other) / (one + other);
  }
  /// φ of 1 A from an electrode, V; infinite at the electrode. Layers are not included: see PrimaryPotential.
  /// surface: height of the ground
  std::complex<double> potential(const Point& source, const Point& p, double surface) const;
  /// E = −∇φ of potential(), along easting, northing, up, V/m.
  std::array<std::complex<double>, 3> field(const Point& source, const Point& p, double surface) const {
    const auto sigma = own.mean();
    const auto seen = slope ? slope->field(p) : half_space_field(source, p, surface, own.stretch(), 1);
    std::array<std::complex<double>, 3> e{};
    for (std::size_t a = 0; a < 3; ++a) e[a] = seen[a] / sigma;
    if (!contact) return e;
    const auto k = reflection();
    if (contact->is_beyond(contact->coordinate(p))) {
      for (auto& value : e) value *= 1.0 + k;
      return e;
    }
    const auto mirrored = half_space_field(contact->image(source), p, surface, own.stretch(), 1);
    for (std::size_t a = 0; a < 3; ++a) e[a] += k * mirrored[a] / sigma;
    return e;
  }
};

/// The potential of a Primary at many points; quantities that do not depend on the point are computed once.
class PrimaryPotential {
 public:
  /// layered: the potential of the primary's layers, prepared for the heights of all points; null if it has
  /// no layers
  PrimaryPotential(const Primary& primary, const Point& source, double surface,
                   std::shared_ptr<const LayersPotential> layered = nullptr)
      : layered_(std::move(layered)),
        slope_(primary.slope),
        contact_(primary.contact),
        source_(source),
        image_(primary.contact ? primary.contact->image(source) : source),
        surface_(surface),
        stretch_(primary.own.stretch()),
        own_(1.0 / primary.own.mean()) {
    if (!contact_) return;
    mirrored_ = primary.reflection() * own_;
    beyond_ = own_ + mirrored_;
  }

  std::complex<double> operator()(const Point& p) const {
    if (layered_) return layered_->potential(p.u, std::hypot(p.e - source_.e, p.n - source_.n));
    const double seen =
        slope_ ? slope_->potential(p) : half_space_potential(source_, p, surface_, stretch_, 1);
    // Infinity times a complex number would be NaN.
    if (!std::isfinite(seen)) return seen;
    if (!contact_) return seen * own_;
    if (contact_->is_beyond(contact_->coordinate(p))) return seen * beyond_;
    return seen * own_ + half_space_potential(image_, p, surface_, stretch_, 1) * mirrored_;
  }

 private:
  std::shared_ptr<const LayersPotential> layered_;
  std::shared_ptr<const Slope> slope_;
  std::optional<Contact> contact_;
  Point source_, image_;
  double surface_;
  Stretch stretch_;
  std::complex<double> own_, mirrored_, beyond_;
};

inline std::complex<double> Primary::potential(const Point& source, const Point& p, double surface) const {
  return PrimaryPotential(*this, source, surface)(p);
}

}  // namespace terrane::electric
