// Laws between properties: one property computed from another, with the derivative and the publication.
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

/// A constant that a law needs beside the property: of the water in the pores, of the grains.
struct LawParameter {
  std::string_view name;  ///< "water"
  double value = 0;       ///< the usual value of the parameter, SI
  std::string_view unit;
  std::string_view meaning;
};
using LawParameters = std::array<LawParameter, 3>;  ///< those without a name are not used

/// y = value(x), SI on both sides.
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
  }  ///< sensitivities to x from those to y
};

/// All laws. A new law is one row.
std::span<const Law> laws();

/// "density from velocity_p by gardner", and the parameters with their usual values:
/// "resistivity from porosity by archie with water = 0.3, cementation = 2".
std::string text_of(const Law& law);

/// The law that such a text names; parameters that it does not give have the usual values. Throws InputError
/// at `where`.
Law law_from_text(std::string_view text, const std::string& where = "model.maps");

/// Computes the law's property in cells that have no value of it yet. Cells without a value of law.from stay
/// without, and so do those of `except` (empty: none). Returns how many values lay outside the range of the
/// law. Throws InputError when the model has no law.from.
std::size_t apply(const Law& law, EarthModel& model, const std::vector<bool>& except = {});

}  // namespace terrane
