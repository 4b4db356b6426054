// Observed data at stations, and how they depend on a property of cells.
#pragma once

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
  std::string property;  ///< "density", "susceptibility"
  /// For the name of a channel: the value that a cell with one unit of the property causes, SI.
  std::function<Observable(std::string_view channel)> observable;
};

/// The data of all channels, in the frame and the unit of the result.
struct Observations {
  std::vector<ObservedColumn> columns;    ///< [channels] values, and uncertainties if the survey has them
  std::vector<std::string> descriptions;  ///< [channels]
  std::vector<Observable> observables;    ///< [channels] value due to a cell with one unit of the property
  std::vector<Column> others;             ///< the survey's other columns
  std::string property;
  std::string frame;
  double exponent = 2;  ///< exponent with which the fields decay, for depth and distance weights
  /// true: some channel is unbounded at a cell's edges, as gravity gradients and magnetic fields are
  bool steep = false;
  SingularPolicy singular = SingularPolicy::nan;  ///< what is done at stations on faces of cells
  std::vector<std::string> warnings;
};

/// Reads the channels of this kind that the survey has.  simulation: a table with the keys channels, frame,
/// units and singular. Throws InputError.
Observations read_observations(const FieldKind& kind, const Config& simulation, const Survey& survey);

}  // namespace terrane::gravity::inverse
