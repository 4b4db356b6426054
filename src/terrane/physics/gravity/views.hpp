// Views of prisms, stations and result arrays for the code that computes fields; the caller owns the arrays.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "terrane/mesh/bounds.hpp"
#include "terrane/physics/gravity/channels.hpp"

namespace terrane::gravity {

/// Views of prisms: six faces in metres and the density in kg/m³, each [number of prisms].
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

/// Views of the coordinates of n stations in metres, each [n].
struct Stations {
  std::span<const double> easting, northing, up;
  std::size_t size() const noexcept { return easting.size(); }
};

struct Contact;  // defined in sum/singular.hpp

/// The arrays that receive the results: one array [n] per channel of the set, in the set's order, SI, frame
/// enu.
struct Fields {
  ChannelSet channels;
  std::vector<std::span<double>> values;
  std::span<unsigned char> singular;  ///< [n] or empty: 1 at stations where the tensor has no single value
  /// If given, receives all contacts of stations with prisms, ordered by station. The caller then applies the
  /// singular policy: forward() leaves the tensor on a face as summed, the mean of both sides.
  std::vector<Contact>* contacts = nullptr;
};

}  // namespace terrane::gravity
