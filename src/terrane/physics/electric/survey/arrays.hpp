// Electrodes along a line and in holes, and the arrays of them that are measured.
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

/// Electrodes along a straight line: `count` of them, `spacing` apart, from `start` on, at an azimuth
/// (degrees east of north), all at one height.
struct ElectrodeLine {
  Point start;
  double azimuth = 90, spacing = 1;
  std::size_t count = 0;

  std::vector<Point> points() const;
};

/// All arrays of a kind that fit the line with n up to `levels`. Throws InputError: none fits.
Electrodes arrays_on_line(const ElectrodeLine& line, ArrayKind kind, std::size_t levels);

/// Electrodes in two vertical holes, the deeper ones after the first.
struct HolePair {
  Point first, second;  ///< the highest electrode of each hole
  double spacing = 1;   ///< m, downwards
  std::size_t count = 0;
};

/// All cross-hole arrays with n up to `levels`. Throws InputError: none fits.
Electrodes arrays_across(const HolePair& holes, std::size_t levels);

/// Where an array's value is drawn in a pseudosection: the middle of its electrodes, and as deep as half of
/// the largest horizontal distance between neighbours of them, below `surface`, or below their mean height
/// where that is lower.
Point plotting_point(const Electrodes& electrodes, const Array& array, double surface);

}  // namespace terrane::electric
