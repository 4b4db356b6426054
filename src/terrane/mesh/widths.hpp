// Faces of cells along an axis whose widths are specified in intervals.
//
// A wish is an interval with cell width h and a growth factor g: at distance d from the interval cells are at
// most h + d ln g wide, which is g times the width of the inner neighbour. At each coordinate in the core the
// smallest width of all wishes is used. Beyond the core, up to the walls, cells grow by a factor of their own
// from the width at the end of the core. Faces lie where the integral of 1/width reaches whole numbers;
// between two prescribed faces the number of cells is rounded up.
#pragma once

#include <vector>

namespace terrane {

struct WidthWish {
  double low = 0, high = 0;  ///< interval with cells of this width, m
  double width = 1;          ///< h, m
  double growth = 1.3;       ///< growth factor of cells away from the interval, greater than 1
};

struct WidthAxis {
  std::vector<WidthWish> wishes;    ///< requested widths; at least one
  double low = 0, high = 1;         ///< the core, m
  double growth = 1.3;              ///< growth factor beyond the core, greater than 1
  double from = 0, to = 1;          ///< the walls, m: ends of the axis, not inside the core
  std::vector<double> wanted = {};  ///< coordinates at which faces must lie, m
  /// Minimum number of cells between two prescribed faces low and high (m), listed in ascending order.
  struct Least {
    double low, high;
    int cells;
  };
  std::vector<Least> least = {};
};

/// Leaves out each wish that changes little: in its interval the wishes for narrower cells already ask for
/// cells at most 10 % wider than its own.
std::vector<WidthWish> without_others(std::vector<WidthWish> wishes);

/// Cell width at a coordinate of the axis, m.
double width_at(const WidthAxis& axis, double place);

/// The faces, ascending, from axis.from to axis.to.
std::vector<double> faces_of_widths(const WidthAxis& axis);

}  // namespace terrane
