// Arrays of electrodes and what they measured, in files of other programs and as tables.
//
//   UBC DCIP    blocks of a current pair and its potential pairs: DCIP3D with and without heights, DCIP2D
//   along
//               x, and with heights after a word such as COMMON_CURRENT; or an array a line (4 places and
//               what was measured); an electrode that stands twice is far away. One value of each array.
//   BERT        pyGIMLi's and BERT's unified format (.ohm, .dat): a list of electrodes, then arrays by their
//               numbers, 0 far away, with named columns: r, rhoa, ip and k are read and written; ip is a
//               phase, and with the unit mV/V, V/V or % a chargeability, which is read alone
//
// As a table an array is a row with columns a_easting, a_northing, a_up and so for b, m and n, empty where an
// electrode is far away; values that were measured are NAME_observed and NAME_uncertainty, computed ones
// NAME.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"
#include "terrane/survey/electrodes.hpp"

namespace terrane::io {

/// A quantity with a value for each array; NaN where the file has none.
struct ElectrodeColumn {
  /// "resistance" V/A, "apparent_resistivity" ohm m, "chargeability" mV/V, "phase" mrad, or
  /// "geometric_factor" m
  std::string name, unit;
  std::vector<double> values, uncertainty;  ///< uncertainty: of the same unit; empty where not given
};

struct ElectrodeData {
  electric::Electrodes electrodes;  ///< a height of NaN: on the ground
  std::vector<ElectrodeColumn> columns;
  std::string note = {};  ///< what the file has that was not used as it may be intended; several lines

  const ElectrodeColumn* find(const std::string& name) const;
};

/// The quantity of one column of a UBC file; empty: chargeability in files of IPTYPE=1, in mV/V, else
/// resistance. With "chargeability" the column ip of a BERT file without a unit is that, too.
struct UbcColumn {
  std::string name, unit;
};

/// Throws InputError with the line, also for secondary potentials (IPTYPE=2).
ElectrodeData read_ubc_dcip(TextReader& in, const UbcColumn& column = {});
/// Columns of electrodes by their names (x east, y north, z up; without names x, x z, x y z). Throws
/// InputError: a count is missing or wrong, something stands behind the last thing read.
ElectrodeData read_bert(TextReader& in, const UbcColumn& column = {});

/// Reads a file that is known to hold arrays; its first lines tell the format: a table, also with the columns
/// XA, YA, ZA, XB, ..., V/A, RHOA; BERT, UBC DCIP, Res2dinv or Syscal.
ElectrodeData read_arrays(TextReader& in, const UbcColumn& column = {});

/// The number of first bytes that tell formats apart; a head with fewer is the whole file.
inline constexpr std::size_t head_bytes = 4096;

/// Whether the first bytes can be of this format only.
bool begins_ubc_dcip(std::string_view head);
bool begins_bert(std::string_view head);

/// The first column of `data`, resistance or chargeability, in the general format, with heights; arrays
/// without a value are left out. Throws FileError; UnsupportedError: another column; InputError: an infinite
/// value, a value without an uncertainty beside others with one, no array left.
void write_ubc_dcip(const std::string& path, const ElectrodeData& data);
/// All columns, with relative uncertainties; "nan" where there is no value. Throws FileError;
/// InputError: an infinite value, a value of 0 with an uncertainty.
void write_bert(const std::string& path, const ElectrodeData& data);

Table to_table(const ElectrodeData& data);

enum class TakenValues { observed, computed };
/// The arrays of a table, in which the columns of b, of n and of heights may be missing. observed: takes
/// measured values; computed: those of a run, and, for each name without them, the measured ones. Equal
/// places are one electrode. Throws InputError with the line.
ElectrodeData to_electrode_data(const Table& table, TakenValues taken);

/// Writes a table as such a file; field: the column for a UBC file, or empty for resistance, else
/// chargeability. Electrodes are sorted from west to east, then from south to north, then downwards. Throws
/// also UnsupportedError: the table has no arrays, or no such column.
void write_bert_rows(const std::string& path, const Table& table);
void write_ubc_dcip_rows(const std::string& path, const Table& table, const std::string& field);
/// Columns that such a file does not hold, and how many arrays are left out; columns need no values here.
/// Throws as writing does.
std::vector<std::string> left_out_of_bert(const std::string& path, const Table& table);
std::vector<std::string> left_out_of_ubc_dcip(const std::string& path, const Table& table,
                                              const std::string& field);

}  // namespace terrane::io
