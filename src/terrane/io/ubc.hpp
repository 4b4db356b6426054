// UBC-GIF files: tensor meshes, cell models, GRAV3D, GG3D and MAG3D observations.
//
// The mesh file names its TOP south-west corner and lists thicknesses from the top down; model values run
// down first, then east, then north. Gravity is in mGal, positive down; gradients are in Eötvös with x north,
// y east, z down. Readers return Terrane's order and axes (easting, northing, up; g_u negative above a dense
// body).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"
#include "terrane/survey/convention.hpp"

namespace terrane::io {

/// A tensor mesh; for one that may be an octree: ubc_octree.hpp.
TensorMesh read_ubc_mesh(TextReader& in);
TensorMesh read_ubc_mesh(const std::string& path);
void write_ubc_mesh(const std::string& path, const TensorMesh& mesh);

/// Values [up, north, east] as in the file (density: g/cm³).
std::vector<double> read_ubc_model(TextReader& in, const TensorMesh& mesh);
/// Values of a model on a mesh file; where that has an octree, a number for each of its cells.
std::vector<double> read_ubc_model(TextReader& in, const MeshData& on);
/// One property in SI units: a file of densities is in g/cm3, one of another property in SI. Cells of air
/// (-100) get the property's default: density 0.
MeshData read_ubc_property(TextReader& in, const MeshData& on, std::string_view property = "density");
MeshData read_ubc_property(const std::string& path, const TensorMesh& mesh,
                           std::string_view property = "density");
void write_ubc_property(const std::string& path, const MeshData& data, std::string_view property = "density");
/// Throws what writing would throw; columns need no values.
void check_ubc_property(const std::string& path, const MeshData& data, std::string_view property = "density");

/// Weights of W.S, W.E, W.N and W.Z: of cells, and of the faces between them, which stand at the cell on
/// their west, south or lower side; 1 where there is no face.  [4][cells of the mesh]
std::array<std::vector<double>, 4> read_ubc_weights(const std::string& path, const TensorMesh& mesh);
std::array<std::vector<double>, 4> read_ubc_weights(TextReader& in, const TensorMesh& mesh);

/// The channels of these files, g_u and the six gradients, as Terrane calls them (enu) and as the files do
/// (ubc).
const Conventions& names_in_ubc_files();

/// Columns easting, northing, up (m) and, where there, g_u (mGal) = -gz and g_u_uncertainty (mGal).
Table read_ubc_gravity(TextReader& in);
Table read_ubc_gravity(const std::string& path);
/// The table may be in any frame of `known` that its attribute "frame" names; with `field` that column is
/// written. g_u where it was computed, else g_u_observed with its uncertainty; locations alone when the table
/// has no channel, or for a path *.loc.  Throws UnsupportedError when the table has channels and not this
/// one.
void write_ubc_gravity(const std::string& path, const Table& table, std::string_view field = {},
                       const Conventions& known = names_in_ubc_files());
/// Columns of other channels, which such a file would not hold. Throws what writing would throw.
std::vector<std::string> left_out_of_ubc_gravity(const std::string& path, const Table& table,
                                                 std::string_view field = {},
                                                 const Conventions& known = names_in_ubc_files());

/// Columns easting, northing, up (m) and the gradient components listed (E), each with _uncertainty where
/// there: xx → g_nn, yy → g_ee, zz → g_uu, xy → g_en, xz → -g_nu, yz → -g_eu. Locations alone, as GG3D takes
/// them, have three numbers per line.
Table read_ubc_gradient(TextReader& in);
Table read_ubc_gradient(const std::string& path);
void write_ubc_gradient(const std::string& path, const Table& table, std::string_view field = {},
                        const Conventions& known = names_in_ubc_files());
std::vector<std::string> left_out_of_ubc_gradient(const std::string& path, const Table& table,
                                                  std::string_view field = {},
                                                  const Conventions& known = names_in_ubc_files());

/// Columns easting, northing, up (m), tmi, and b_e, b_n, b_u where data are along an axis, each with
/// _uncertainty where there (nT), and the main field that the file names: main_field_intensity (nT),
/// main_field_inclination, main_field_declination (degrees), the same in every row. Data of one place that
/// follow one another are those of one station; NaN where it has none of a channel. Throws InputError where
/// data are along another direction.
Table read_ubc_magnetic(TextReader& in);
/// Whether first bytes are those of such a file: two lines of a direction and a number, then a count.
bool begins_ubc_magnetic(std::string_view head);
Table read_ubc_magnetic(const std::string& path);

}  // namespace terrane::io
