#include "terrane/io/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

std::vector<double> even_axis(double low, double high, std::size_t n) {
  std::vector<double> axis(n);
  for (std::size_t i = 0; i < n; ++i)
    axis[i] = i == 0       ? low
              : i + 1 == n ? high
                           : low + (high - low) * (static_cast<double>(i) / static_cast<double>(n - 1));
  return axis;
}

double even_spacing(const std::string& path, const std::string& name, const std::vector<double>& axis) {
  if (axis.size() < 2)
    throw InputError(
        path, fmt::format("the grid has {} node along {}, and this format needs two", axis.size(), name),
        "Write NetCDF or CSV.");
  const double spacing = (axis.back() - axis.front()) / static_cast<double>(axis.size() - 1);
  for (std::size_t i = 0; i < axis.size(); ++i)
    if (!(std::abs(axis[i] - axis.front() - spacing * static_cast<double>(i)) <= 1e-6 * spacing))
      throw InputError(
          path, fmt::format("the nodes along {} are not evenly spaced, and this format needs that", name),
          "Write NetCDF, VTK or CSV.");
  return spacing;
}

const Column& one_field(const std::string& path, const GridData& grid, const std::string& field) {
  const Column* found = nullptr;
  std::vector<std::string_view> names;
  std::size_t candidates = 0;
  for (const auto& f : grid.fields) {
    names.push_back(f.name);
    if (field.empty() ? f.name != "up" || grid.fields.size() == 1 : f.name == field) found = &f, ++candidates;
  }
  if (candidates == 1) return *found;
  throw InputError(path,
                   field.empty()
                       ? fmt::format("this format holds one field, and there are {}", candidates)
                       : fmt::format("there is no field \"{}\".{}", field, did_you_mean(field, names)),
                   "Name one of: " + joined(names) + ".");
}

std::size_t make_gaps(std::vector<double>& values, double missing) {
  if (std::isnan(missing)) return 0;
  constexpr double no_measurement = 1e30;
  constexpr int fewest_digits = 6, all_digits = 17;
  std::vector<double> same{missing};
  for (int digits = fewest_digits; digits < all_digits; ++digits) {
    double printed = missing;
    if (parse_number(fmt::format("{:.{}g}", missing, digits), printed) &&
        std::find(same.begin(), same.end(), printed) == same.end())
      same.push_back(printed);
  }
  const auto single = [](double v) {
    return std::abs(v) <= static_cast<double>(std::numeric_limits<float>::max()) ? static_cast<float>(v)
                                                                                 : INFINITY;
  };
  const float missing_single = single(missing);
  const bool huge = std::abs(missing) >= no_measurement;
  std::size_t gaps = 0;
  for (double& v : values) {
    const bool gap = std::find(same.begin(), same.end(), v) != same.end() || single(v) == missing_single ||
                     (huge && std::abs(v) >= no_measurement && std::signbit(v) == std::signbit(missing));
    if (gap) v = nan, ++gaps;
  }
  return gaps;
}

std::string stem(const std::string& path, const std::string& otherwise) {
  const auto slash = path.find_last_of('/');
  const auto name = slash == std::string::npos ? path : path.substr(slash + 1);
  const auto part = name.substr(0, name.find('.'));
  return part.empty() ? otherwise : part;
}

}  // namespace terrane::io
