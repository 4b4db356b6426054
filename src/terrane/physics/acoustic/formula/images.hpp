// Nodes beyond free surfaces, on an axis with N nodes. On a free surface the pressure p is zero, so p is odd
// about it: a node beyond the surface has minus the value of its mirror image:
//
//   below node 0       p(−1 − n) = −p(n)
//   above node N − 1   p(N + n) = −p(N − 1 − n)
//
// With two free surfaces images have images: p is periodic with 2N nodes.
#pragma once

#include "terrane/base/function.hpp"
#include "terrane/parallel/arrays/index_box.hpp"

namespace terrane::acoustic {

/// The node from which another node gets its value; odd: whether the sign of the value changes.
struct Image {
  Index node;
  bool odd;
};

/// The image of node n on an axis with this number of nodes. below, above: whether there is a free surface on
/// that side; beyond sides without one a node is its own image.
TERRANE_FN constexpr Image image_of(Index n, Index nodes, bool below, bool above) {
  if (below && above) {
    const Index rest = n % (2 * nodes), place = rest < 0 ? rest + 2 * nodes : rest;
    return place < nodes ? Image{place, false} : Image{2 * nodes - 1 - place, true};
  }
  if (below && n < 0) return {-1 - n, true};
  if (above && n >= nodes) return {2 * nodes - 1 - n, true};
  return {n, false};
}

}  // namespace terrane::acoustic
