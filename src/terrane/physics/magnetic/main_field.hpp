// The main field of the earth, and the anomalous field of a susceptible cell in it.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "terrane/base/constants.hpp"
#include "terrane/base/field.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"
#include "terrane/physics/magnetic/channels.hpp"

namespace terrane::magnetic {

/// CODATA 2018, N/A²; older programs use 1e-7 for μ₀/4π.
inline constexpr double mu0 = 1.25663706212e-6, mu0_over_4pi = mu0 / (4 * pi);

struct MainField {
  double intensity = 50'000e-9;  ///< F, T
  double inclination = 90;       ///< degrees, positive downward
  double declination = 0;        ///< degrees east of north

  template <class Self, class Field>
  static void fields(Self& f, Field& field) {
    field("intensity", f.intensity,
          number(Quantity::flux_density, {.least = 0, .most = 1, .above = true}).written("\"50000 nT\""),
          "Strength of the earth's main field; a plain number is in tesla.");
    field("inclination", f.inclination, number(Allowed{-90, 90}),
          "Of the main field, degrees, positive downward.", "65");
    field("declination", f.declination, number(Allowed{-360, 360}),
          "Of the main field, degrees east of north.", "-12");
  }

  /// f: unit vector along the main field; east, north, up.
  std::array<double, 3> direction() const {
    const auto sine =
        [](double degrees) {  // exactly 0 at 0° and 180°, so that components across the field get weight 0
          return std::fmod(degrees, 180) == 0 ? 0.0 : std::sin(degrees * pi / 180);
        };
    const auto cosine = [](double degrees) {
      return std::fabs(std::fmod(degrees, 180)) == 90 ? 0.0 : std::cos(degrees * pi / 180);
    };
    const double i = inclination, d = declination;
    return {cosine(i) * sine(d), cosine(i) * cosine(d), -sine(i)};
  }
  friend bool operator==(const MainField&, const MainField&) = default;
};

/// The direction a of a channel that is a component a·B. Not for b_amplitude, the length of B.
inline std::array<double, 3> direction_of(Channel channel, const MainField& field) {
  if (channel == Channel::tmi) return field.direction();
  std::array<double, 3> along{};
  along.at(static_cast<std::size_t>(channel)) = 1;
  return along;
}

/// The response of the component a·B to a cell of magnetization M, T:  a·B = (μ₀/4π) aᵀ Γ̂ M, with Γ̂ the
/// gravity gradients of the cell for density 1 and G = 1; inside the cell a·B also contains μ₀ a·M. along: a;
/// by_magnetization: (μ₀/4π) M
inline gravity::Observable observable(const std::array<double, 3>& along,
                                      const std::array<double, 3>& by_magnetization) {
  using G = gravity::Channel;
  constexpr G tensor[3][3] = {
      {G::g_ee, G::g_en, G::g_eu}, {G::g_en, G::g_nn, G::g_nu}, {G::g_eu, G::g_nu, G::g_uu}};
  gravity::Observable made;
  made.flux = {true, true, true};  // inside a cell, B also contains μ₀ M
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      made.weight[static_cast<std::size_t>(tensor[a][b])] += along[a] * by_magnetization[b];
  return made;
}

/// The response to a cell of unit susceptibility, T:  ∂B/∂χ = (F/4π) Γ̂ f,  ∂tmi/∂χ = (F/4π) fᵀ Γ̂ f, with Γ̂
/// the gravity gradients of the cell for density 1 and G = 1, F and f the intensity and the unit vector of
/// the main field; inside the cell ∂B/∂χ also contains F f. μ₀ cancels.
inline gravity::Observable observable(const std::array<double, 3>& along, const MainField& field) {
  auto by_unit = field.direction();
  for (double& component : by_unit) component *= field.intensity / (4 * pi);
  return observable(along, by_unit);
}
inline gravity::Observable observable(Channel channel, const MainField& field) {
  return observable(direction_of(channel, field), field);
}

/// The rows of G of a channel: the component itself, or of b_amplitude the three components of B.
inline std::vector<std::array<double, 3>> components_of(Channel channel, const MainField& field) {
  if (channel == Channel::b_amplitude) return {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  return {direction_of(channel, field)};
}

}  // namespace terrane::magnetic
