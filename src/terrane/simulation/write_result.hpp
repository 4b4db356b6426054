// Writes results into files that also document how they were computed.
#pragma once

#include <string>
#include <vector>

#include "terrane/data/dataset.hpp"
#include "terrane/simulation/result.hpp"

namespace terrane {

/// result.data, with the values of all `entries` read into memory.
Dataset to_dataset(const Result& result);

/// Names of the fields of a result (or of Simulation::outline) that the format of this file cannot contain.
/// Throws what write_result would throw because of the format.
std::vector<std::string> left_out(const std::string& path, const Result& result);

/// The files that write_result() makes from a result (or from Simulation::outline): in most formats just
/// `path`.
std::vector<std::string> written_files(const std::string& path, const Result& result);

/// Memory, bytes, that a result of fields at stations and the writing of its files need: coordinates, survey
/// columns and fields, and their copies in the format of a file.
double bytes_to_write(std::size_t stations, std::size_t survey_columns, std::size_t fields);

/// Writes .nc, .csv, .vts (gridded surveys), .npy ([channels, stations]) and all other formats of io::write.
/// If it fails, no files are left; only if it makes several files and one of them cannot be renamed at the
/// end, the earlier ones remain, each complete. Throws UnsupportedError, FileError.
void write_result(const std::string& path, const Result& result);

}  // namespace terrane
