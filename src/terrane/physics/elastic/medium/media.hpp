// Makes media from named properties: velocity_p, velocity_s (zero: a fluid), density; for anisotropic media
// epsilon, delta, gamma, tilt and tilt_azimuth; for attenuating media quality_….
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "terrane/model/earth_model.hpp"
#include "terrane/physics/elastic/element/medium.hpp"

namespace terrane::elastic {

/// Properties of one medium, in the units of model/properties.hpp; NaN if not given.
struct MediumValues {
  double velocity_p, velocity_s, density;
  double quality_p, quality_s, quality_kappa, quality_mu;
  double epsilon, delta, gamma, tilt, tilt_azimuth;
};
/// Throws InputError at `where`: no speeds or density; anisotropy in a fluid or with a Q; no real C_13; two
/// Q.
Medium medium_of(const MediumValues& values, const std::string& where);

/// The media of an earth model on a mesh of cells, and the index of each cell's medium.
struct CellMedia {
  std::vector<Medium> media;
  std::vector<std::uint32_t> medium;  ///< [cells] index in `media`
};
CellMedia media_of(const EarthModel& model, const std::string& where);

}  // namespace terrane::elastic
