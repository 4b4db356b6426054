// Electrodes along a line or in two boreholes, and the electrode arrays that they form.
//
//   dipole-dipole   B A · M N, spacing a, M and A apart by n a     n = 1 … levels
//   pole-dipole     A · M N, A and M apart by n a, B far away
//   pole-pole       A · M apart by n a, B and N far away
//   wenner          A M N B, each a·n apart
//   schlumberger    A · M N · B, MN = a, AM = NB = n a
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "terrane/survey/electrodes.hpp"

namespace terrane::electric {

enum class ArrayKind { dipole_dipole, pole_dipole, pole_pole, wenner, schlumberger, gradient };

inline constexpr std::string_view array_names[] = {"dipole-dipole", "pole-dipole",  "pole-pole",
                                                   "wenner",        "schlumberger", "gradient"};

/// Electrodes along a straight line: `count` electrodes, `spacing` m apart, starting at `start`, in the
/// direction `azimuth` (degrees east of north), all at one height.
struct ElectrodeLine {
  Point start;
  double azimuth = 90, spacing = 1;
  std::size_t count = 0;

  std::vector<Point> points() const;
};

/// All arrays of a kind on the line, with n up to `levels`. Throws InputError if none fits.
Electrodes arrays_on_line(const ElectrodeLine& line, ArrayKind kind, std::size_t levels);

/// Electrodes in two vertical holes, each from the highest downwards.
struct HolePair {
  Point first, second;  ///< the highest electrode of each hole
  double spacing = 1;   ///< m, between electrodes in a hole
  std::size_t count = 0;
};

/// All cross-hole arrays with n up to `levels`. Throws InputError if none fits.
Electrodes arrays_across(const HolePair& holes, std::size_t levels);

/// The plotting point of an array in a pseudosection: the middle of its electrodes, at a depth of half the
/// largest horizontal distance between neighbouring electrodes, below `surface`, or below the electrodes'
/// mean height if that is lower.
Point plotting_point(const Electrodes& electrodes, const Array& array, double surface);

}  // namespace terrane::electric
