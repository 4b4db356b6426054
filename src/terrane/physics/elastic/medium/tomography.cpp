#include "terrane/physics/elastic/medium/tomography.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/physics/elastic/medium/media.hpp"

namespace terrane::elastic {

Tomography Tomography::read(const std::filesystem::path& file) {
  return read(file.string(), io::read_bytes(file.string()));
}

Tomography Tomography::read(const std::string& name, std::string text) {
  io::TextReader in(name, std::move(text));
  Tomography tomography;
  tomography.grid_ = io::read_tomography(in);
  tomography.name_ = name;
  return tomography;
}

Medium Tomography::at(const Vector& place) const {
  std::array<std::size_t, 3> low, high;
  Vector part;
  for (std::size_t d = 0; d < 3; ++d) {
    const double last = static_cast<double>(grid_.count[d] - 1),
                 x = std::clamp((place[d] - grid_.origin[d]) / grid_.spacing[d], 0.0, last);
    low[d] = static_cast<std::size_t>(x);
    high[d] = std::min(low[d] + 1, grid_.count[d] - 1);
    part[d] = x - static_cast<double>(low[d]);
  }
  std::array<double, most> v{};
  for (std::size_t corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::array<std::size_t, 3> at;
    for (std::size_t d = 0; d < 3; ++d) {
      const bool upper = corner >> d & 1;
      weight *= upper ? part[d] : 1 - part[d];
      at[d] = upper ? high[d] : low[d];
    }
    const auto& here = grid_.values[at[0] + grid_.count[0] * (at[1] + grid_.count[1] * at[2])];
    for (std::size_t k = 0; k < most; ++k) v[k] += weight * here[k];
  }
  for (std::size_t k = 0; k < 3; ++k) v[k] = std::clamp(v[k], grid_.limits[2 * k], grid_.limits[2 * k + 1]);
  const bool attenuates = grid_.columns == most && v[1] > 0;
  return medium_of(
      {v[0], v[1], v[2], attenuates ? v[3] : NAN, attenuates ? v[4] : NAN, NAN, NAN, 0, 0, 0, 0, 0}, name_);
}

}  // namespace terrane::elastic
