// UBC-GIF files: tensor meshes, cell models, GRAV3D, GG3D and MAG3D observations.
//
// The mesh file gives the TOP south-west corner and lists thicknesses from the top down; model values vary
// fastest downwards, then along east, then north. Gravity is in mGal, positive down; gradients are in Eötvös
// with x north, y east, z down. Readers convert to Terrane's order and axes (easting, northing, up; g_u is
// negative above a dense body).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"
#include "terrane/survey/convention.hpp"

namespace terrane::io {

/// A tensor mesh; if it may be an octree, use ubc_octree.hpp.
TensorMesh read_ubc_mesh(TextReader& in);
TensorMesh read_ubc_mesh(const std::string& path);
void write_ubc_mesh(const std::string& path, const TensorMesh& mesh);

/// Values [up, north, east] in the unit of the file (density: g/cm³).
std::vector<double> read_ubc_model(TextReader& in, const TensorMesh& mesh);
/// Values of a model for a mesh file `on`; if that had an octree, one number for each octree cell.
std::vector<double> read_ubc_model(TextReader& in, const MeshData& on);
/// One property in SI units: density is in g/cm3 in the file, other properties in SI. Cells of air (-100) get
/// the property's default; for density that is 0.
MeshData read_ubc_property(TextReader& in, const MeshData& on, std::string_view property = "density");
MeshData read_ubc_property(const std::string& path, const TensorMesh& mesh,
                           std::string_view property = "density");
void write_ubc_property(const std::string& path, const MeshData& data, std::string_view property = "density");
/// Throws what writing would throw; columns may be without values.
void check_ubc_property(const std::string& path, const MeshData& data, std::string_view property = "density");

/// The weights W.S, W.E, W.N and W.Z: of cells, and of the faces between cells along each axis. The weight of
/// a face is stored at the cell on its west, south or lower side; 1 where there is no face.  [4][cells of the
/// mesh]
std::array<std::vector<double>, 4> read_ubc_weights(const std::string& path, const TensorMesh& mesh);
std::array<std::vector<double>, 4> read_ubc_weights(TextReader& in, const TensorMesh& mesh);

/// The channels of these files, g_u and the six gradients, with Terrane's names (enu) and those of the files
/// (ubc).
const Conventions& names_in_ubc_files();

/// Columns easting, northing, up (m) and, if the file has them, g_u (mGal) = -gz and g_u_uncertainty (mGal).
Table read_ubc_gravity(TextReader& in);
Table read_ubc_gravity(const std::string& path);
/// Writes one column of gravity: `field` if it is given, else computed g_u, else g_u_observed with its
/// uncertainty. The table's attribute "frame" names one of the frames in `known`. Writes locations only if
/// the table has no channel or the path is *.loc.  Throws UnsupportedError if the table has channels but not
/// this one.
void write_ubc_gravity(const std::string& path, const Table& table, std::string_view field = {},
                       const Conventions& known = names_in_ubc_files());
/// The columns of channels that a file of gravity data does not hold. Throws what writing would throw.
std::vector<std::string> left_out_of_ubc_gravity(const std::string& path, const Table& table,
                                                 std::string_view field = {},
                                                 const Conventions& known = names_in_ubc_files());

/// Columns easting, northing, up (m) and the gradient components in the file (E), each with _uncertainty if
/// given: xx → g_nn, yy → g_ee, zz → g_uu, xy → g_en, xz → -g_nu, yz → -g_eu. Files with locations only, as
/// GG3D uses them, have three numbers per line.
Table read_ubc_gradient(TextReader& in);
Table read_ubc_gradient(const std::string& path);
void write_ubc_gradient(const std::string& path, const Table& table, std::string_view field = {},
                        const Conventions& known = names_in_ubc_files());
std::vector<std::string> left_out_of_ubc_gradient(const std::string& path, const Table& table,
                                                  std::string_view field = {},
                                                  const Conventions& known = names_in_ubc_files());

/// Columns easting, northing, up (m); tmi, and b_e, b_n, b_u for data along an axis (nT), each with
/// _uncertainty if given; and the main field stated in the file: main_field_intensity (nT),
/// main_field_inclination, main_field_declination (degrees), the same in every row. Consecutive data at one
/// position belong to one station; NaN if it has no value of a channel. Throws InputError if data are along
/// another direction.
Table read_ubc_magnetic(TextReader& in);
/// Whether the first bytes are those of a MAG3D file of observations: two lines with a direction and a
/// number, then a count.
bool begins_ubc_magnetic(std::string_view head);
Table read_ubc_magnetic(const std::string& path);

}  // namespace terrane::io
