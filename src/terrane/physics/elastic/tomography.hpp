// Rock on a regular grid, as SPECFEM3D's files tomography_model.xyz have it:
//
//   ORIG_X ORIG_Y ORIG_Z END_X END_Y END_Z          m, z up
//   SPACING_X SPACING_Y SPACING_Z
//   NX NY NZ
//   VP_MIN VP_MAX VS_MIN VS_MAX RHO_MIN RHO_MAX
//   x y z v_P v_S ρ [Q_P Q_S]                       a line for each point: x fastest, then y, then z upward
//
// (SPECFEM3D Cartesian, user manual 4.0, "Using tomographic models"). Between points speeds and density are
// trilinear; outside the grid they are those at its edge; and they are kept between the limits of the header.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "terrane/physics/elastic/hexahedron.hpp"
#include "terrane/physics/elastic/medium.hpp"

namespace terrane::elastic {

class Tomography {
 public:
  /// Throws FileError, InputError with the line: a grid whose numbers do not agree, rock that cannot be.
  static Tomography read(const std::filesystem::path& file);
  static Tomography read(const std::string& name, std::string text);

  Medium at(const Vector& place) const;

 private:
  static constexpr std::size_t most = 5;  ///< v_P, v_S, ρ, Q_P, Q_S
  Vector origin_{}, spacing_{};
  std::array<std::size_t, 3> count_{};
  std::array<double, 6> limits_{};
  std::size_t columns_ = 3;
  std::vector<std::array<double, most>> values_;
  std::string name_;
};

}  // namespace terrane::elastic
