// Positions of electrodes, and the four electrodes of each electrode array.
#pragma once

#include <vector>

namespace terrane::electric {

/// A position: easting, northing, up, m.
struct Point {
  double e = 0, n = 0, u = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

/// An electrode array: current flows from a to b; the voltage is the potential at m minus that at n. Each is
/// an index in the list of electrodes, or far_away.
struct Array {
  static constexpr int far_away = -1;
  int a = far_away, b = far_away, m = far_away, n = far_away;
};

struct Electrodes {
  std::vector<Point> place;  ///< positions of the electrodes, m
  std::vector<Array> arrays;

  /// Throws InputError: an electrode array with an electrode that is not in the list, with a current
  /// electrode that is also a potential electrode, without any current or any potential electrode, or with
  /// one electrode used twice.
  void check() const;
};

}  // namespace terrane::electric
