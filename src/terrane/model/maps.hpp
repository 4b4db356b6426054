// Laws between properties: one property computed from another, with the derivative and the literature
// reference.
//
//   maps = ["density from velocity_p by gardner", "resistivity from porosity by archie with water = 0.5"]
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/model/earth_model.hpp"

namespace terrane {

/// A constant of a law, such as a property of the pore water or of the grains.
struct LawParameter {
  std::string_view name;  ///< "water"
  double value = 0;       ///< default value, SI
  std::string_view unit;
  std::string_view meaning;
};
using LawParameters = std::array<LawParameter, 3>;  ///< unused ones have no name

/// A law y = value(x): x is the property `from`, y the property `to`, both in SI units.
struct Law {
  std::string_view name;      ///< "gardner"
  std::string_view to, from;  ///< properties: "density", "velocity_p"
  double (*formula_of)(double, const LawParameters&);
  double (*derivative_of)(double, const LawParameters&);
  double least, most;        ///< range of x in which the law was fitted or makes sense
  std::string_view formula;  ///< the formula in the units of the publication
  std::string_view source;
  LawParameters parameters = {};

  double value(double x) const { return formula_of(x, parameters); }
  double derivative(double x) const {
    return derivative_of(x, parameters);
  }  ///< factor that converts sensitivities to y into sensitivities to x
};

/// All laws. A new law is one row.
std::span<const Law> laws();

/// The text of a law, with the default values of its parameters: "density from velocity_p by gardner",
/// "resistivity from porosity by archie with water = 0.3, cementation = 2".
std::string text_of(const Law& law);

/// The law that a text names; parameters that the text does not give have their default values. Throws
/// InputError with the location `where`.
Law law_from_text(std::string_view text, const std::string& where = "model.maps");

/// Computes the property law.to in cells that have no value of it, nor of in_other_words(), except in cells
/// without one of law.from and those marked in `except` [cells] (empty: none). Returns how many values of
/// law.from were outside the range of the law. Throws InputError if the model has no law.from.
std::size_t apply(const Law& law, EarthModel& model, const std::vector<bool>& except = {});

}  // namespace terrane
