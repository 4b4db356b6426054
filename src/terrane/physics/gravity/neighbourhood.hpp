// Whether stations and a model are near each other. A field is negligible at a distance of a hundred times
// the size of the model; if all stations are so far away, their coordinates or those of the model are most
// often wrong, in another projection for example.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "terrane/mesh/prism.hpp"
#include "terrane/model/earth_model.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane::gravity {

/// The box around all prisms, or the mesh.
inline Prism box_around(const EarthModel& model) {
  if (const auto* cells = std::get_if<MeshCells>(&model.geometry)) return cells->mesh.bounds();
  const auto& p = std::get<PrismSet>(model.geometry);
  if (p.size() == 0) return {};
  const auto least = [](const auto& v) { return *std::min_element(v.begin(), v.end()); };
  const auto most = [](const auto& v) { return *std::max_element(v.begin(), v.end()); };
  return {least(p.west), most(p.east), least(p.south), most(p.north), least(p.bottom), most(p.top)};
}

/// A warning if the nearest station is farther from the model than a hundred times the extent of the model or
/// of the survey, whichever is larger; nothing otherwise.
inline std::optional<std::string> far_apart(const EarthModel& model, const Survey& survey) {
  if (model.size() == 0 || survey.size() == 0) return std::nullopt;
  const Prism box = box_around(model);
  const auto outside = [](double at, double low, double high) {
    return std::max({low - at, at - high, 0.0});
  };
  double nearest = INFINITY;
  for (std::size_t n = 0; n < survey.size(); ++n)
    nearest = std::min(nearest, std::hypot(outside(survey.easting[n], box.west, box.east),
                                           outside(survey.northing[n], box.south, box.north)));
  const auto spread = [](const auto& v) {
    const auto [low, high] = std::minmax_element(v.begin(), v.end());
    return *high - *low;
  };
  const double extent = std::max({box.east - box.west, box.north - box.south, box.top - box.bottom,
                                  spread(survey.easting), spread(survey.northing)});
  if (!(nearest > 100 * extent)) return std::nullopt;
  return fmt::format(
      "the nearest station is {:.3g} m from the model, which is {:.3g} m large: are the coordinates of "
      "both of one projection?",
      nearest, extent);
}

}  // namespace terrane::gravity
