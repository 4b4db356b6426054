// Electrode arrays and their data, in files of other programs and as tables.
//
//   UBC DCIP    blocks of a current pair and its potential pairs: DCIP3D with and without heights, DCIP2D
//               with x alone, or with heights after a word such as COMMON_CURRENT; or one array per line
//               (four positions and data). If both electrodes of a pair have the same position, the second
//               is at infinity. One quantity per array.
//   BERT        the unified format of pyGIMLi and BERT (.ohm, .dat): a list of electrodes, then arrays as
//               numbers of electrodes (0: at infinity) with named columns: r, rhoa, ip and k are read and
//               written. ip is a phase; with the unit mV/V, V/V or % it is a chargeability (only read)
//
// In a table, a row is an electrode array, with columns a_easting, a_northing, a_up and the same for b, m and
// n; they are empty for an electrode at infinity. Measured values are in NAME_observed and NAME_uncertainty,
// computed ones in NAME.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"
#include "terrane/survey/electrodes.hpp"

namespace terrane::io {

/// A quantity with one value per electrode array; NaN if the file has none.
struct ElectrodeColumn {
  /// "resistance" V/A, "apparent_resistivity" ohm m, "chargeability" mV/V, "phase" mrad, or
  /// "geometric_factor" m
  std::string name, unit;
  std::vector<double> values, uncertainty;  ///< uncertainty: in the same unit; empty if not given
};

struct ElectrodeData {
  electric::Electrodes electrodes;  ///< a height of NaN means that the electrode is on the ground
  std::vector<ElectrodeColumn> columns;
  std::string note = {};  ///< notes on content of the file that was left out or interpreted, one per line

  const ElectrodeColumn* find(const std::string& name) const;
};

/// The quantity of the data column of a UBC file. Empty: chargeability in mV/V if the file has IPTYPE=1,
/// otherwise resistance. With "chargeability", a column ip without a unit in a BERT file is a chargeability,
/// too.
struct UbcColumn {
  std::string name, unit;
};

/// Throws InputError with the line, also for secondary potentials (IPTYPE=2).
ElectrodeData read_ubc_dcip(TextReader& in, const UbcColumn& column = {});
/// Columns of the electrode list are identified by their names (x east, y north, z up); without names they
/// are x, x z, or x y z. Throws InputError: a count is missing or wrong, unexpected content at the end.
ElectrodeData read_bert(TextReader& in, const UbcColumn& column = {});

/// Reads a file that is known to contain electrode arrays, in the format found from its first lines: a table,
/// also with columns XA, YA, ZA, XB, ..., V/A, RHOA; BERT, UBC DCIP, Res2dinv or Syscal.
ElectrodeData read_arrays(TextReader& in, const UbcColumn& column = {});

/// Number of first bytes from which formats are recognised; a shorter head is the whole file.
inline constexpr std::size_t head_bytes = 4096;

/// Whether the first bytes can only be those of a UBC DCIP file.
bool begins_ubc_dcip(std::string_view head);
bool begins_bert(std::string_view head);

/// Writes the first column of `data`, resistance or chargeability, in the general format, with heights;
/// leaves out electrode arrays without a value. Throws FileError; UnsupportedError: another quantity;
/// InputError: an infinite value, uncertainties for only some values, no array left.
void write_ubc_dcip(const std::string& path, const ElectrodeData& data);
/// Writes all columns, with relative uncertainties; "nan" for missing values. Throws FileError; InputError:
/// an infinite value, a value of 0 with an uncertainty.
void write_bert(const std::string& path, const ElectrodeData& data);

Table to_table(const ElectrodeData& data);

enum class TakenValues { observed, computed };
/// The electrode arrays of a table; columns of b, of n and of heights may be missing. observed: uses measured
/// values; computed: values computed by a run, and measured ones for names without them. Equal positions
/// become one electrode. Throws InputError with the line.
ElectrodeData to_electrode_data(const Table& table, TakenValues taken);

/// Writes a table of electrode arrays as a BERT or a UBC DCIP file; field: the column for a UBC file; empty:
/// resistance, or else chargeability. Electrodes are sorted from west to east, then from south to north, then
/// downwards. Also throws UnsupportedError: the table has no electrode arrays, or no such column.
void write_bert_rows(const std::string& path, const Table& table);
void write_ubc_dcip_rows(const std::string& path, const Table& table, const std::string& field);
/// The columns that a BERT or a UBC DCIP file does not hold, and the number of electrode arrays left out;
/// columns may be without values. Throws what writing would throw.
std::vector<std::string> left_out_of_bert(const std::string& path, const Table& table);
std::vector<std::string> left_out_of_ubc_dcip(const std::string& path, const Table& table,
                                              const std::string& field);

}  // namespace terrane::io
