// Arrays and what they measured, in files of other programs.
//
//   UBC DCIP    blocks of a current pair and its potential pairs: DCIP3D with and without heights, DCIP2D on
//   a
//               flat surface; an electrode that stands twice is far away
//   BERT        pyGIMLi's and BERT's unified format (.ohm, .dat): a list of electrodes, then arrays by their
//               numbers, 0 far away, with named columns
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "terrane/io/file.hpp"
#include "terrane/physics/electric/electrodes.hpp"

namespace terrane::electric {

/// Of each array; NaN where the file has none.
struct MeasuredColumn {
  std::string name, unit;  ///< "resistance" V/A, "apparent_resistivity" ohm m, "chargeability" or "phase"
  std::vector<double> values, uncertainty;  ///< uncertainty: of the same unit; empty where not given
};

struct Measured {
  Electrodes electrodes;  ///< a height of NaN: on the ground
  std::vector<MeasuredColumn> columns;

  const MeasuredColumn* find(const std::string& name) const;
};

/// What one column of a UBC file is; empty: chargeability in files of IPTYPE, else resistance.
struct UbcColumn {
  std::string name, unit;
};

/// Throws InputError with the line.
Measured read_ubc_dcip(io::TextReader& in, const UbcColumn& column = {});
Measured read_bert(io::TextReader& in);

/// A table (arrays.hpp), or one of these, by the first lines. Throws FileError, InputError with the line.
Measured read_measured(const std::filesystem::path& file, const UbcColumn& column = {});

/// The first column of `measured` in the general format, with heights; arrays without a value are left out.
/// Throws FileError; InputError: an infinite value, a value without an uncertainty beside others with one, no
/// array left.
void write_ubc_dcip(const std::filesystem::path& file, const Measured& measured);
/// All columns, with relative uncertainties; "nan" where there is no value. Throws FileError;
/// InputError: an infinite value, a value of 0 with an uncertainty.
void write_bert(const std::filesystem::path& file, const Measured& measured);

}  // namespace terrane::electric
