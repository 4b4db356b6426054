// Elastic properties on a regular grid, in the format of SPECFEM3D's files tomography_model.xyz:
//
//   ORIG_X ORIG_Y ORIG_Z END_X END_Y END_Z          m, z up
//   SPACING_X SPACING_Y SPACING_Z
//   NX NY NZ
//   VP_MIN VP_MAX VS_MIN VS_MAX RHO_MIN RHO_MAX
//   x y z v_P v_S ρ [Q_P Q_S]                       one line per point: x fastest, then y, then z upward
//
// (SPECFEM3D Cartesian, user manual 4.0, "Using tomographic models"). Files with 21 elastic constants instead
// of velocities are refused.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

struct TomographyFile {
  static constexpr std::size_t most = 5;  ///< largest number of properties: v_P, v_S, ρ, Q_P, Q_S
  std::array<double, 3> origin{}, spacing{};
  std::array<std::size_t, 3> count{};
  std::array<double, 6> limits{};  ///< minimum and maximum of v_P, v_S and ρ
  std::size_t columns = 3;         ///< number of property columns: three or all five
  std::vector<std::array<double, most>> values;
};

/// Throws InputError with the line: an inconsistent grid, physically impossible properties.
TomographyFile read_tomography(TextReader& in);
/// Whether the file begins with four lines of 6, 3, 3 and 6 numbers, followed by lines of six or more.
bool begins_tomography(std::string_view head);
/// The points of the grid.
Table to_table(const TomographyFile& grid);

}  // namespace terrane::io
