// What was observed, and how it depends on the model: the part of an inversion that knows which physics it
// is.
#pragma once

#include <string>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"
#include "terrane/survey/observed.hpp"

namespace terrane::inversion {

/// Data of one kind, in the frame and the unit of the result.
struct Observation {
  ObservedColumn column;           ///< the values, and their uncertainties where the survey has them
  std::string description;         ///< of the field
  gravity::Observable observable;  ///< its value, in that unit, of a cell with one unit of the property
};

struct Observations {
  std::vector<Observation> kinds;
  std::vector<Column> others;  ///< the survey's other columns
  std::string property;        ///< "density", "susceptibility"
  std::string frame;
  double exponent = 2;  ///< with which the fields decay: of depth and distance weights
  gravity::SingularPolicy singular = gravity::SingularPolicy::nan;  ///< at stations on faces of cells
  std::vector<std::string> warnings;
};

/// Keys of [simulation] that tell the physics, its frame and what else its data need.
std::span<const Key> keys_of_observations(std::string_view physics);

/// Channels of the physics ("gravity", "magnetic") that the survey has. simulation: described with its keys
/// among its own. Throws InputError.
Observations read_observations(std::string_view physics, const Config& simulation, const Survey& survey);

}  // namespace terrane::inversion
