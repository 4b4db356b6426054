// Views of prisms, stations and the arrays of results, for the code that computes fields; the arrays belong
// to others.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "terrane/mesh/bounds.hpp"
#include "terrane/physics/gravity/channels.hpp"

namespace terrane::gravity {

/// Views of prisms: six faces in metres and the density in kg/m³, all [m].
struct Prisms {
  std::span<const double> west, east, south, north, bottom, top, density;
  std::size_t size() const noexcept { return west.size(); }
};

inline Boxes boxes(const Prisms& prisms) {
  return {{prisms.west, prisms.south, prisms.bottom}, {prisms.east, prisms.north, prisms.top}};
}

/// The seven arrays, in the order of the members.
inline std::array<std::span<const double>, 7> columns(const Prisms& p) {
  return {p.west, p.east, p.south, p.north, p.bottom, p.top, p.density};
}

/// Views of stations in metres, all [n].
struct Stations {
  std::span<const double> easting, northing, up;
  std::size_t size() const noexcept { return easting.size(); }
};

struct Contact;  // sum/singular.hpp

/// Where the results go: one array [n] for each channel of the set, in the set's order, SI, frame enu.
struct Fields {
  ChannelSet channels;
  std::vector<std::span<double>> values;
  std::span<unsigned char> singular;  ///< [n] or empty: set to 1 where the tensor has no single value
  /// When given, takes all contacts of stations with prisms, ordered by station; then the tensor is left
  /// there as the sums have it, the mean of both sides of a face, for the caller to settle.
  std::vector<Contact>* contacts = nullptr;
};

}  // namespace terrane::gravity
