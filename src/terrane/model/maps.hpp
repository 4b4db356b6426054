// Laws between properties: what one says about another, with its derivative and where it was published.
//
//   maps = ["density from velocity_p by gardner"]
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/model/earth_model.hpp"

namespace terrane {

/// y = value(x), SI on both sides.
struct Law {
  std::string_view name;      ///< "gardner"
  std::string_view to, from;  ///< properties: "density", "velocity_p"
  double (*value)(double);
  double (*derivative)(double);  ///< dy/dx: sensitivities to x from those to y
  double least, most;            ///< of x, where the law was fitted or makes sense
  std::string_view formula;      ///< in the units of the source
  std::string_view source;
};

/// All laws. A new law is one row.
std::span<const Law> laws();

/// The law that "density from velocity_p by gardner" names. Throws InputError at `where`.
const Law& law_from_text(std::string_view text, const std::string& where = "model.maps");

/// Adds the property that the law gives, or puts it where the model has no value of it yet. Cells without a
/// value of law.from stay without. Returns how many values lay outside what the law was made for. Throws
/// InputError when the model has no law.from.
std::size_t apply(const Law& law, EarthModel& model);

}  // namespace terrane
