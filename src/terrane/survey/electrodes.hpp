// Places of electrodes, and which four of them an array takes.
#pragma once

#include <vector>

namespace terrane::electric {

/// m; easting, northing, up.
struct Point {
  double e = 0, n = 0, u = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

/// Current flows from a to b, the voltage is that of m above n; places in the list of electrodes, or
/// far_away.
struct Array {
  static constexpr int far_away = -1;
  int a = far_away, b = far_away, m = far_away, n = far_away;
};

struct Electrodes {
  std::vector<Point> place;  ///< m
  std::vector<Array> arrays;

  /// Throws InputError: an array that names an electrode there is not, has a current electrode for a
  /// potential one, has neither current or neither potential electrode, or one twice.
  void check() const;
};

}  // namespace terrane::electric
