// The checkpoint of a stopped run: the temperature, the recorded series, and the number of finished steps.
#pragma once

#include <filesystem>

#include "terrane/physics/heat/outcome.hpp"
#include "terrane/physics/heat/problem.hpp"

namespace terrane::heat {

/// Throws FileError.
void write_checkpoint(const std::filesystem::path& file, const Problem& problem, std::size_t done,
                      const March& state);
/// Returns the number of finished steps; 0 if there is no checkpoint. Throws InputError (the checkpoint
/// belongs to another problem), FileError.
std::size_t read_checkpoint(const std::filesystem::path& file, const Problem& problem, March& state);

}  // namespace terrane::heat
