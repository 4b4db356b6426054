// Files of magnetotellurics: ModEM's lists of data and its models, and EDI.
//
// Data are tables with a row per site and frequency: easting, northing, up (m) or longitude, latitude
// (degree), frequency (Hz); impedance z_ee, z_en, z_ne, z_nn in ohm and tipper_e, tipper_n (H_u = T_e H_e +
// T_n H_n), each as NAME_real, NAME_imag and, where the file has errors, NAME_uncertainty; the names of sites
// as a column of words. Time e^{+iωt}. A gap is NaN.
//
// Files have x north, y east, z down, so xx is nn, xy is ne, yx is en, yy is ee, T_x = −T_n and T_y = −T_e;
// impedances in mV/km/nT, of which one is 4π/10⁴ ohm; and where they say e^{−iωt}, conjugates. Axes that lie
// otherwise are turned to north on reading, with the uncertainties of what is summed.
//
// What alters the meaning of numbers, and what is made of it:
//
//   EDI        LAT, LONG, LON, else REFLAT, REFLONG with X and Y of HX    the place; without them there is
//   none
//              ELEV, else REFELEV; UNITS of their sections (M, FT)        the height; without them there is
//              none EMPTY, words of stars                                      gaps ZROT, TROT, ROT=,
//              ROTSPEC, without them AZM of HX and HY   turned to north INFO that says exp(-...) conjugate
//              DATAID, else SECTID, else the name of the file             the site
//              >SPECTRA                                                   impedance and tipper
//              (edi_spectra.hpp) several sections of data, EMAP, UNITS of a block of Z      refused blocks
//              that are not read, numbers of another count         noted
//   ModEM      unit, time dependence, orientation, azimuths of a line     applied
//              latitudes and longitudes, or X and Y, that are 0 alone     no such place
//              blocks of 2-D, CSEM and other data, two-dimensional models named and refused
//              LOGE, LOG10, LINEAR; origin; rotation (0 alone)            applied, others refused
#pragma once

#include <array>
#include <complex>
#include <string>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

/// Blocks Full_Impedance, Off_Diagonal_Impedance and Full_Vertical_Components of a list; any units that they
/// name. Throws InputError: another block, axes that are turned, a component of another block.
Table read_modem_data(TextReader& in);
/// Writes impedances and tippers, whichever the table has; those without an uncertainty get 2e15, which gives
/// them no weight. Throws UnsupportedError: neither is there, or no frequency or places.
void write_modem_data(const std::string& path, const Table& table);
/// Columns that such a file does not hold. Throws as writing does.
std::vector<std::string> left_out_of_modem_data(const std::string& path, const Table& table);

/// A model of cells: property "resistivity" in ohm m. One without an origin has its middle at 0, 0 and its
/// top at 0.
MeshData read_modem_model(TextReader& in);
/// Writes resistivity, or conductivity, as natural logarithms. Throws UnsupportedError: it has neither.
void write_modem_model(const std::string& path, const MeshData& data);
void check_modem_model(const std::string& path, const MeshData& data);

/// One site: impedance and tipper with errors, turned to north. Columns of a place and of a height are there
/// only where the file gives them; attribute "note" says what was turned or not read. Throws InputError:
/// impedances of other lengths than the frequencies, several sections of data, axes that cannot be turned.
Table read_edi(TextReader& in);
/// One file of this name for one site; of several sites each has its own, with the site behind the name:
/// line_S001.edi. Throws UnsupportedError: there is no impedance; InputError: two sites, one name of a file.
void write_edi(const std::string& path, const Table& table);
std::vector<std::string> files_of_edi(const std::string& path, const Table& table);
std::vector<std::string> left_out_of_edi(const std::string& path, const Table& table);

namespace magnetotelluric {

/// One component of a transfer function: its names here and in files.
struct Element {
  const char* name;     ///< "z_ne"
  const char* in_list;  ///< "ZXY", of ModEM
  const char* in_edi;   ///< "ZXY"
  bool tipper;
  double sign;  ///< of the file's value
};
inline constexpr Element elements[6] = {
    {"z_ee", "ZYY", "ZYY", false, 1}, {"z_en", "ZYX", "ZYX", false, 1},   {"z_ne", "ZXY", "ZXY", false, 1},
    {"z_nn", "ZXX", "ZXX", false, 1}, {"tipper_e", "TY", "TY", true, -1}, {"tipper_n", "TX", "TX", true, -1}};
/// Ohm in one mV/km/nT: 4π/10⁴.
inline constexpr double practical = 4e-4 * 3.14159265358979323846;

/// Where the axes of a file lie: degrees clockwise from north.
struct Axes {
  double hx = 0, hy = 90, ex = 0, ey = 90;

  bool at_north() const { return hx == 0 && hy == 90 && ex == 0 && ey == 90; }
};
/// The components of a transfer function in a file, in the order of `elements`; error: standard deviations.
/// NaN: not there.
struct Transfer {
  std::array<std::complex<double>, 6> value;
  std::array<double, 6> error;
};
/// Turns to axes that point north and east. E' = P_E E and H' = P_H H, where the rows of P are the axes, and
/// E' = Z' H', H_z = T' H': so Z = P_E⁻¹ Z' P_H and T = T' P_H; variances are summed with squares of the same
/// factors. A component whose factor is 0 may be missing. Throws InputError at `where`: axes that are less
/// than 10 degrees apart.
Transfer to_north(const Transfer& turned, const Axes& axes, const std::string& where);

/// The columns of a table that such a file needs, found by name.
struct Rows {
  const Column *easting, *northing, *up, *longitude, *latitude, *frequency;
  struct Parts {
    const Column *real, *imag, *uncertainty;
  };
  Parts elements[6];
  std::vector<std::string> sites;        ///< names of the sites
  std::vector<std::size_t> site_of_row;  ///< their numbers

  bool impedance() const { return elements[1].real && elements[2].real; }
  bool tipper() const { return elements[4].real && elements[5].real; }
};
/// Throws UnsupportedError at `path`.
Rows rows_of(const std::string& path, const std::string& format, const Table& table);
std::vector<std::string> not_in(const Rows& rows, const Table& table);

}  // namespace magnetotelluric

}  // namespace terrane::io
