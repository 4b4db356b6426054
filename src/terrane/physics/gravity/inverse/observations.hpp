// Observed data at stations, and how they depend on a property of cells.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"
#include "terrane/survey/observed.hpp"

namespace terrane::gravity::inverse {

/// What differs between inversions of gravity and of magnetic fields.
struct FieldKind {
  const Conventions& conventions;
  std::string property;  ///< "density", "susceptibility", "magnetization"
  /// For the name of a channel and a component of the property: the value that a cell with one unit of it
  /// causes, SI; three values if the channel is the amplitude of a vector, whose components they are.
  std::function<std::vector<Observable>(std::string_view channel, std::size_t component)> observables;
  std::size_t components = 1;                         ///< 3 if the property is a vector: east, north, up
  std::array<double, 3> first_direction = {0, 0, 1};  ///< of vectors, in a first model
};

/// The data of all channels, in the frame and the unit of the result.
struct Observations {
  std::vector<ObservedColumn> columns;    ///< [channels] values, and uncertainties if the survey has them
  std::vector<std::string> descriptions;  ///< [channels]
  /// [components of the property][rows of G] value due to a cell with one unit of this component
  std::vector<std::vector<Observable>> observables;
  std::vector<std::size_t> rows;  ///< [channels] rows of G for each datum: 1, or of amplitudes 3
  std::vector<Column> others;     ///< the survey's other columns
  std::string property;
  std::array<double, 3> first_direction{};
  std::string frame;
  double exponent = 2;  ///< exponent with which the fields decay, for depth and distance weights
  /// true: some channel is unbounded at a cell's edges, as gravity gradients and magnetic fields are
  bool steep = false;
  SingularPolicy singular = SingularPolicy::nan;  ///< what is done at stations on faces of cells
  std::vector<std::string> warnings;

  std::size_t components() const { return observables.size(); }
  /// Whether some channel is an amplitude, which is no linear function of the property.
  bool has_amplitudes() const {
    return std::any_of(rows.begin(), rows.end(), [](std::size_t n) { return n > 1; });
  }
};

/// Reads the channels of this kind that the survey has.  simulation: a table with the keys channels, frame,
/// units and singular. Throws InputError.
Observations read_observations(const FieldKind& kind, const Config& simulation, const Survey& survey);

}  // namespace terrane::gravity::inverse
