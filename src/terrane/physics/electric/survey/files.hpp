// Arrays and what they measured, from files of any kind.
#pragma once

#include <filesystem>

#include "terrane/io/electrodes.hpp"

namespace terrane::electric {

using Measured = io::ElectrodeData;
using MeasuredColumn = io::ElectrodeColumn;
using io::UbcColumn;

/// A table (io/electrodes.hpp), or a file of UBC DCIP or BERT, by the first lines. Throws FileError,
/// InputError with the line.
Measured read_measured(const std::filesystem::path& file, const UbcColumn& column = {});

}  // namespace terrane::electric
