// Neighbours of a point along axes that are compile-time constants.
#pragma once

#include "terrane/solve/networks/network.hpp"

namespace terrane::solve {

/// Indices of a point; axes along which they are read or changed are compile-time constants.
struct Place {
  Index k, j, i;

  template <int Axis>
  TERRANE_FN Index get() const {
    return Axis == up ? k : Axis == north ? j : i;
  }
  template <int Axis>
  TERRANE_FN Place with(Index to) const {
    return {Axis == up ? to : k, Axis == north ? to : j, Axis == east ? to : i};
  }
  template <int Axis>
  TERRANE_FN Place moved(Index by) const {
    return with<Axis>(get<Axis>() + by);
  }
};

template <class Array>
TERRANE_FN auto at(const Array& view, const Place& p) {
  const auto value = view(p.k, p.j, p.i);
  return value;
}

}  // namespace terrane::solve
