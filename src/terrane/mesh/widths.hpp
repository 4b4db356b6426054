// Faces of cells whose widths are asked for at given places.
//
// A wish is a width h between two places and how fast cells may grow away from there: at the distance d no
// more than h + d ln g, which is g times the neighbour. At each place of the core the smallest of all wishes
// holds. Beyond the core cells grow by a growth of their own from what the core has at its end, up to the
// walls. Faces are where the integral of 1/width counts whole cells; between two faces that are wanted the
// count is rounded up.
#pragma once

#include <vector>

namespace terrane {

struct WidthWish {
  double low = 0, high = 0;  ///< interval with cells of this width, m
  double width = 1;          ///< h, m
  double growth = 1.3;       ///< growth of cells away from the interval, above 1
};

struct WidthAxis {
  std::vector<WidthWish> wishes;    ///< at least one
  double low = 0, high = 1;         ///< the core, m
  double growth = 1.3;              ///< beyond it, above 1
  double from = 0, to = 1;          ///< ends of the axis, m, not inside the core
  std::vector<double> wanted = {};  ///< where faces shall be
  /// Pairs of wanted faces, from below: the cells between them, at least so many.
  struct Least {
    double low, high;
    int cells;
  };
  std::vector<Least> least = {};
};

/// The wishes without those that others already imply, to a tenth: fewer, for the same widths.
std::vector<WidthWish> without_others(std::vector<WidthWish> wishes);

/// The width at a place.
double width_at(const WidthAxis& axis, double place);

/// The faces, ascending, from axis.from to axis.to.
std::vector<double> faces_of_widths(const WidthAxis& axis);

}  // namespace terrane
