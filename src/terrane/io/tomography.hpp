// Rock on a regular grid, as SPECFEM3D's files tomography_model.xyz have it:
//
//   ORIG_X ORIG_Y ORIG_Z END_X END_Y END_Z          m, z up
//   SPACING_X SPACING_Y SPACING_Z
//   NX NY NZ
//   VP_MIN VP_MAX VS_MIN VS_MAX RHO_MIN RHO_MAX
//   x y z v_P v_S ρ [Q_P Q_S]                       a line for each point: x fastest, then y, then z upward
//
// (SPECFEM3D Cartesian, user manual 4.0, "Using tomographic models"). Files with the 21 constants of Hooke's
// law in place of speeds are refused.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

struct TomographyFile {
  static constexpr std::size_t most = 5;  ///< v_P, v_S, ρ, Q_P, Q_S
  std::array<double, 3> origin{}, spacing{};
  std::array<std::size_t, 3> count{};
  std::array<double, 6> limits{};  ///< least and greatest v_P, v_S and ρ
  std::size_t columns = 3;         ///< number of columns of properties: three or all five
  std::vector<std::array<double, most>> values;
};

/// Throws InputError with the line: a grid whose numbers do not agree, rock that cannot be.
TomographyFile read_tomography(TextReader& in);
/// Whether four lines of 6, 3, 3 and 6 numbers begin it, and lines of six or more follow.
bool begins_tomography(std::string_view head);
/// Its points.
Table to_table(const TomographyFile& grid);

}  // namespace terrane::io
