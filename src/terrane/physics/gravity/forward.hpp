// The gravity field of prisms at stations: the one call behind the command, C++ and Python.
#pragma once

#include <span>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/simulation/result.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::gravity {

/// Views of prisms: six faces in metres and the density in kg/m³, all [m].
struct Prisms {
  std::span<const double> west, east, south, north, bottom, top, density;
  std::size_t size() const noexcept { return west.size(); }
};

/// Views of stations in metres, all [n].
struct Stations {
  std::span<const double> easting, northing, up;
  std::size_t size() const noexcept { return easting.size(); }
};

/// Where the results go: one array [n] for each channel of the set, in the set's order, SI, frame enu.
struct Fields {
  ChannelSet channels;
  std::vector<std::span<double>> values;
  std::span<unsigned char> singular;  ///< [n] or empty: set to 1 where the tensor has no single value
};

/// Field of the prisms at the stations.  Adds nothing: `out` is overwritten.
/// The same bits for any number of threads and ranks. Throws ShapeError (lengths differ), InputError (NaN, a
/// prism without thickness), Cancelled (progress asked for it), and what any rank throws.
/// runtime: other ranks to share the work, a checkpoint to keep or resume; this is called on its rank 0
/// alone.
Report forward(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
               const Fields& out, Progress* progress = nullptr, const Runtime& runtime = {});

}  // namespace terrane::gravity
