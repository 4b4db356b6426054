// Named arrays: what a physics returns, and what is written to files.
//
// A data set has dimensions, and variables on them, as NetCDF and xarray have:
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

/// Words or a number about a variable or a data set: {"positive", "up"}, {"accuracy", 1e-9}.
struct Attribute {
  std::string name;
  std::variant<std::string, double> value;
};

/// The values of a variable; their type is that of the variable in files.
using Values = std::variant<std::vector<double>, std::vector<float>, std::vector<std::complex<double>>,
                            std::vector<std::complex<float>>, std::vector<std::int32_t>,
                            std::vector<unsigned char>, std::vector<std::string>>;

/// How many values there are.
std::size_t size(const Values& values);

/// The role of a variable in the run that made the data set: computed, given (observations, other columns of
/// a survey), the difference of both, or a mark on values. Files do not keep it.
enum class VariableRole { computed, given, residual, mark };

struct Variable {
  std::string name;       ///< "g_u"
  std::string unit;       ///< "m/s2", "mGal", "1"; empty when the source did not say
  std::string long_name;  ///< a phrase for readers
  std::vector<std::string>
      dimensions;  ///< names of the data set's dimensions, outermost first; none: one value
  Values values;
  std::vector<Attribute> attributes;  ///< beside unit and long_name
  VariableRole role = VariableRole::computed;
};

struct Dataset {
  std::vector<Dimension> dimensions;
  std::vector<Variable> coordinates;  ///< where and when: written before the variables, and named by them
  std::vector<Variable> variables;
  std::vector<Attribute> attributes;  ///< program, version, frame, the whole job

  /// Null when there is none of that name; find() looks at coordinates and variables.
  const Dimension* dimension(std::string_view name) const;
  const Variable* find(std::string_view name) const;
  Variable* find(std::string_view name);
  /// Null when there is none, or when it is a number.
  const std::string* text(std::string_view attribute) const;

  /// The size of each of `variable`'s dimensions. Throws InputError (no such dimension).
  std::vector<std::size_t> shape(const Variable& variable) const;
  /// The values of a real variable. Throws InputError that lists the names; ShapeError when it is not double.
  const std::vector<double>& real(std::string_view name) const;
};

/// Throws InputError: a name that is empty or there twice (an observed and a computed field never share a
/// name), a dimension that is not there. Throws ShapeError: a variable whose values its dimensions do not
/// hold. `header`: variables may still be without values.
void check(const Dataset& data, bool header = false);

}  // namespace terrane
