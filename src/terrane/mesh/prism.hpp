// Right rectangular prisms, one and many.
#pragma once

#include <cstddef>
#include <vector>

namespace terrane {

/// West, east, south, north, bottom, top, in metres.
struct Prism {
  double west = 0, east = 0, south = 0, north = 0, bottom = 0, top = 0;
  double volume() const noexcept { return (east - west) * (north - south) * (top - bottom); }
  friend bool operator==(const Prism&, const Prism&) = default;
};

/// Many prisms, with one array per face.
struct PrismSet {
  std::vector<double> west, east, south, north, bottom, top;

  std::size_t size() const noexcept { return west.size(); }
  void reserve(std::size_t n);
  void push_back(const Prism& p);
  Prism operator[](std::size_t i) const noexcept {
    return {west[i], east[i], south[i], north[i], bottom[i], top[i]};
  }
};

}  // namespace terrane
