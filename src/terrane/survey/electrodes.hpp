// Places of electrodes, and the four electrodes of each array.
#pragma once

#include <vector>

namespace terrane::electric {

/// m; easting, northing, up.
struct Point {
  double e = 0, n = 0, u = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

/// Current flows from a to b, the voltage is that of m minus that of n; each is a number in the list of
/// electrodes, or far_away.
struct Array {
  static constexpr int far_away = -1;
  int a = far_away, b = far_away, m = far_away, n = far_away;
};

struct Electrodes {
  std::vector<Point> place;  ///< m
  std::vector<Array> arrays;

  /// Throws InputError: an array with an electrode that is not in the list, with a current electrode that is
  /// also a potential electrode, without any current or any potential electrode, or with one twice.
  void check() const;
};

}  // namespace terrane::electric
