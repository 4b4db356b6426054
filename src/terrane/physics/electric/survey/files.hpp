// Reads electrode arrays and their measured data from files of several formats.
#pragma once

#include <filesystem>

#include "terrane/io/electrodes.hpp"

namespace terrane::electric {

using Measured = io::ElectrodeData;
using MeasuredColumn = io::ElectrodeColumn;
using io::UbcColumn;

/// Reads a table (io/electrodes.hpp), or a file of UBC DCIP or BERT; the format is recognised by the first
/// lines. Throws FileError, InputError with the line.
Measured read_measured(const std::filesystem::path& file, const UbcColumn& column = {});

}  // namespace terrane::electric
