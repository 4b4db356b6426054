// The checkpoint of a stopped run: displacement and change of every point, the series, and how many steps are
// done.
#pragma once

#include <filesystem>

#include "terrane/physics/elastic/march/outcome.hpp"
#include "terrane/physics/elastic/problem.hpp"

namespace terrane::elastic {

/// Throws FileError.
void write_checkpoint(const std::filesystem::path& file, const Problem& problem, std::size_t done,
                      const Outcome& state);
/// Steps done; 0 where there is no checkpoint. Throws InputError (of another problem), FileError.
std::size_t read_checkpoint(const std::filesystem::path& file, const Problem& problem, Outcome& state);

}  // namespace terrane::elastic
