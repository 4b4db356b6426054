// Named arrays with dimensions: what physics return, and what is written to files.
//
// A data set has dimensions and variables on them, like NetCDF and xarray:
//
//   dimensions   station 3, frequency 2
//   coordinates  easting (station) [m], up (station) [m], frequency (frequency) [Hz]
//   variables    e_x (station, frequency) [V/m], complex
//
// Arrays are row-major: the last dimension is contiguous.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace terrane {

struct Dimension {
  std::string name;  ///< "station"
  std::size_t size = 0;
};

/// A text or a number that describes a variable or a data set: {"positive", "up"}, {"accuracy", 1e-9}.
struct Attribute {
  std::string name;
  std::variant<std::string, double> value;
};

/// The values of a variable; files store them with the same type.
using Values = std::variant<std::vector<double>, std::vector<float>, std::vector<std::complex<double>>,
                            std::vector<std::complex<float>>, std::vector<std::int32_t>,
                            std::vector<unsigned char>, std::vector<std::string>>;

/// Number of values.
std::size_t size(const Values& values);

/// The role of a variable in the run that made the data set: computed, given (observations, other columns of
/// the survey), their difference, or a flag for each value. Files do not store the role.
enum class VariableRole { computed, given, residual, mark };

struct Variable {
  std::string name;       ///< "g_u"
  std::string unit;       ///< "m/s2", "mGal", "1"; empty if the source did not state it
  std::string long_name;  ///< description in one phrase
  std::vector<std::string>
      dimensions;  ///< names of dimensions of the data set, outermost first; empty: a single value
  Values values;
  std::vector<Attribute> attributes;  ///< attributes besides unit and long_name
  VariableRole role = VariableRole::computed;
};

struct Dataset {
  std::vector<Dimension> dimensions;
  std::vector<Variable> coordinates;  ///< positions and times: written first; variables refer to them
  std::vector<Variable> variables;
  std::vector<Attribute> attributes;  ///< attributes of the data set: program, version, frame, the whole job

  /// Null if there is no dimension, or no variable, of that name; find() searches coordinates and variables.
  const Dimension* dimension(std::string_view name) const;
  const Variable* find(std::string_view name) const;
  Variable* find(std::string_view name);
  /// The text of an attribute of the data set; null if there is no such attribute, or if it is a number.
  const std::string* text(std::string_view attribute) const;

  /// The size of each of `variable`'s dimensions. Throws InputError (no such dimension).
  std::vector<std::size_t> shape(const Variable& variable) const;
  /// The values of a real variable. Throws InputError that lists the names of variables; ShapeError if it is
  /// not of type double.
  const std::vector<double>& real(std::string_view name) const;
};

/// Throws InputError: a name that is empty or occurs twice (an observed and a computed field must have
/// different names), an unknown dimension. Throws ShapeError: a variable whose number of values does not fit
/// its dimensions. header: allows variables without values.
void check(const Dataset& data, bool header = false);

}  // namespace terrane
