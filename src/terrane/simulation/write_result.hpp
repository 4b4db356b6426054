// Writes results into files that also say how they were computed.
#pragma once

#include <string>
#include <vector>

#include "terrane/data/dataset.hpp"
#include "terrane/simulation/result.hpp"

namespace terrane {

/// result.data, with all entries in memory.
Dataset to_dataset(const Result& result);

/// Names of the fields that a file of this name would not hold (of a result, or of Simulation::outline).
/// Throws what write_result would throw because of the format.
std::vector<std::string> left_out(const std::string& path, const Result& result);

/// The files that write_result() makes (of a result, or of Simulation::outline): mostly the one that is
/// named.
std::vector<std::string> written_files(const std::string& path, const Result& result);

/// What a result of fields at stations takes, and the writing of its files: places and the survey's columns,
/// fields as they are, and all of them as a format is given them. Bytes.
double bytes_to_write(std::size_t stations, std::size_t survey_columns, std::size_t fields);

/// .nc, .csv, .vts (gridded surveys), .npy ([channels, stations]) and all else that io::write can do.
/// Nothing is left behind when it fails; where it makes several files and one cannot take its name although
/// all are written, those before it stay, each of them whole. Throws UnsupportedError, FileError.
void write_result(const std::string& path, const Result& result);

}  // namespace terrane
