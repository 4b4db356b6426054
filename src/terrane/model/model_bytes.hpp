// Memory of a model.
#pragma once

#include "terrane/model/earth_model.hpp"

namespace terrane {

/// Bytes of a model's cells or prisms, and of their properties.
inline double bytes_of(const EarthModel& model) {
  const auto* cells = std::get_if<MeshCells>(&model.geometry);
  const auto each = static_cast<double>((cells == nullptr ? 6 : 0) + model.properties.size());
  return 8 * static_cast<double>(model.size()) * each + (cells == nullptr ? 0 : cells->cell.bytes());
}

}  // namespace terrane
