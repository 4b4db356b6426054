// The checkpoint of a stopped run: displacement and change at every point, the recorded series, and the
// number of steps done.
#pragma once

#include <filesystem>

#include "terrane/physics/elastic/march/outcome.hpp"
#include "terrane/physics/elastic/problem.hpp"

namespace terrane::elastic {

/// Throws FileError.
void write_checkpoint(const std::filesystem::path& file, const Problem& problem, std::size_t done,
                      const Outcome& state);
/// Returns the number of steps done; 0 if there is no checkpoint. Throws InputError if it belongs to another
/// problem; FileError.
std::size_t read_checkpoint(const std::filesystem::path& file, const Problem& problem, Outcome& state);

}  // namespace terrane::elastic
