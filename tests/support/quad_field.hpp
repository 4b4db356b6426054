// The field of prisms in quadruple precision while a test runs, and random prisms and stations to try.
#pragma once

#include <array>
#include <random>

#include "support/prism_field.hpp"
#include "support/prism_reference.hpp"

namespace terrane::test {

/// V, g, Γ of a prism of unit density, G = 1, in the order of Channel: the textbook form up to 30 sides away,
/// the stable form beyond. Components that are singular at the station are meaningless; on a face's plane the
/// normal derivative is the mean of both sides.
std::array<Quad, 10> quad_field(const Prism& prism, const double (&station)[3]);

/// The same with G, as a row that normwise_error() takes.
ReferenceRow quad_row(const Prism& prism, const double (&station)[3]);

/// The sum over a list of prisms, G = default_gravitational_constant. [channels][stations]
FieldTable quad_table(const PrismList& prisms, const StationList& stations);

/// tests/support/data/ensemble_*.csv: 280 cells of random density, 60 stations, and the field there, rounded
/// to double from quadruple precision.
struct Ensemble {
  PrismList prisms;
  StationList stations;
  FieldTable field;
};
Ensemble ensemble();

/// A prism near the origin, its longest side 1 to 1000 m and `aspect` times the shortest, the third between.
Prism random_prism(double aspect, std::mt19937& random);

/// A station in a random direction at `distance` (m) from the prism's surface.
std::array<double, 3> random_station(const Prism& prism, double distance, std::mt19937& random);

}  // namespace terrane::test
