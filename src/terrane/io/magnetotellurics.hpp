// Files of magnetotellurics: ModEM's data lists and models, and EDI.
//
// Data are tables with one row per site and frequency: easting, northing, up (m) or longitude, latitude
// (degree); frequency (Hz); impedance z_ee, z_en, z_ne, z_nn in ohm; and tipper_e, tipper_n (H_u = T_e H_e +
// T_n H_n). Each element has columns NAME_real, NAME_imag and, if the file has errors, NAME_uncertainty; a
// text column has the names of sites. The time dependence is e^{+iωt}. NaN marks a gap.
//
// In files x is north, y east and z down, so xx is nn, xy is ne, yx is en, yy is ee, T_x = −T_n and T_y =
// −T_e. Impedances are in mV/km/nT (one is 4π/10⁴ ohm); if a file has e^{−iωt}, values are conjugated. Axes
// in other directions are rotated to north on reading, with propagated uncertainties.
//
// Keywords that change the meaning of numbers, and their use:
//
//   EDI        LAT, LONG, LON, or else REFLAT, REFLONG
//              with X and Y of HX                             position; without them there is none
//              ELEV, or else REFELEV; UNITS (M, FT)           height; without them there is none
//              EMPTY, words of stars                          gaps
//              ZROT, TROT, ROT=, ROTSPEC,
//              without these AZM of HX and HY                 rotated to north; lines of E must agree
//              exp(-...), e^-, SIGNCONVENTION and the like    conjugated; both signs: refused
//              DATUM                                          noted unless near WGS84
//              DATAID, or else SECTID, or else the file name  site
//              >SPECTRA                                       impedance and tipper (edi_spectra.hpp)
//              several data sections, EMAP, UNITS of a Z block      refused
//              blocks that are not read, wrong counts of numbers    noted
//   ModEM      units, time dependence, azimuths                     applied
//              orientation of a block                               refused unless 0
//              latitudes and longitudes, or X and Y, all 0          no positions
//              a datum twice, a site at two places, errors < 0      refused
//              numbers of periods and sites, no origin of a model   noted
//              2-D, CSEM and other data, 2-D models                 refused with their names
//              LOGE, LOG10, LINEAR; origin; rotation (only 0)       applied, others refused
#pragma once

#include <array>
#include <complex>
#include <string>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

/// Reads the blocks Full_Impedance, Off_Diagonal_Impedance and Full_Vertical_Components of a data list, with
/// any units that they state. Throws InputError: another block, an orientation of a block other than 0, a
/// component that does not belong to its block.
Table read_modem_data(TextReader& in);
/// Writes impedances and tippers if the table has them; values without an uncertainty get 2e15, which gives
/// them no weight. Throws UnsupportedError: neither of them, no frequency, or no positions.
void write_modem_data(const std::string& path, const Table& table);
/// The columns that a ModEM data list does not hold. Throws what writing would throw.
std::vector<std::string> left_out_of_modem_data(const std::string& path, const Table& table);

/// Reads the cells of a model, with the property "resistivity" in ohm m. A model without an origin has the
/// centre of its top at 0, 0, 0.
MeshData read_modem_model(TextReader& in);
/// Writes resistivity or conductivity as natural logarithms. Throws UnsupportedError if the model has
/// neither.
void write_modem_model(const std::string& path, const MeshData& data);
void check_modem_model(const std::string& path, const MeshData& data);

/// Reads one site: impedance and tipper with errors, rotated to north. There are columns for position and
/// height only if the file gives them; attribute "note" says what was rotated or not read. Throws InputError:
/// different numbers of impedances and frequencies, several data sections, axes that cannot be rotated.
Table read_edi(TextReader& in);
/// Writes one site to a file of this name. Of several sites each gets its own file, with the site appended to
/// the name: line_S001.edi. Throws UnsupportedError: no impedance; InputError: two sites whose files would
/// have the same name.
void write_edi(const std::string& path, const Table& table);
std::vector<std::string> files_of_edi(const std::string& path, const Table& table);
std::vector<std::string> left_out_of_edi(const std::string& path, const Table& table);

namespace magnetotelluric {

/// One element of a transfer function: its names in Terrane and in files.
struct Element {
  const char* name;     ///< "z_ne"
  const char* in_list;  ///< name in ModEM's lists: "ZXY"
  const char* in_edi;   ///< name in EDI files: "ZXY"
  bool tipper;
  double sign;  ///< factor from the file's value to Terrane's
};
inline constexpr Element elements[6] = {
    {"z_ee", "ZYY", "ZYY", false, 1}, {"z_en", "ZYX", "ZYX", false, 1},   {"z_ne", "ZXY", "ZXY", false, 1},
    {"z_nn", "ZXX", "ZXX", false, 1}, {"tipper_e", "TY", "TY", true, -1}, {"tipper_n", "TX", "TX", true, -1}};
/// The impedance 1 mV/km/nT in ohm: 4π/10⁴.
inline constexpr double practical = 4e-4 * 3.14159265358979323846;

/// Directions of the axes of a file, degrees clockwise from north.
struct Axes {
  double hx = 0, hy = 90, ex = 0, ey = 90;

  bool at_north() const { return hx == 0 && hy == 90 && ex == 0 && ey == 90; }
};
/// The elements of a transfer function in a file, in the order of `elements`; error: standard deviations.
/// NaN: missing.
struct Transfer {
  std::array<std::complex<double>, 6> value;
  std::array<double, 6> error;
};
/// Rotates to axes that point north and east. Along the axes of the file, the rows of P_E and P_H, fields are
/// E' = P_E E and H' = P_H H. With E' = Z' H' and H_z = T' H', the rotated impedance and tipper are
/// Z = P_E⁻¹ Z' P_H and T = T' P_H; variances are multiplied by the squares of the same factors. An
/// element whose factor is 0 may be missing. Throws InputError with the location `where`: axes that are less
/// than 10 degrees apart.
Transfer to_north(const Transfer& turned, const Axes& axes, const std::string& where);

/// The columns of a table that files of magnetotelluric data need.
struct Rows {
  const Column *easting, *northing, *up, *longitude, *latitude, *frequency;
  struct Parts {
    const Column *real, *imag, *uncertainty;
  };
  Parts elements[6];
  std::vector<std::string> sites;        ///< names of the sites
  std::vector<std::size_t> site_of_row;  ///< [rows] index of the site

  bool impedance() const { return elements[1].real && elements[2].real; }
  bool tipper() const { return elements[4].real && elements[5].real; }
};
/// Throws UnsupportedError with the location `path`.
Rows rows_of(const std::string& path, const std::string& format, const Table& table);
std::vector<std::string> not_in(const Rows& rows, const Table& table);

}  // namespace magnetotelluric

}  // namespace terrane::io
